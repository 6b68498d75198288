package import ParleyGatewayPorts
import ParleyStoreRecords

/// The reason why PostgreSQL has not run a statement.
package enum PostgresFailure: Error, Equatable {
  /// No connection was established, for this reason.
  case unreachable(String)
  /// The connection broke, or was closed after a timeout, after a statement was sent.
  case lost(String)
  /// The server has rejected a statement, with this code.
  case refused(state: String)

  /// Whether the code means that the connection has ended: the server is shutting down, or a
  /// transaction exceeded its time limit.
  static func isEnd(_ state: String) -> Bool {
    state.hasPrefix("08") || state.hasPrefix("57P") || state == "25P03"
  }

  /// Whether the transaction conflicted with another, so that retrying it at once may succeed.
  var isRace: Bool {
    guard case .refused(let state) = self else { return false }
    return ["40001", "40P01", "23505"].contains(state)
  }

  /// Whether the connection has failed, and not a statement.
  var isConnection: Bool {
    switch self {
    case .unreachable, .lost: true
    case .refused: false
    }
  }

  /// The error for callers whose commit has an unknown outcome.
  var unknownOutcome: StoreError {
    .unknownOutcome("the connection to PostgreSQL was lost during a commit; read what it has")
  }

  /// The error for callers of the store, without SQL and without values.
  package var storeError: StoreError {
    switch self {
    case .unreachable(let reason):
      .unavailable("PostgreSQL cannot be reached (\(reason)); see whether it runs, then send again")
    case .lost(let reason):
      .unavailable("the connection to PostgreSQL was lost (\(reason)); send again")
    case .refused(let state):
      switch state.prefix(2) {
      case "XX":
        .damaged("PostgreSQL found damage (code \(state)); restore the newest backup")
      case "42", "3F":
        .damaged(
          "the database has not the tables it should have (code \(state)); restore the newest backup"
        )
      case "53":
        .unavailable(
          "PostgreSQL has no room or memory left (code \(state)); free some, then send again")
      case "25":
        .unavailable(
          "the database may only be read (code \(state)): it is a standby, or "
            + "default_transaction_read_only is on; name the primary")
      case "54":
        .refused("a value exceeds PostgreSQL's maximum (code \(state)); send less at a time")
      case "21", "22", "23":
        .refused("PostgreSQL does not take a value (code \(state)); see its log")
      default: .unavailable("PostgreSQL refused (code \(state)); see its log, then send again")
      }
    }
  }
}

extension StoreError {
  /// Whether one request of a batch may have caused the error, so that the others can be retried.
  var isOfOneRequest: Bool {
    switch self {
    case .refused, .damaged: true
    case .unknownDocument, .exists, .notNext, .compacted, .unavailable, .unknownOutcome, .fenced,
      .answeredElsewhere, .outOfReach, .cancelled:
      false
    }
  }
}

/// The reason why a database cannot be opened as a store, with the remedy.
public enum PostgresOpenError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The address is invalid.
  case malformedAddress
  /// No connection could be established.
  case unreachable(address: String, reason: String)
  /// The database contains no tables of Parley.
  case noStore(address: String)
  /// A newer version of Parley created the tables.
  case newer(address: String, version: Int, supported: Int)
  /// An older version of Parley created the tables, which were to be opened read-only.
  case older(address: String, version: Int, supported: Int)
  /// A version before 0.1.0, the first release, created the tables.
  case unreleased(address: String)
  /// Another server that does not share the database is using it.
  case inUse(address: String)
  /// Other processes are using the database.
  case inUseBy(address: String, holders: String)
  /// A move into the database was interrupted.
  case unfinished(address: String)
  /// The database already contains a store.
  case notEmpty(address: String)
  /// The database is read-only.
  case readOnly(address: String)
  /// A setting of PostgreSQL allows a power failure to undo acknowledged commits.
  case unsafe(address: String, setting: String, value: String)
  /// A pooler between this process and PostgreSQL shares connections between clients.
  case pooled(address: String)
  /// The server's version is no longer supported.
  case unsupportedServer(address: String, version: Int)
  /// A statement was rejected, or the connection was lost.
  case failed(address: String, reason: String)

  /// The problem and the remedy.
  public var description: String {
    switch self {
    case .malformedAddress:
      "store-url expects an address such as postgres://user@host:5432/name; the given one is not"
    case .unreachable(let address, let reason):
      "cannot open the store \(address): \(reason); see whether PostgreSQL runs there and lets this "
        + "user in"
    case .noStore(let address):
      "cannot read the store \(address): it has no tables of Parley's; name the store of a server"
    case .newer(let address, let version, let supported):
      "cannot open the store \(address): it has format \(version), but this program works with "
        + "formats up to \(supported); use a newer Parley"
    case .older(let address, let version, let supported):
      "cannot read the store \(address): it has format \(version), and this program reads format "
        + "\(supported); start parley serve with it once, which brings it up to date"
    case .unreleased(let address):
      "cannot open the store \(address): a Parley from before 0.1.0 made it; export its notes with that "
        + "program, and import them here"
    case .inUse(let address):
      "cannot open the store \(address): another Parley works with this database and expects to be "
        + "alone; end that one, or name another database"
    case .inUseBy(let address, let holders):
      "cannot open the store \(address): it is in use by \(holders); end that, or name another "
        + "database"
    case .unfinished(let address):
      "cannot open the store \(address): \(UnfinishedFormat.advice)"
    case .notEmpty(let address):
      "cannot make the store \(address): there is a store already; name an empty database"
    case .readOnly(let address):
      "cannot open the store \(address): the database may only be read, as a standby's; name the "
        + "primary"
    case .unsafe(let address, let setting, let value):
      "cannot open the store \(address): its \(setting) is \(value), so a power cut could undo what "
        + "was acknowledged; set \(setting) = on"
    case .pooled(let address):
      "cannot open the store \(address): a pooler such as PgBouncer answers there, which deals out "
        + "connections that are not one's own; name PostgreSQL's own address"
    case .unsupportedServer(let address, let version):
      "cannot open the store \(address): it runs PostgreSQL \(version / 10_000), and 13 is the oldest "
        + "that is supported; upgrade it"
    case .failed(let address, let reason):
      "cannot open the store \(address): \(reason)"
    }
  }
}
