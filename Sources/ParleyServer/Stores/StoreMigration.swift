import ParleyGatewayPorts
import ParleyPostgreSQLAdapter
package import ParleyStoreRecords
import ParleyStoreSQLite

/// The command `parley migrate`, which copies all data of a store to a store of the other kind.
package struct StoreMigration {
  /// A store, as named on the command line.
  private enum Place {
    case file(String)
    case database(PostgresAddress)

    init(_ text: String) throws(FileError) {
      if let address = PostgresAddress(text) {
        self = .database(address)
      } else if text.contains("://") {
        throw FileError("expected a file, or an address such as postgres://user@host:5432/name")
      } else {
        self = .file(Files.isFolder(text) ? text + "/" + Configuration.storeFileName : text)
      }
    }

    /// The name for messages, without a password.
    var name: String {
      switch self {
      case .file(let path): path
      case .database(let address): address.description
      }
    }
  }

  /// The result of a finished migration.
  package struct Report {
    /// The names of both stores.
    package let source: String, target: String
    /// The rows, the check's findings and the digest.
    package let result: StoreMove.Result
    /// The number of copied revocations.
    package let revocations: Int
  }

  private let source: Place
  private let target: Place

  /// Prepares a migration.
  ///
  /// - Parameters:
  ///   - source: A file, a data folder, or the address of a database.
  ///   - target: A file that does not exist, or an empty database.
  package init(from source: String, to target: String) throws(FileError) {
    self.source = try Place(source)
    self.target = try Place(target)
  }

  /// Copies all data. The source is not changed.
  package func run(progress: (StoreMove.Step) -> Void) throws -> Report {
    let (from, revocations) = try openSource()
    let (to, keep) = try makeTarget()
    let result: StoreMove.Result
    do {
      result = try StoreMove(from: from, to: to).run(
        beforeFinish: { try keep(revocations) }, progress: progress)
    } catch let error as StoreError {
      throw Self.words(error)
    }
    return Report(
      source: source.name, target: target.name, result: result, revocations: revocations.count)
  }

  private static func words(_ error: StoreError) -> FileError {
    switch error {
    case .damaged(let words), .unavailable(let words), .refused(let words),
      .unknownOutcome(let words):
      FileError(words)
    case .unknownDocument, .exists, .notNext, .compacted, .answeredElsewhere, .fenced, .outOfReach,
      .cancelled:
      FileError("\(error)")
    }
  }

  private func openSource() throws -> (any MovableStore, [Revocation]) {
    switch source {
    case .file(let path):
      let store = try SQLiteMove(from: path)
      return (store, try RevocationFile(path: Self.revocations(beside: path)).all)
    case .database(let address):
      let store = try PostgresMove(from: address)
      return (store, try store.revocations())
    }
  }

  private func makeTarget() throws -> (any UnfinishedStore, ([Revocation]) throws -> Void) {
    switch target {
    case .file(let path):
      let store = try SQLiteMove(to: path)
      let file = Self.revocations(beside: path)
      return (
        store,
        { revocations in
          guard revocations.isEmpty || RevocationFile.append(revocations, to: file) else {
            throw FileError("\(file) cannot be written")
          }
        }
      )
    case .database(let address):
      let store = try PostgresMove(to: address)
      return (store, { try store.keep($0) })
    }
  }

  /// Returns the path of the revocations file in a store's folder.
  private static func revocations(beside path: String) -> String {
    let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
    return folder + Configuration.revocationsFileName
  }
}
