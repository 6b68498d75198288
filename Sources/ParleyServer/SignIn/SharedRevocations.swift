import CryptoOpenSSL
package import GatewayPorts
import Locks

/// Revocations as all loops of a process use them: in memory, where they look, and in a file, which a thread of its own
/// writes and reads. No loop ever waits for the disk, or for another process that has locked the file.
///
///     loops          add ─▶ additions ─▶ thread   one write and one sync for all of them ─▶ known ─▶ told
///     parley revoke  appends ─▶ file ──▶ thread   looks once a second ───────────────────▶ known
///     other nodes    takeOver ─▶ known, and then by the thread into the file
package final class SharedRevocations: Sendable {
  /// Called once revocations are on disk, or with the error; on any thread.
  package typealias Told = @Sendable (RevocationError?) -> Void

  /// Revocations to be written down, with the caller's continuation.
  private struct Addition {
    let revocations: [Revocation]
    let told: Told
  }

  /// The work that the thread takes at a time.
  private struct Work {
    var additions: [Addition] = []
    /// Revocations of other nodes, which already apply.
    var foreign: [Revocation] = []
    /// The time at which the file is checked; `nil` if it is not.
    var lookAt: Timestamp?

    var isEmpty: Bool { additions.isEmpty && foreign.isEmpty && lookAt == nil }
  }

  private struct State {
    /// Revocations that apply.
    var known: RevokedTokens
    /// Counts up whenever there is a new one.
    var generation = 0
    /// Revocations that have not been sent to other nodes.
    var untold: [Revocation]
    var work = Work()
    var lookedAt: Timestamp = 0
    /// The uptime at which all revocations of the other nodes were last known; `nil` if they never were.
    var completeAt: Int64?
    var isStopping = false
    var hasStopped = false

    /// Applies revocations; returns the new ones.
    mutating func hold(_ revocations: [Revocation]) -> [Revocation] {
      let news = revocations.filter { known.hasRoom(for: $0) && known.insert($0) }
      if !news.isEmpty { generation += 1 }
      return news
    }
  }

  /// Additions that may wait for the disk.
  package static let additionsMax = 1_000
  /// Milliseconds between checks of the file.
  private static let lookMilliseconds: Timestamp = 1_000

  private let state: Monitor<State>
  private let hasOthers: Bool

  /// Reads the file, if there is one, and starts the thread.
  ///
  /// - Parameter hasOthers: Whether other gateways revoke tokens that this one accepts.
  package init(path: String, hasOthers: Bool, log: any LogSink) throws(FileError) {
    let file = try RevocationFile(path: path, log: log)
    state = Monitor(State(known: file.revoked, untold: file.takeNews()))
    self.hasOthers = hasOthers
    let handover = Handover(file)
    SystemThread.start { [state] in
      Self.run(handover.take(), state)
      state.change { $0.hasStopped = true }
    }
  }

  /// Writes the queued revocations, then ends the thread; returns when it has ended.
  package func stop() {
    state.change { $0.isStopping = true }
    state.wait { $0.hasStopped }
  }

  // MARK: Revocations

  /// Counts up whenever there is a new one.
  package var generation: Int { state.withLock { $0.generation } }

  /// Whether the token of an identity was revoked.
  package func isRevoked(_ identity: Identity) -> Bool {
    state.withLock { $0.known.isRevoked(identity) }
  }

  /// Revokes tokens, all or none. They may count until the revocations are written.
  package func add(_ revocations: [Revocation], then told: @escaping Told) {
    let isQueued = state.withLock { state in
      guard state.work.additions.count < Self.additionsMax else { return false }
      state.work.additions.append(Addition(revocations: revocations, told: told))
      return true
    }
    if isQueued { state.signal() } else { told(.busy) }
  }

  /// Has the file checked, if that was not done just now: another process may have written it.
  package func refresh(now: Timestamp) {
    let isDue = state.withLock { state in
      // A clock that was set back must not keep a change from being seen.
      guard abs(now - state.lookedAt) >= Self.lookMilliseconds else { return false }
      state.lookedAt = now
      state.work.lookAt = now
      return true
    }
    if isDue { state.signal() }
  }

  // MARK: Other nodes

  /// Notes that all revocations of the other nodes up to a time are known.
  func complete(at uptime: Int64) {
    state.withLock { $0.completeAt = max($0.completeAt ?? uptime, uptime) }
  }

  /// Milliseconds since all revocations of the other nodes were known; 0 if there are no other nodes.
  func age(uptime: Int64) -> Int64 {
    guard hasOthers else { return 0 }
    return state.withLock { $0.completeAt }.map { max(0, uptime - $0) } ?? .max
  }

  /// Takes some of the revocations that have to be sent to other nodes.
  package func takeUntold(atMost limit: Int) -> [Revocation] {
    state.withLock { state in
      let taken = Array(state.untold.prefix(limit))
      state.untold.removeFirst(taken.count)
      return taken
    }
  }

  /// Puts back revocations that could not be sent.
  func putBack(_ revocations: [Revocation]) {
    state.withLock { $0.untold = revocations + $0.untold }
  }

  /// Has all revocations sent to the other nodes again.
  package func tellAgain() { state.withLock { $0.untold = $0.known.all } }

  /// Takes over revocations of other nodes. They apply even if they cannot be written.
  package func takeOver(_ revocations: [Revocation]) {
    let hasNews = state.withLock { state in
      let news = state.hold(revocations)
      state.work.foreign += news
      return !news.isEmpty
    }
    if hasNews { state.signal() }
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
        hold(file.takeNews(), state)
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
      // There may be room for some of them.
      for addition in additions { write([addition], file, state) }
      return
    }
    hold(file.takeNews(), state)
    for addition in additions { addition.told(failure) }
  }

  /// Applies the file's new revocations, and has them sent to the other nodes.
  private static func hold(_ news: [Revocation], _ state: Monitor<State>) {
    guard !news.isEmpty else { return }
    state.withLock { state in
      let own = state.hold(news)
      state.untold += own
    }
  }
}
