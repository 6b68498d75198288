import ParleyCryptoOpenSSL
public import ParleyGatewayPorts
import ParleyJSON
import ParleyLocks

/// The users in a file, which is reloaded when it changes.
///
/// A line per user (`parley user add`) and per group (`parley group add`); `#` begins a comment:
///
///     @team folder:team/*=read,write,presence,manage
///     ada@example.org scrypt$15$8$1$… since:1763712000000 name:Ada%20L. document:*=read group:team
///
/// Changes of the file apply immediately: removing a line closes the user's connections.
public final class UserFile: UserSource {
  /// The parsed lines of the file.
  private struct Lines: Equatable {
    var users: [AccountName: UserLine] = [:]
    var groups: [GroupLine] = []
    /// The accounts by mail address, in lower case; an address of several accounts is left out.
    var accounts: [AccountName: AccountName] = [:]
  }

  private struct State {
    var entries: Lines
    var generation = 0
    var watch: FileWatch
    /// The changes since the last call of ``UserFile/takeChanges()``.
    var changes: [UserChange] = []
  }

  private let state: Monitor<State>
  /// Held while the file is read, so that of two concurrent reloads the later read wins.
  private let reading = Monitor(())
  private let log: (any LogSink)?

  /// Reads the file.
  ///
  /// - Parameter log: Receives a line if a changed file is unusable; the former users remain.
  public init(path: String, log: (any LogSink)? = nil) throws(FileError) {
    // Before reading, so that the next check notices a change during the read.
    let watch = FileWatch(path: path)
    state = Monitor(State(entries: try Self.read(path), watch: watch))
    self.log = log
    // Computed here, so that the first login with an unknown name takes no longer than others.
    _ = PasswordHash.ofNobody
  }

  /// A counter that increases when the file's users or groups change.
  public var generation: Int { state.withLock { $0.generation } }

  /// Reloads the file if it has changed.
  public func refresh(now: Timestamp) {
    if state.withLock({ $0.watch.hasChanged(now: now) }) { reload() }
  }

  /// Reloads the file. May be called on any thread.
  func reload() { reading.withLock { _ in readAgain() } }

  private func readAgain() {
    let path = state.withLock { $0.watch.path }
    do throws(FileError) {
      let entries = try Self.read(path)
      let isNew = state.withLock { state in
        let former = state.entries
        let isNew = former != entries
        state.entries = entries
        if isNew {
          state.generation += 1
          let changes = UserChange.changes(
            from: (former.users, former.groups), to: (entries.users, entries.groups))
          state.changes = (state.changes + changes).suffix(UserChange.countMax)
        }
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

  /// Removes and returns the changes of users and groups since the last call, for the audit log.
  func takeChanges() -> [UserChange] {
    state.withLock { state in
      defer { state.changes = [] }
      return state.changes
    }
  }

  /// Returns the user with exactly this id; `nil` if the file contains no such user.
  public func user(_ id: String) -> User? {
    let found = account(named: id)
    return found.flatMap { $0.id.isExactly(id) ? $0 : nil }
  }

  /// Returns the user with a name in any spelling, see ``ParleyGatewayPorts/AccountName``.
  func account(named name: String) -> User? {
    let name = AccountName(name)
    return state.withLock { $0.entries.users[name]?.user }
  }

  /// Returns the line of an account by its name in any spelling, or by its mail address if no other
  /// account has this address.
  func line(named name: String) -> UserLine? {
    let name = AccountName(name)
    return state.withLock { state in
      state.entries.users[name]
        ?? state.entries.accounts[name].flatMap { state.entries.users[$0] }
    }
  }

  /// Returns the current rights of a group; empty if the file contains no such group.
  func grants(ofGroup name: String) -> [Grant] {
    state.withLock { state in
      state.entries.groups.first { $0.name.isExactly(name) }?.grants ?? []
    }
  }

  /// Returns the user with a name in any spelling, if the password is right.
  public func user(_ name: String, password: String) -> User? {
    let name = AccountName(name)
    let entry = state.withLock { $0.entries.users[name] }
    let isRight = (entry?.password ?? .ofNobody).matches(password)
    return isRight ? entry?.user : nil
  }

  /// Reads the file, and adds the rights of groups to their users.
  private static func read(_ path: String) throws(FileError) -> Lines {
    let text = try UserLine.text(ofFileAt: path)
    var lines = Lines(groups: try GroupLine.groups(of: text, path))
    for case var line? in try UserLine.lines(of: text, path).map(\.line) {
      for group in lines.groups where line.groups.contains(where: group.isNamed) {
        line.user.grants += group.grants
      }
      lines.users[AccountName(line.user.id)] = line
    }
    let addresses = Dictionary(
      grouping: lines.users.filter { $0.value.mail != nil },
      by: { AccountName($0.value.mail ?? "") })
    lines.accounts = addresses.compactMapValues { $0.count == 1 ? $0.first?.key : nil }
    return lines
  }
}
