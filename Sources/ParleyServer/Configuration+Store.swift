import GatewayPorts
package import StoreRecords
import StoreSQLite

/// The store that the settings name.
extension Configuration {
  /// Opens it; the one place that says which store a server has.
  var store: any StoreProvisioning {
    SQLiteProvisioning(path: storePath, retention: retention)
  }

  /// The part of each note's history that is kept; all of it if `nil`.
  package var retention: Retention? {
    guard historyChangesMin > 0 || historyAgeMin > .zero else { return nil }
    return Retention(
      entriesMin: historyChangesMin, ageMin: Timestamp(historyAgeMin.components.seconds * 1_000))
  }
}
