import GatewayPorts
import SocketMessages
import WebSocketFrames

/// The protocol of a connection's messages.
///
/// All connections of one protocol share one dialect. It is a class, and not a protocol's existential, so
/// that a delivery costs a call through a table and nothing is retained for it.
///
/// Most methods do nothing here: a dialect without a message for something stays silent.
class Dialect: Part {
  /// The dialects' names in lists for operators.
  enum Listing: String {
    case native, whaler, socketIO, bayeux
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
    /// Whether a document's text is encoded once for all of its connections, and not for each.
    var sharesTexts = false
  }

  final let board: Switchboard
  final let traits: Traits

  init(_ board: Switchboard, _ traits: Traits) {
    self.board = board
    self.traits = traits
  }

  // MARK: Messages

  /// A whole message has arrived.
  ///
  /// - Parameter excess: the limit that refuses it, if a rate was exceeded.
  func received(
    _ message: UnsafeRawBufferPointer, kind: MessageKind, excess: Excess?,
    on connection: Connection
  ) {}

  /// A message was longer than the limit, and was not read.
  func oversized(_ connection: Connection, bytesMax: Int) {}

  /// A message was dropped in part, since its sender holds its share of memory.
  func crowded(_ connection: Connection) {
    board.close(connection, .tooFast, "too much is being received at once; wait, and reconnect")
  }

  /// Answers a message that was refused.
  func sendError(
    _ code: ErrorCode, _ message: String, ref: String, retryAfter: Int? = nil,
    to connection: Connection
  ) {}

  // MARK: Documents

  /// Gives a follower the document that it has joined.
  func joined(_ subscription: Subscription, _ join: DocumentJoin, messageID: String) {}

  /// Notifies a client that reads pages that it has missed too much for one message.
  func behind(
    _ live: LiveDocument, settled: ChangeName?, messageID: String, _ connection: Connection
  ) {}

  /// Answers that a note was made, now or before.
  func made(_ note: NoteSummary, isRepeated: Bool, ref: String, _ connection: Connection) {}

  /// Answers with a page of a document's changes.
  func page(
    _ entries: ArraySlice<LogEntry>, after revision: Int, of live: LiveDocument, ref: String,
    _ connection: Connection
  ) {}

  /// Refuses to let a client join a document, now or at all.
  func turnAway(_ connection: Connection, _ code: ErrorCode, _ message: String, ref: String) {}

  /// Refuses to let a client join a document that it may no longer read.
  final func turnAwayUnentitled(_ connection: Connection, ref: String) {
    turnAway(
      connection, .notAllowed, "the token no longer grants reading this document", ref: ref)
  }

  /// Turns a client away that waits for a document that is deleted.
  func turnAwayFromDeleted(_ connection: Connection) {}

  /// The frames of entries, one for each, where a dialect wants that.
  func frames(_ entries: ArraySlice<LogEntry>, in room: DocumentRoom) -> [Frame] { [] }

  /// Sends newly durable entries to a follower that has everything before them.
  func deliver(
    _ delivery: inout Delivery, to subscription: Subscription, on connection: Connection
  ) {}

  /// Sends entries to a follower that catches up.
  func send(_ entries: ArraySlice<LogEntry>, to subscription: Subscription) {}

  /// Sends a follower the whole text.
  func resync(
    _ subscription: Subscription, _ live: LiveDocument, reason: ServerMessage.ResyncReason,
    messageID: String
  ) {}

  /// Answers a change that was refused.
  func refuse(
    _ sequence: Int, _ code: ErrorCode, _ message: String, of id: DocumentID, ref: String,
    retryAfter: Int? = nil, to connection: Connection
  ) {}

  /// Answers a change that is refused for now, for too much waits for the disk.
  func putOff(_ sequence: Int, of id: DocumentID, ref: String, to connection: Connection) {}

  /// Acknowledges a change.
  func acknowledge(
    _ sequence: Int, revision: Int, time: Timestamp?, of id: DocumentID, ref: String,
    to connection: Connection
  ) {}

  /// Tells a follower whether it may write, or that it may no longer even read.
  func changedAccess(
    to access: ServerMessage.AccessChanged.Access, of id: DocumentID, _ connection: Connection
  ) {}

  // MARK: Rooms

  /// The frame of a room's news for its members; `nil` where they are notified otherwise.
  func frame(of news: RoomNews) -> Frame? { nil }

  /// Takes a member out of a room that it may no longer read.
  func lostReading(ofRoom room: RoomName, _ connection: Connection) {}

  // MARK: The connection

  /// Warns of the end of a connection's token.
  func warn(_ connection: Connection, ofEnd end: Timestamp) {}

  /// Asks a client to reconnect, before its connection is closed.
  ///
  /// - Parameter reconnectAfter: milliseconds, from which the client draws its own delay.
  func sendGoodbye(reason: String, reconnectAfter: ClosedRange<Int>, to connection: Connection) {}

  /// The connection that carries the messages of this one; `nil` while a session has none.
  func carrier(of connection: Connection) -> ConnectionID? { connection.id }

  /// Counts a connection.
  func count(in open: inout OpenConnections) {}

  // MARK: Sessions

  /// Ends a session from this side.
  ///
  /// - Parameter comesBack: whether its client may begin another.
  /// - Returns: whether the connection is a session's place.
  func endSession(of connection: Connection, comesBack: Bool) -> Bool { false }

  /// Applies the present rights of a session to its subscriptions.
  ///
  /// - Returns: whether the connection is a session's place.
  func applyRights(to connection: Connection) -> Bool { false }

  /// Whether the identity of one of its subscriptions has expired.
  func hasExpiredIdentity(_ connection: Connection, at now: Timestamp) -> Bool { false }

  /// Gives the identities of subscriptions the rights that their users have now.
  func updateIdentities(of connection: Connection) {}

  /// Limits subscriptions whose rights come from a token to a given end.
  func endIdentities(of connection: Connection, by end: Timestamp) {}
}
