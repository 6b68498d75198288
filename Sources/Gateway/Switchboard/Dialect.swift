import ParleyGatewayPorts
import SocketMessages

/// The protocol of a connection's messages.
///
/// All connections of one protocol share one dialect. The gateway's requirements are in three
/// protocols without default implementations, so that the compiler reports what a new dialect
/// lacks. A dialect inherits one of them, by the kind of its clients:
///
/// | clients | inherits | implements |
/// | --- | --- | --- |
/// | have a connection each | ``ConnectionDialect``, no sessions | documents, rooms |
/// | have notes alone | ``NoteDialect``, no rooms | documents |
/// | have sessions | `SessionDialect`, no documents | sessions |
typealias Dialect = DialectBase & DocumentMessaging & RoomMessaging & SessionMessaging

/// The base class of dialects, with their data.
class DialectBase: Part {
  /// The names of dialects in lists for operators.
  enum Listing: String {
    case native, whaler, socketIO, bayeux, pusher, shareDB, rustpad
  }

  /// The differences between dialects, apart from their messages.
  struct Traits {
    /// The dialect's name in lists for operators.
    let listing: Listing
    /// Whether its connections are sessions, carried by other connections or by requests. Sessions
    /// have rooms, but no documents.
    var isSession = false
    /// Whether each subscription of a connection has a separate identity.
    var hasIdentityPerSubscription = false
    /// Whether its clients receive changes of people, in documents and in rooms.
    var hearsOfPeople = false
    /// Whether its clients know the epoch of a document that they follow.
    var knowsEpochs = false
    /// Whether joining creates a missing document.
    var createsDocuments = false
    /// Whether each change is sent in a separate frame.
    var wantsFramePerEntry = false
    /// Whether its clients present tokens, which may be revoked.
    var hasTokens = true
    /// Whether a client receives the presence of its own person in a room.
    var hearsOfItself = true
    /// The close code on the wire for a reason.
    var closeCode: (CloseReason) -> UInt16 = \.rawValue
    /// Whether a document's text is encoded once for all connections, instead of for each.
    var sharesTexts = false
  }

  final let board: Switchboard
  final let traits: Traits

  init(_ board: Switchboard, _ traits: Traits) {
    self.board = board
    self.traits = traits
  }
}

/// A dialect whose clients each have a connection, without sessions.
class ConnectionDialect: DialectBase, SessionMessaging {
  final func carrier(of connection: Connection) -> ConnectionID? { connection.id }
  final func endSession(of connection: Connection, mayReconnect: Bool) -> Bool { false }
  final func endAtOnce(_ connection: Connection) {}
  final func applyRights(to connection: Connection) -> Bool { false }
  final func hasExpiredIdentity(_ connection: Connection, at now: Timestamp) -> Bool { false }
  final func updateIdentities(of connection: Connection) {}
  final func endIdentities(of connection: Connection, by end: Timestamp) {}

  /// Closes a connection whose sender has used up its share of memory.
  final func closeCrowded(_ connection: Connection) {
    board.close(connection, .tooFast, "the server receives too much data now; wait, and reconnect")
  }
}
