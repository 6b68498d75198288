package import ParleyGatewayPorts
import ParleyStoreRecords

/// Why PostgreSQL did not do as asked.
package enum PostgresFailure: Error, Equatable {
  /// There is no connection, for this reason.
  case unreachable(String)
  /// The connection was lost, or closed for an answer that took too long, after something was sent.
  case lost(String)
  /// The server refused, with this code.
  case refused(state: String)

  /// Whether the code means that the connection has ended: the server shuts down, or a transaction
  /// exceeded its time.
  static func isEnd(_ state: String) -> Bool {
    state.hasPrefix("08") || state.hasPrefix("57P") || state == "25P03"
  }

  /// Whether the same transaction may succeed if it is retried at once: it conflicted with another
  /// one.
  var isRace: Bool {
    guard case .refused(let state) = self else { return false }
    return ["40001", "40P01", "23505"].contains(state)
  }

  /// Whether it is the connection's, not the statement's.
  var isConnection: Bool {
    switch self {
    case .unreachable, .lost: true
    case .refused: false
    }
  }

  /// The error for callers who do not know whether their work is done.
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
        .refused("a value is larger than PostgreSQL keeps (code \(state)); send less at a time")
      case "21", "22", "23":
        .refused("PostgreSQL does not take a value (code \(state)); see its log")
      default: .unavailable("PostgreSQL refused (code \(state)); see its log, then send again")
      }
    }
  }
}

extension StoreError {
  /// Whether PostgreSQL may refuse one request of a batch for it, and take the others.
  var isOfOneRequest: Bool {
    switch self {
    case .refused, .damaged: true
    case .unknownDocument, .exists, .notNext, .compacted, .unavailable, .unknownOutcome, .fenced,
      .answeredElsewhere, .outOfReach, .cancelled:
      false
    }
  }
}

/// Why a database cannot be a server's store, and what to do about it.
public enum PostgresOpenError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The address is not one.
  case malformedAddress
  /// No connection was made.
  case unreachable(address: String, reason: String)
  /// There are no tables to read.
  case noStore(address: String)
  /// A newer Parley made the tables, and this one may not use them.
  case newer(address: String, version: Int, supported: Int)
  /// An older Parley made the tables, and they were to be read only.
  case older(address: String, version: Int, supported: Int)
  /// A program from before 0.1.0, the first release, made the tables.
  case unreleased(address: String)
  /// Another Parley, which does not share, works with the database.
  case inUse(address: String)
  /// Others work with the database, who are named.
  case inUseBy(address: String, holders: String)
  /// A move into the database was interrupted.
  case unfinished(address: String)
  /// There is a store where a new one is to be.
  case notEmpty(address: String)
  /// The database may only be read.
  case readOnly(address: String)
  /// PostgreSQL is set up to acknowledge what a power cut undoes.
  case unsafe(address: String, setting: String, value: String)
  /// Something between here and PostgreSQL deals out connections.
  case pooled(address: String)
  /// The server is too old.
  case unsupportedServer(address: String, version: Int)
  /// It was refused, or the connection was lost meanwhile.
  case failed(address: String, reason: String)

  /// The expectation, what came instead, and what to do.
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
