import Gateway
import ParleyGatewayPorts
import ParleyLocks

/// The thread that updates the word index, and searches in it.
///
/// It has its own read-only connection to the store. The store's thread notifies it of changed
/// notes after each commit, so neither commits nor acknowledgements wait for the index. Changes
/// that it missed are found by comparing the index with the store: at the start, after an overflow,
/// and periodically if several nodes write to the store.
///
/// Several loops share one thread: it is notified of the commits of all, and answers their
/// searches.
/// An edit wakes the thread at most every 250 ms; the thread then takes all edits collected.
/// one.
///
///     store threads   committed ─▶ note(_:) ─┐
///     loop threads    GET /api/search ─▶ submit ─▶ search thread ─▶ that loop's replies ─▶ wake
final class SearchThread: Sendable {
  /// Maximum waiting searches.
  private static let waitingMax = 64
  /// Milliseconds for which edits are collected after the thread was woken by one.
  private static let gatheringMilliseconds: Int64 = 250
  /// Minimum milliseconds between notifications of changed tags; an import changes many notes.
  private static let tagNewsMilliseconds: Int64 = 2_000
  /// Maximum milliseconds that `stop()` waits for the thread.
  private static let stopMilliseconds = 2_000

  /// A search, and the loop that requested it. Request ids are unique only within a loop.
  private struct Job {
    let loop: Int
    let request: RequestID
    let search: SearchRequest
  }

  private struct State {
    var searches: [Job] = []
    var changes: [SearchedChange] = []
    /// Whether a change is not an edit, and so is indexed without a delay.
    var isUrgent = false
    /// Whether the thread will take edits without being woken.
    var isGathering = false
    /// Whether changes were dropped because too many were waiting; a comparison finds them.
    var hasMissedChanges = false
    /// The replies that each loop has not taken yet, by the number of the loop.
    var replies: [[(request: RequestID, reply: SearchReply)]]
    var hasTagNews = false
    var isStopping = false
    var hasStopped = false

    init(loops: Int) { replies = Array(repeating: [], count: loops) }

    /// Removes and returns the next search, and the changes unless edits are still being collected.
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

  /// The work that the thread takes in one turn.
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
  ///   - store: The store, opened for reading.
  ///   - open: Opens the index.
  ///   - wakes: For each loop, a function called on any thread when replies are ready.
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
      // Its connections are closed.
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

  /// Removes a waiting search whose client has cancelled it.
  func forget(_ request: RequestID, by loop: Int) {
    state.withLock { $0.searches.removeAll { $0.loop == loop && $0.request == request } }
  }

  /// Queues changed notes for the index. Never blocks on the disk.
  func note(_ changes: [SearchedChange]) {
    guard !changes.isEmpty else { return }
    let isIdle = state.withLock { state in
      guard state.changes.count + changes.count <= UnindexedNotes.countMax else {
        state.hasMissedChanges = true
        return false
      }
      state.changes += changes
      state.isUrgent = state.isUrgent || !changes.allSatisfy(\.isEdit)
      return state.isIdle
    }
    if !isIdle { state.signal() }
  }

  /// Returns the replies for a loop since its last call.
  func takeReplies(of loop: Int) -> [(request: RequestID, reply: SearchReply)] {
    state.withLock { state in
      defer { state.replies[loop] = [] }
      return state.replies[loop]
    }
  }

  /// Returns whether tags have changed since the last call. Only the first loop is woken for this;
  /// it notifies the others.
  func takeTagNews() -> Bool {
    state.withLock { state in
      defer { state.hasTagNews = false }
      return state.hasTagNews
    }
  }

  /// Stops the thread. Returns when the thread has ended, or after a time limit if a disk or
  /// database does not respond. No data is lost: notes that are not indexed yet are found at the
  /// next start.
  func stop() {
    interruption?()
    state.change { $0.isStopping = true }
    state.wait(atMostMilliseconds: Self.stopMilliseconds) { $0.hasStopped }
  }

  private static func run(
    _ keeper: consuming IndexKeeper, _ state: Monitor<State>, _ wakes: [@Sendable () -> Void]
  ) {
    var keeper = keeper
    // The uptime until which edits are collected; `nil` if no edits have arrived.
    var gathering: Int64?
    // The uptime from which changed tags may be announced again.
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
      // Also after a search, so that many searches do not delay indexing.
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
