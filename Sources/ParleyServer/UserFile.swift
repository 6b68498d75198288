import CryptoOpenSSL
public import GatewayPorts

/// Users in a file, which is read again when it changes.
///
/// A line for each, made by `parley user add`; `#` begins a comment:
///
///     ada@example.org scrypt$15$8$1$… since:1763712000000 name:Ada%20L. document:*=read,write
///
/// What the file says holds at once for who is logged in: a line that goes ends their connections.
public final class UserFile: UserSource {
  private struct State {
    var entries: [String: UserLine]
    var generation = 0
    var watch: FileWatch
  }

  private let state: Monitor<State>
  /// Held while the file is read: of two readings, by whichever loops, the later one counts.
  private let reading = Monitor(())
  private let log: (any LogSink)?

  /// Reads the file.
  ///
  /// - Parameter log: told when the file has changed and cannot be used; the users known before stay.
  public init(path: String, log: (any LogSink)? = nil) throws(FileError) {
    // Before reading: what is written meanwhile is seen at the next look.
    let watch = FileWatch(path: path)
    state = Monitor(State(entries: try Self.read(path), watch: watch))
    self.log = log
    // Made now, so that the first login of nobody takes no longer than others.
    _ = PasswordHash.ofNobody
  }

  /// Counts up whenever the file has changed.
  public var generation: Int { state.withLock { $0.generation } }

  /// Reads the file again if it has changed.
  public func refresh(now: Timestamp) {
    if state.withLock({ $0.watch.hasChanged(now: now) }) { reload() }
  }

  /// Reads the file again. From any thread.
  func reload() { reading.withLock { _ in readAgain() } }

  private func readAgain() {
    let path = state.withLock { $0.watch.path }
    do throws(FileError) {
      let entries = try Self.read(path)
      let isNew = state.withLock { state in
        let isNew = state.entries != entries
        state.entries = entries
        if isNew { state.generation += 1 }
        return isNew
      }
      if isNew {
        log?.write(.notice, "users read again", [("file", path), ("users", "\(entries.count)")])
      }
    } catch {
      log?.write(.error, "users not read again; those known before stay", [("error", "\(error)")])
    }
  }

  /// The user as the file has them now.
  public func user(_ id: String) -> User? { state.withLock { $0.entries[id]?.user } }

  /// The user, if the password is theirs.
  public func user(_ id: String, password: String) -> User? {
    let entry = state.withLock { $0.entries[id] }
    let isRight = (entry?.password ?? .ofNobody).matches(password)
    return isRight ? entry?.user : nil
  }

  private static func read(_ path: String) throws(FileError) -> [String: UserLine] {
    var lines: [String: UserLine] = [:]
    for line in try UserLine.lines(ofFileAt: path) { lines[line.user.id] = line }
    return lines
  }
}
