import GatewayPorts
import OTCore
import StoreSQLite

/// A store with one note, `n`, of so many entries of one letter each.
final class PreparedStore {
  let store: SQLiteStore
  let entries: Int
  private let folder: TemporaryFolder

  /// - Parameter authors: How many take turns.
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
          preconditionFailure("the entries were not taken")
        }
        batch = []
        while store.maintain() {}
      }
    }
  }
}
