import ParleyCryptoOpenSSL
package import ParleyGatewayPorts
import ParleyLocks

/// The revocations that all loops of a process share: in memory, and in a file that a separate
/// thread reads and writes. Loops never wait for the disk, nor for the lock of the file.
///
///     loops          add ─▶ additions ─▶ thread   one write and one sync for all ─▶ known ─▶ told
///     parley revoke  appends ─▶ file ──▶ thread   looks once a second ───────────▶ known
///     other nodes    takeOver ─▶ known, and then by the thread into the file
package final class SharedRevocations: Sendable {
  /// Called on any thread once the revocations are on disk, or with the error.
  package typealias Completion = @Sendable (RevocationError?) -> Void

  /// Revocations to be written, with the caller's completion.
  private struct Addition {
    let revocations: [Revocation]
    let completion: Completion
  }

  /// The work that the thread takes in one turn.
  private struct Work {
    var additions: [Addition] = []
    /// Revocations of other nodes, which apply already, to be written.
    var foreign: [Revocation] = []
    /// The current time if the file must be checked for changes; otherwise `nil`.
    var lookAt: Timestamp?

    var isEmpty: Bool { additions.isEmpty && foreign.isEmpty && lookAt == nil }
  }

  private struct State {
    /// The revocations that apply.
    var known: RevokedTokens
    /// A counter that increases when revocations are added.
    var generation = 0
    /// Revocations to be sent to other nodes.
    var unshared: [Revocation]
    var work = Work()
    var lookedAt: Timestamp = 0
    /// The uptime at which all revocations of other nodes were last known; `nil` if never.
    var completeAt: Int64?
    var isStopping = false
    var hasStopped = false

    /// Applies revocations; returns those that are new.
    mutating func hold(_ revocations: [Revocation]) -> [Revocation] {
      let news = revocations.filter { known.hasRoom(for: $0) && known.insert($0) }
      if !news.isEmpty { generation += 1 }
      return news
    }
  }

  /// Maximum queued additions; further ones fail with `busy`.
  package static let additionsMax = 1_000
  /// Milliseconds between checks of the file.
  private static let lookMilliseconds: Timestamp = 1_000

  private let state: Monitor<State>
  private let hasOthers: Bool

  /// Reads the file, if it exists, and starts the thread.
  ///
  /// - Parameter hasOthers: Whether other gateways can revoke tokens that this one accepts.
  package init(path: String, hasOthers: Bool, log: any LogSink) throws(FileError) {
    let file = try RevocationFile(path: path, log: log)
    state = Monitor(State(known: file.revoked, unshared: file.takeNewRevocations()))
    self.hasOthers = hasOthers
    let handover = Handover(file)
    SystemThread.start { [state] in
      Self.run(handover.take(), state)
      state.change { $0.hasStopped = true }
    }
  }

  /// Writes the queued revocations, then stops the thread; returns when it has ended.
  package func stop() {
    state.change { $0.isStopping = true }
    state.wait { $0.hasStopped }
  }

  // MARK: Revocations

  /// A counter that increases when revocations are added.
  package var generation: Int { state.withLock { $0.generation } }

  /// Whether the identity's token was revoked.
  package func isRevoked(_ identity: Identity) -> Bool {
    state.withLock { $0.known.isRevoked(identity) }
  }

  /// Revokes tokens, all or none. The tokens remain valid until the revocations are on disk.
  package func add(_ revocations: [Revocation], then completion: @escaping Completion) {
    let isQueued = state.withLock { state in
      guard state.work.additions.count < Self.additionsMax else { return false }
      state.work.additions.append(Addition(revocations: revocations, completion: completion))
      return true
    }
    if isQueued { state.signal() } else { completion(.busy) }
  }

  /// Has the thread check the file for changes by other processes, at most once a second.
  package func refresh(now: Timestamp) {
    let isDue = state.withLock { state in
      // `abs`: after the clock is set back, changes must still be noticed.
      guard abs(now - state.lookedAt) >= Self.lookMilliseconds else { return false }
      state.lookedAt = now
      state.work.lookAt = now
      return true
    }
    if isDue { state.signal() }
  }

  // MARK: Other nodes

  /// Records that all revocations of the other nodes up to a time are known.
  func complete(at uptime: Int64) {
    state.withLock { $0.completeAt = max($0.completeAt ?? uptime, uptime) }
  }

  /// Returns the milliseconds since other nodes' revocations were all known; 0 without others.
  func age(uptime: Int64) -> Int64 {
    guard hasOthers else { return 0 }
    return state.withLock { $0.completeAt }.map { max(0, uptime - $0) } ?? .max
  }

  /// Removes and returns revocations that have to be sent to other nodes.
  package func takeUnshared(atMost limit: Int) -> [Revocation] {
    state.withLock { state in
      let taken = Array(state.unshared.prefix(limit))
      state.unshared.removeFirst(taken.count)
      return taken
    }
  }

  /// Queues revocations again after they could not be sent.
  func putBack(_ revocations: [Revocation]) {
    state.withLock { $0.unshared = revocations + $0.unshared }
  }

  /// Queues all revocations for the other nodes again.
  package func shareAgain() { state.withLock { $0.unshared = $0.known.all } }

  /// Applies revocations of other nodes. They apply even if they cannot be written.
  package func takeOver(_ revocations: [Revocation]) {
    let hasNewRevocations = state.withLock { state in
      let news = state.hold(revocations)
      state.work.foreign += news
      return !news.isEmpty
    }
    if hasNewRevocations { state.signal() }
  }

  // MARK: The thread

  private static func run(_ file: RevocationFile, _ state: Monitor<State>) {
    while true {
      let work = state.wait(
        until: { !$0.work.isEmpty || $0.isStopping },
        then: { state in
          defer { state.work = Work() }
          return state.work
        })
      if work.isEmpty { return }
      if !work.foreign.isEmpty { file.takeOver(work.foreign) }
      if !work.additions.isEmpty { write(work.additions, file, state) }
      if let now = work.lookAt {
        if file.refresh(now: now) { state.withLock { $0.known.forget(endedBy: now) } }
        hold(file.takeNewRevocations(), state)
      }
    }
  }

  /// Writes additions, and calls their continuations.
  private static func write(
    _ additions: [Addition], _ file: RevocationFile, _ state: Monitor<State>
  ) {
    var failure: RevocationError?
    do throws(RevocationError) {
      try file.add(additions.flatMap(\.revocations))
    } catch {
      failure = error
    }
    if failure == .tooMany, additions.count > 1 {
      // There may be room for some of the additions.
      for addition in additions { write([addition], file, state) }
      return
    }
    hold(file.takeNewRevocations(), state)
    for addition in additions { addition.completion(failure) }
  }

  /// Applies the file's new revocations, and queues them for the other nodes.
  private static func hold(_ news: [Revocation], _ state: Monitor<State>) {
    guard !news.isEmpty else { return }
    state.withLock { state in
      let own = state.hold(news)
      state.unshared += own
    }
  }
}
