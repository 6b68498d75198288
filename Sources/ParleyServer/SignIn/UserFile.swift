import CryptoOpenSSL
public import GatewayPorts
import Locks

/// Users in a file, which is read again when it changes.
///
/// A line for each, made by `parley user add`, and for each group, by `parley group add`; `#` begins a comment:
///
///     @team folder:team/*=read,write,presence,manage
///     ada@example.org scrypt$15$8$1$… since:1763712000000 name:Ada%20L. document:*=read group:team
///
/// Changes to the file apply at once to logged-in users: removing a line ends the user's connections.
public final class UserFile: UserSource {
  /// The lines of a file.
  private struct Lines: Equatable {
    var users: [AccountName: UserLine] = [:]
    var groups: [GroupLine] = []
  }

  private struct State {
    var entries: Lines
    var generation = 0
    var watch: FileWatch
  }

  private let state: Monitor<State>
  /// Held while the file is read: of two readings by different loops, the later one counts.
  private let reading = Monitor(())
  private let log: (any LogSink)?

  /// Reads the file.
  ///
  /// - Parameter log: receives an entry if the file has changed and cannot be used; the former users stay.
  public init(path: String, log: (any LogSink)? = nil) throws(FileError) {
    // Before reading: what is written meanwhile is seen at the next look.
    let watch = FileWatch(path: path)
    state = Monitor(State(entries: try Self.read(path), watch: watch))
    self.log = log
    // Made now, so that the first login with an unknown name takes no longer than others.
    _ = PasswordHash.ofNobody
  }

  /// Counts up whenever the file has changed.
  public var generation: Int { state.withLock { $0.generation } }

  /// Reads the file again if it has changed.
  public func refresh(now: Timestamp) {
    if state.withLock({ $0.watch.hasChanged(now: now) }) { reload() }
  }

  /// Reads the file again. Callable from any thread.
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
        log?.write(
          .notice, "users read again", [("file", path), ("users", "\(entries.users.count)")])
      }
    } catch {
      log?.write(.error, "users not read again; those known before stay", [("error", "\(error)")])
    }
  }

  /// The user in the file now, by the id exactly as written there.
  public func user(_ id: String) -> User? {
    let found = account(named: id)
    return found.flatMap { $0.id.utf8.elementsEqual(id.utf8) ? $0 : nil }
  }

  /// The user whose name is the same to a person, see ``GatewayPorts/AccountName``.
  func account(named name: String) -> User? {
    let name = AccountName(name)
    return state.withLock { $0.entries.users[name]?.user }
  }

  /// The rights that a group of the file gives now; none if it has no such group.
  func grants(ofGroup name: String) -> [Grant] {
    state.withLock { state in
      state.entries.groups.first { $0.name.utf8.elementsEqual(name.utf8) }?.grants ?? []
    }
  }

  /// The user with this password, by a name in any spelling.
  public func user(_ name: String, password: String) -> User? {
    let name = AccountName(name)
    let entry = state.withLock { $0.entries.users[name] }
    let isRight = (entry?.password ?? .ofNobody).matches(password)
    return isRight ? entry?.user : nil
  }

  /// Reads the file, with the rights of their groups given to its users.
  private static func read(_ path: String) throws(FileError) -> Lines {
    let text = try UserLine.text(ofFileAt: path)
    var lines = Lines(groups: try GroupLine.groups(of: text, path))
    for case var line? in try UserLine.lines(of: text, path).map(\.line) {
      for group in lines.groups where line.groups.contains(where: group.isNamed) {
        line.user.grants += group.grants
      }
      lines.users[AccountName(line.user.id)] = line
    }
    return lines
  }
}
