package import ParleyCryptoOpenSSL
package import ParleyGatewayPorts

/// The invitations in a file of the data folder, which `parley invite` and the server change.
///
/// Each change replaces the file atomically, under a lock. Ended invitations are remembered for a
/// while, so that the page can report them, and so that opening one does not count as a guess.
package struct InvitationFile: Sendable {
  /// The reason why an invitation was not accepted.
  package enum Refusal: Error, Sendable, Equatable {
    /// No invitation has this token, or its end was too long ago.
    case invitation
    /// The invitation with this token is no longer valid.
    case ended(Invitation.Ending)
    /// The link for a new password is not valid, or not valid any more.
    case reset
    /// The name is not a valid user name, for this reason.
    case name(String)
    /// Another user has this name.
    case taken
    /// A file cannot be read or written.
    case file(FileError)
  }

  /// Maximum valid invitations.
  private static let countMax = 1_000
  /// Maximum remembered invitations that have ended; beyond it, the earliest to expire are removed.
  private static let formerMax = 1_000

  private let path: String

  /// Creates an editor of the file at a path.
  package init(path: String) { self.path = path }

  /// Returns the valid invitations.
  package func list(now: Timestamp) throws(FileError) -> [Invitation] {
    try all().filter { $0.counts(at: now) }
  }

  private func all() throws(FileError) -> [Invitation] { Files.isFile(path) ? try read() : [] }

  /// Adds an invitation.
  package func add(_ invitation: Invitation, now: Timestamp) throws(FileError) {
    let wasMissing = !Files.isFile(path)
    let lock = try LockedFile(path: path)
    // Another process may have created the file meanwhile.
    let isNew = wasMissing && lock.isEmpty
    do throws(FileError) {
      let others = try read()
      guard others.count(where: { $0.counts(at: now) }) < Self.countMax else {
        throw FileError("there are \(Self.countMax) invitations already; withdraw some")
      }
      try write(others + [invitation], now: now, isNew: isNew)
    } catch {
      if isNew { lock.remove() }
      throw error
    }
  }

  /// Withdraws an invitation.
  package func remove(_ id: String, now: Timestamp) throws(FileError) {
    let unknown = FileError("no invitation has this id; parley invite list lists them")
    guard Files.isFile(path) else { throw unknown }
    let lock = try LockedFile(path: path)
    var all = try read()
    guard let index = all.firstIndex(where: { $0.id == id && $0.counts(at: now) }) else {
      throw unknown
    }
    all[index].isWithdrawn = true
    try write(all, now: now, isNew: false)
    lock.syncFolder()
  }

  /// Throws if no invitation has this token, or the invitation is no longer valid.
  package func check(_ token: String, now: Timestamp) throws(Refusal) {
    _ = try index(
      of: token, among: Self.file { () throws(FileError) in try all() }, now: now)
  }

  private func index(
    of token: String, among all: [Invitation], now: Timestamp
  ) throws(Refusal) -> Int {
    guard token.utf8.count <= Invitation.tokenBytesMax else { throw .invitation }
    let hash = Invitation.hash(of: token)
    guard
      let index = all.firstIndex(where: { $0.hash == hash && $0.isRemembered(at: now) })
    else { throw .invitation }
    if let ending = all[index].ending(at: now) { throw .ended(ending) }
    return index
  }

  /// Creates a user for the holder of an invitation's token.
  ///
  /// The use is taken first, and returned if the user cannot be created: a crash in between may
  /// waste a use, but never admits one user too many.
  package func accept(
    _ token: String, id: String, name: String?, password: PasswordHash, users: UserEditing,
    now: Timestamp
  ) throws(Refusal) -> UserLine {
    guard Files.isFile(path) else { throw .invitation }
    let lock = try Self.file { () throws(FileError) in try LockedFile(path: path) }
    defer { lock.syncFolder() }
    let before = try Self.file { () throws(FileError) in try read() }
    let index = try index(of: token, among: before, now: now)
    let line: UserLine
    do throws(FileError) {
      try UserLine.check(chosen: id)
      line = try UserLine(
        id: id, name: name, password: password, rights: before[index].rights, since: now)
    } catch {
      throw .name(error.description)
    }
    guard try Self.file({ () throws(FileError) in try users.id(of: id) }) == nil else {
      throw .taken
    }
    var after = before
    after[index].uses -= 1
    try Self.file { () throws(FileError) in try write(after, now: now, isNew: false) }
    do throws(FileError) {
      try users.add(line)
    } catch {
      try? write(before, now: now, isNew: false)
      throw .file(error)
    }
    return line
  }

  private static func file<Result: ~Copyable>(
    _ body: () throws(FileError) -> Result
  ) throws(Refusal) -> Result {
    do throws(FileError) { return try body() } catch { throw .file(error) }
  }

  private func read() throws(FileError) -> [Invitation] {
    let text = try UserLine.text(ofFileAt: path)
    return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap(Invitation.init)
  }

  /// Writes the valid invitations, and the ended ones that are remembered.
  private func write(
    _ invitations: [Invitation], now: Timestamp, isNew: Bool
  ) throws(FileError) {
    let former = invitations.filter { !$0.counts(at: now) && $0.isRemembered(at: now) }
      .sorted { $0.until > $1.until }.prefix(Self.formerMax)
    let text = (former + invitations.filter { $0.counts(at: now) }).map { $0.text + "\n" }
    try Files.replace(path, with: text.joined(), isNew: isNew)
  }
}
