import Gateway
import GatewayPorts
import Locks

/// The thread that keeps the index of words, and searches in it.
///
/// It has the store opened for reading, and learns from the store's thread which notes have changed, after
/// their commits; so neither a commit nor its acknowledgement waits for it. What it missed, since the
/// process ended or too much was under way, it finds by comparing the index with the store: at the start,
/// and where several nodes write to one store, from time to time.
///
/// With several loops there is one for all: it hears of each one's commits, and answers each one's searches.
///
/// Edits do not wake it one by one: after one it sleeps for a while, and takes all that came meanwhile.
///
///     store threads   committed ─▶ note(_:) ─┐
///     loop threads    GET /api/search ─▶ submit ─▶ search thread ─▶ that loop's replies ─▶ wake
final class SearchThread: Sendable {
  /// Searches that may wait.
  private static let waitingMax = 64
  /// Milliseconds for which edits gather, after one of which the thread was woken.
  private static let gatheringMilliseconds: Int64 = 250
  /// Milliseconds between news of tags: an import is many notes, and one look at their tags.
  private static let tagNewsMilliseconds: Int64 = 2_000
  /// Milliseconds that its end is waited for.
  private static let stopMilliseconds = 2_000

  /// A search, and the loop that waits for it: each loop counts its requests by itself.
  private struct Job {
    let loop: Int
    let request: RequestID
    let search: SearchRequest
  }

  private struct State {
    var searches: [Job] = []
    var changes: [SearchedChange] = []
    /// Whether one of the changes is other than an edit, and is looked at without waiting.
    var isUrgent = false
    /// Whether the thread comes by for edits by itself.
    var isGathering = false
    /// Whether more changes came than are kept: they are found by comparing.
    var hasMissedChanges = false
    /// The search is given up by the loop that asked.
    var replies: [[(request: RequestID, reply: SearchReply)]]
    var hasTagNews = false
    var isStopping = false
    var hasStopped = false

    init(loops: Int) { replies = Array(repeating: [], count: loops) }

    /// Takes a search, and the changes unless they are edits that gather yet.
    mutating func takeWork(hasGathered: Bool) -> Work {
      var work = Work(
        search: searches.isEmpty ? nil : searches.removeFirst(), isStopping: isStopping)
      guard hasGathered || isUrgent || hasMissedChanges else { return work }
      isGathering = !changes.isEmpty
      (work.changes, work.hasMissedChanges) = (changes, hasMissedChanges)
      (changes, isUrgent, hasMissedChanges) = ([], false, false)
      return work
    }

    var isIdle: Bool {
      searches.isEmpty && !isUrgent && (isGathering || changes.isEmpty) && !hasMissedChanges
        && !isStopping
    }
  }

  /// The work that the thread takes at a time.
  private struct Work {
    var search: Job?
    var changes: [SearchedChange] = []
    var hasMissedChanges = false
    var isStopping: Bool
  }

  private let state: Monitor<State>
  private let wakes: [@Sendable () -> Void]
  private let interruption: (@Sendable () -> Void)?

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - store: opened for reading.
  ///   - open: opens the index.
  ///   - wakes: for each loop, called on it when replies are there to be taken.
  init(
    store: Handover<any DocumentStore>,
    open: @escaping @Sendable () throws -> any SearchIndex,
    log: any LogSink, wakes: [@Sendable () -> Void]
  ) {
    self.wakes = wakes
    state = Monitor(State(loops: wakes.count))
    interruption = store.prepare { ($0 as? any ServerStore)?.interruption() }
    SystemThread.start { [state, wakes] in
      Self.run(IndexKeeper(store: store.take(), open: open, log: log), state, wakes)
      // Its connections are closed by now.
      state.change { $0.hasStopped = true }
    }
  }

  /// Queues a search. Never blocks.
  func submit(_ request: RequestID, _ search: SearchRequest, by loop: Int) {
    let isTaken = state.withLock { state in
      guard state.searches.count < Self.waitingMax else {
        state.replies[loop].append((request, .busy))
        return false
      }
      state.searches.append(Job(loop: loop, request: request, search: search))
      return true
    }
    if isTaken { state.signal() } else { wakes[loop]() }
  }

  /// Drops a search that has not begun: its client no longer waits for it.
  func forget(_ request: RequestID, by loop: Int) {
    state.withLock { $0.searches.removeAll { $0.loop == loop && $0.request == request } }
  }

  /// Takes note of what has changed in the store.
  func note(_ changes: [SearchedChange]) {
    guard !changes.isEmpty else { return }
    let isIdle = state.withLock { state in
      guard state.changes.count + changes.count <= RestingNotes.countMax else {
        state.hasMissedChanges = true
        return false
      }
      state.changes += changes
      state.isUrgent = state.isUrgent || !changes.allSatisfy(\.isEdit)
      return state.isIdle
    }
    if !isIdle { state.signal() }
  }

  /// Takes the replies for a loop that have come in since its last call.
  func takeReplies(of loop: Int) -> [(request: RequestID, reply: SearchReply)] {
    state.withLock { state in
      defer { state.replies[loop] = [] }
      return state.replies[loop]
    }
  }

  /// Returns whether tags have changed since the last call. The first loop is woken for it, and tells the others.
  func takeTagNews() -> Bool {
    state.withLock { state in
      defer { state.hasTagNews = false }
      return state.hasTagNews
    }
  }

  /// Ends the thread, and returns when it has ended, or soon if a disk or a database does not answer: it
  /// holds nothing that could be lost. What is not indexed yet is found at the next start.
  func stop() {
    interruption?()
    state.change { $0.isStopping = true }
    state.wait(atMostMilliseconds: Self.stopMilliseconds) { $0.hasStopped }
  }

  private static func run(
    _ keeper: consuming IndexKeeper, _ state: Monitor<State>, _ wakes: [@Sendable () -> Void]
  ) {
    var keeper = keeper
    // The time until which edits gather, after some came.
    var gathering: Int64?
    // The time from which news of tags may be sent.
    var nextTagNews: Int64 = 0
    while true {
      let now = SystemClock().uptime
      let pause = min(
        keeper.pause(at: now), gathering.map { max(0, $0 - now) } ?? .max,
        keeper.hasTagNews ? max(0, nextTagNews - now) : .max)
      if pause > 0 {
        state.wait(atMostMilliseconds: Int(clamping: pause)) { !$0.isIdle }
      }
      let hasGathered = gathering.map { $0 <= SystemClock().uptime } ?? true
      let work = state.withLock { $0.takeWork(hasGathered: hasGathered) }
      if work.isStopping { return }
      if !work.changes.isEmpty {
        keeper.note(work.changes, at: SystemClock().uptime)
        gathering = SystemClock().uptime + Self.gatheringMilliseconds
      } else if hasGathered {
        gathering = nil
      }
      if work.hasMissedChanges { keeper.compareSoon() }
      if let search = work.search {
        let reply = keeper.reply(to: search.search)
        state.withLock { $0.replies[search.loop].append((search.request, reply)) }
        wakes[search.loop]()
      }
      // After a search, too: many of them hold up no note.
      keeper.work(at: SystemClock().uptime)
      let end = SystemClock().uptime
      if end >= nextTagNews, keeper.takeTagNews() {
        nextTagNews = end + tagNewsMilliseconds
        state.withLock { $0.hasTagNews = true }
        wakes[0]()
      }
    }
  }
}
