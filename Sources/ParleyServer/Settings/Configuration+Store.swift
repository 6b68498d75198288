import GatewayPorts
import PostgreSQLAdapter
package import StoreRecords
import StoreSQLite

/// The store that the settings name.
extension Configuration {
  /// The kinds of stores, each with its place.
  private enum Place {
    case file(String)
    case database(PostgresAddress)
  }

  private var place: Place {
    storeURL.flatMap(PostgresAddress.init).map(Place.database) ?? .file(storePath)
  }

  /// Opens it; the one place that says which store a server has.
  var store: any StoreProvisioning {
    switch place {
    case .file(let path): SQLiteProvisioning(path: path, retention: retention)
    // Other nodes may come at any time: one that is alone pays next to nothing for it.
    case .database(let address):
      PostgresProvisioning(address, isShared: true, retention: retention)
    }
  }

  /// The store's name for people: its path, or its address without the password.
  package var storeName: String {
    switch place {
    case .file(let path): path
    case .database(let address): address.description
    }
  }

  /// Whether the store is one that only PostgreSQL's own tools copy.
  package var isStoreInDatabase: Bool { storeURL != nil }

  /// Whether a text is an address that `store-url` takes.
  static func isStoreURL(_ text: String) -> Bool { PostgresAddress(text) != nil }

  /// An address without its password.
  static func shownStoreURL(_ text: String) -> String {
    PostgresAddress(text)?.description ?? "an address"
  }

  /// Opens the store to read all of it, or to make it smaller.
  func repairableStore(writing: Bool) throws -> any RepairableStore {
    switch place {
    case .file(let path): try writing ? SQLiteStore(path: path) : SQLiteStore(reading: path)
    case .database(let address): try PostgresStore(address, sharing: writing ? .alone : .reading)
    }
  }

  /// Opens the index of words to read it; `nil` if there is none.
  func indexForReading() throws -> (any SearchIndex)? {
    switch place {
    case .file(let path): try SQLiteSearchIndex(reading: path)
    case .database(let address): try PostgresSearchIndex(reading: address)
    }
  }

  /// The promise of the store, for an examination; `nil` for one that is this machine's own.
  func storePromise() throws -> String? {
    guard case .database(let address) = place else { return nil }
    return try PostgresStore.state(of: address).promise
  }

  /// The connections that the database allows to all of its clients; `nil` for a store that is this machine's
  /// own.
  func databaseConnectionsMax() throws -> Int? {
    guard case .database(let address) = place else { return nil }
    return try PostgresStore.connectionsMax(of: address)
  }

  /// The part of each note's history that is kept; all of it if `nil`.
  package var retention: Retention? {
    guard historyChangesMin > 0 || historyAgeMin > .zero else { return nil }
    return Retention(
      entriesMin: historyChangesMin, ageMin: Timestamp(historyAgeMin.components.seconds * 1_000))
  }
}
