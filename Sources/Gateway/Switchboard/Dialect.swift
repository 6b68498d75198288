import ParleyGatewayPorts
import SocketMessages

/// The protocol of a connection's messages.
///
/// All connections of one protocol share one dialect. What the gateway asks of it is in three protocols without
/// defaults, so that the compiler names what a new dialect lacks. A dialect inherits one of them from the kind of its
/// clients:
///
/// | clients | inherits | implements |
/// | --- | --- | --- |
/// | have a connection each | ``ConnectionDialect``, no sessions | documents, rooms |
/// | have sessions | `SessionDialect`, no documents | sessions |
typealias Dialect = DialectBase & DocumentMessaging & RoomMessaging & SessionMessaging

/// The data of a dialect.
class DialectBase: Part {
  /// The dialects' names in lists for operators.
  enum Listing: String {
    case native, whaler, socketIO, bayeux, pusher
  }

  /// The differences between dialects, beside their messages.
  struct Traits {
    /// The name under which operators see its connections.
    let listing: Listing
    /// Whether its connections are sessions, carried by other connections or requests.
    /// Sessions have rooms and no documents.
    var isSession = false
    /// Whether a connection has an identity for each of its subscriptions, and not one for all.
    var hasIdentityPerSubscription = false
    /// Whether its clients receive news of people, in documents and in rooms.
    var hearsOfPeople = false
    /// Whether its clients know which history of a document they follow.
    var knowsEpochs = false
    /// Whether joining creates a missing document.
    var createsDocuments = false
    /// Whether each change goes out in a frame of its own.
    var wantsFramePerEntry = false
    /// Whether its clients show tokens, which may be taken back.
    var hasTokens = true
    /// Whether a client is sent what others are told of its own person in a room.
    var hearsOfItself = true
    /// The number on the wire for a reason to close a connection.
    var closeCode: (CloseReason) -> UInt16 = \.rawValue
    /// Whether a document's text is encoded once for all of its connections, and not for each.
    var sharesTexts = false
  }

  final let board: Switchboard
  final let traits: Traits

  init(_ board: Switchboard, _ traits: Traits) {
    self.board = board
    self.traits = traits
  }
}

/// A dialect whose clients have a connection each, and no sessions.
class ConnectionDialect: DialectBase, SessionMessaging {
  final func carrier(of connection: Connection) -> ConnectionID? { connection.id }
  final func endSession(of connection: Connection, comesBack: Bool) -> Bool { false }
  final func endAtOnce(_ connection: Connection) {}
  final func applyRights(to connection: Connection) -> Bool { false }
  final func hasExpiredIdentity(_ connection: Connection, at now: Timestamp) -> Bool { false }
  final func updateIdentities(of connection: Connection) {}
  final func endIdentities(of connection: Connection, by end: Timestamp) {}

  /// Closes a connection whose sender holds its share of memory.
  final func closeCrowded(_ connection: Connection) {
    board.close(connection, .tooFast, "too much is being received at once; wait, and reconnect")
  }
}
