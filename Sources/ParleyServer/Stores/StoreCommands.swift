import ParleyCryptoOpenSSL
package import ParleyGatewayPorts
import ParleyJSON
import SocketMessages
package import ParleyStoreRecords
package import ParleyStoreSQLite

/// Commands on a store, run by a process that does not serve it.
package struct StoreCommands {
  let configuration: Configuration

  /// Creates commands for the store of a configuration.
  package init(_ configuration: Configuration) { self.configuration = configuration }

  /// The path of the store's file; for a database, the path that a file would have.
  package var path: String { configuration.storePath }

  /// The store's name for messages: its path, or its address without the password.
  package var name: String { configuration.storeName }

  /// Whether the store exists.
  ///
  /// - Throws: The reason why the store cannot be used, such as a log without its database.
  package func exists() throws -> Bool { try configuration.store.exists() }

  /// Reads and checks the whole store; a server may be writing to it.
  ///
  /// - Parameter progress: Called with the number of notes read so far, and the total number.
  package func check(progress: (Int, Int) -> Void = { _, _ in }) throws -> StoreFindings {
    try configuration.repairableStore(writing: false).check(progress: progress)
  }

  /// The name of the secret that signs links for new passwords.
  static let resetSecret = "password resets"

  /// Returns a token with which a user chooses a new password. A server may be running.
  ///
  /// - Throws: If no server has opened the store yet, which makes the secret.
  package func resetToken(for line: UserLine, now: Timestamp) throws -> String {
    guard try exists(), let store = try configuration.store.openForReading() as? any ServerStore,
      let secret = try? store.secret(named: Self.resetSecret, byteCount: 32)
    else {
      throw FileError(
        "the store has no secret for links yet; start the server once, then try again")
    }
    return PasswordResets(secret: secret).token(
      user: line.user.id, password: line.resetState, now: now)
  }

  /// Lists the notes; a server may be writing to them.
  package func notes() throws -> [NoteSummary] {
    switch try configuration.repairableStore(writing: false).perform([.list])[0] {
    case .notes(let notes): return notes
    case .failed(let error): throw error
    default: preconditionFailure("expected .notes or .failed in reply to .list")
    }
  }

  /// Lists the valid sessions of a user, most recently used first; a server may be running.
  package func sessions(of user: String, now: Timestamp) throws -> [Session] {
    let store = try configuration.repairableStore(writing: false)
    let revocations = try RevocationFile(path: configuration.revocationsPath)
    var known: User?
    if let file = configuration.usersFile {
      known = try UserLine.lines(ofFileAt: file).first { $0.user.id == user }?.user
    }
    switch store.perform([StoreRequest.logins(.list(user: user, now: now))])[0] {
    case .logins(.sessions(let sessions)):
      return sessions.filter { session in
        let identity = Identity(
          user: user, tokenID: session.id, issuedAt: session.renewedAt, grants: [])
        return !revocations.isRevoked(identity)
          && known?.owns(tokenIssuedAt: session.renewedAt) ?? true
      }
    case .failed(let error): throw error
    default: preconditionFailure("expected .sessions or .failed in reply to .list")
    }
  }

  /// Lists the names of published notes; a server may be running.
  package func names() throws -> [PublicName] {
    let store = try configuration.repairableStore(writing: false)
    switch store.perform([StoreRequest.links(.names(.list))])[0] {
    case .links(.names(.names(let names))): return names
    case .failed(let error): throw error
    default: preconditionFailure("expected .names or .failed in reply to .list")
    }
  }

  /// Lists deleted notes that can be restored, the newest deletion first; a server may be running.
  package func deletedNotes() throws -> [DeletedNote] {
    let store = try configuration.repairableStore(writing: false)
    switch store.perform([StoreRequest.deleted(.list(after: nil, limit: .max))])[0] {
    case .deletedNotes(let notes): return notes
    case .failed(let error): throw error
    default: preconditionFailure("expected .deletedNotes or .failed in reply to .list")
    }
  }

  /// Restores a deleted note; no server may be running.
  package func undelete(_ id: DocumentID) throws -> NoteSummary {
    let store = try configuration.repairableStore(writing: true)
    switch store.perform([StoreRequest.deleted(.bringBack(id: id))])[0] {
    case .note(let note): return note
    case .failed(.unknownDocument):
      throw FileError("no deleted note has this id; parley notes --deleted lists them")
    case .failed(.exists):
      throw FileError("another note has this id; delete that one first")
    case .failed(let error): throw error
    default: preconditionFailure("expected .note or .failed in reply to .bringBack")
    }
  }

  /// Lists dead letters, the newest first, each as a line of JSON; a server may be running.
  package func deadLetters() throws -> [String] {
    let store = try configuration.repairableStore(writing: false)
    switch store.perform(OutboxRequest.deadLetters(limit: .max)) {
    case .deadLetters(let letters): return letters.map(\.line)
    case .failed(let error): throw error
    case .done, .events: preconditionFailure("expected .deadLetters or .failed")
    }
  }

  /// Copies the store; a server may be writing to it.
  package func backUp(
    to destination: String, isVerified: Bool, progress: (StoreBackup.Step) -> Void = { _ in }
  ) throws -> StoreFindings? {
    try refuseDatabase("pg_dump or pg_basebackup")
    return try StoreBackup.make(
      of: path, at: destination, isVerified: isVerified, progress: progress)
  }

  /// Throws if the store is a database, for commands that work on files.
  private func refuseDatabase(_ tools: String) throws(FileError) {
    guard configuration.isStoreInDatabase else { return }
    throw FileError(
      "this works on the file in data-dir, but store-url names a database; use PostgreSQL's own "
        + "\(tools)")
  }

  /// Reads and checks a whole backup.
  package func verify(
    _ backup: String, progress: (Int, Int) -> Void = { _, _ in }
  ) throws(StoreOpenError) -> StoreFindings {
    try SQLiteStore(reading: backup).check(progress: progress)
  }

  /// Restores a backup to the store's path; no server may be running.
  package func restore(_ backup: String, isReplacing: Bool) throws -> StoreRestoration {
    try refuseDatabase("pg_restore")
    try Files.makeDirectory(configuration.dataDirectory)
    return try StoreBackup.restore(
      backup, to: path, isReplacing: isReplacing, names: RandomNames())
  }

  /// Removes history as the retention settings allow; no server may be running.
  ///
  /// - Returns: The number of logs that became shorter.
  package func compact() throws -> Int {
    guard let retention = configuration.retention else {
      throw FileError(
        "nothing says what to keep; give --history-changes-min, --history-age-min or both")
    }
    return try configuration.repairableStore(writing: true).compact(
      keeping: retention, now: SystemClock().now)
  }
}

extension DeadLetter {
  /// The event as its target would have received it, and when and why it was given up.
  fileprivate var line: String {
    let bytes = JSONWriter.object { object, bytes in
      object.field("target", event.target.word, &bytes)
      object.field("id", event.id, &bytes)
      object.field("type", event.type, &bytes)
      object.field("time", Int(event.time), &bytes)
      object.field("data", JSONValue(trusted: event.data), &bytes)
      object.field("givenUpAt", Int(time), &bytes)
      object.field("reason", reason.word, &bytes)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
