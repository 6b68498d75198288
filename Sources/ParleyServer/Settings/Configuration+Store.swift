import ParleyGatewayPorts
import ParleyPostgreSQLAdapter
package import ParleyStoreRecords
import ParleyStoreSQLite

/// The store that the settings select.
extension Configuration {
  /// The kinds of stores, with their locations.
  private enum Place {
    case file(String)
    case database(PostgresAddress)
  }

  private var place: Place {
    storeURL.flatMap(PostgresAddress.init).map(Place.database) ?? .file(storePath)
  }

  /// The store that the settings select; the only code that makes this choice.
  var store: any StoreProvisioning {
    switch place {
    case .file(let path): SQLiteProvisioning(path: path, retention: retention)
    // Shared even for a single node: others may join at any time, and the cost is small.
    case .database(let address):
      PostgresProvisioning(address, isShared: true, retention: retention)
    }
  }

  /// The store's name for messages: its path, or its address without the password.
  package var storeName: String {
    switch place {
    case .file(let path): path
    case .database(let address): address.description
    }
  }

  /// Whether the store is a PostgreSQL database, which `parley backup` cannot copy.
  package var isStoreInDatabase: Bool { storeURL != nil }

  /// Whether a text is a valid `store-url`.
  static func isStoreURL(_ text: String) -> Bool { PostgresAddress(text) != nil }

  /// Returns an address without its password.
  static func shownStoreURL(_ text: String) -> String {
    PostgresAddress(text)?.description ?? "an address"
  }

  /// Opens the store to check, export or compact it.
  func repairableStore(writing: Bool) throws -> any RepairableStore {
    switch place {
    case .file(let path): try writing ? SQLiteStore(path: path) : SQLiteStore(reading: path)
    case .database(let address): try PostgresStore(address, sharing: writing ? .alone : .reading)
    }
  }

  /// Opens the word index for reading; `nil` if missing.
  func indexForReading() throws -> (any SearchIndex)? {
    switch place {
    case .file(let path): try SQLiteSearchIndex(reading: path)
    case .database(let address): try PostgresSearchIndex(reading: address)
    }
  }

  /// Returns the durability of the database, in words; `nil` for a store in a file.
  func storePromise() throws -> String? {
    guard case .database(let address) = place else { return nil }
    return try PostgresStore.state(of: address).promise
  }

  /// Returns the maximum connections that the database allows to all clients; `nil` for a store in
  /// a file.
  func databaseConnectionsMax() throws -> Int? {
    guard case .database(let address) = place else { return nil }
    return try PostgresStore.connectionsMax(of: address)
  }

  /// The minimum of each note's history that is retained; `nil` to retain all of it.
  package var retention: Retention? {
    guard historyChangesMin > 0 || historyAgeMin > .zero else { return nil }
    return Retention(
      entriesMin: historyChangesMin, ageMin: Timestamp(historyAgeMin.components.seconds * 1_000))
  }
}
