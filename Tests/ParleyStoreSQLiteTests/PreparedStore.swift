import ParleyGatewayPorts
import OTCore
import ParleyStoreSQLite

/// A store with one note `n`. Its entries append letters, or alternately insert and delete one
/// letter.
final class PreparedStore {
  let store: SQLiteStore
  let entries: Int
  private let folder: TemporaryFolder

  /// Creates a log that was imported at once: housekeeping begins after the last entry.
  init(importing entries: Int) {
    self.entries = entries
    do {
      folder = try TemporaryFolder(isInMemory: true)
      store = try SQLiteStore(path: folder.file())
    } catch {
      preconditionFailure("no store could be made: \(error)")
    }
    store.create("n")
    var deletion = TextOperation()
    deletion.delete(1)
    let log = (1...entries).map { revision in
      LogEntry(
        revision: revision, client: "a", sequence: revision, digest: 1,
        operation: revision % 2 == 1 ? appending("x", to: 0) : deletion, author: "a",
        time: Timestamp(revision))
    }
    guard case .done = store.one(.append(id: "n", epoch: epoch, entries: log)) else {
      preconditionFailure("the append failed")
    }
    while store.maintain() {}
  }

  /// - Parameter authors: The number of authors, who take turns.
  init(entries: Int, authors: Int) {
    self.entries = entries
    do {
      folder = try TemporaryFolder(isInMemory: true)
      store = try SQLiteStore(path: folder.file())
    } catch {
      preconditionFailure("no store could be made: \(error)")
    }
    store.create("n")
    var batch: [LogEntry] = []
    for revision in 1...entries {
      let author = "author \(revision % authors)"
      batch.append(
        LogEntry(
          revision: revision, client: author, sequence: revision, digest: 1,
          operation: appending("x", to: revision - 1), author: author,
          time: Timestamp(revision)))
      if batch.count == 500 || revision == entries {
        guard case .done = store.one(.append(id: "n", epoch: epoch, entries: batch)) else {
          preconditionFailure("the append failed")
        }
        batch = []
        while store.maintain() {}
      }
    }
  }
}
