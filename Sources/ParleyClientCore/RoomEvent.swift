#if !hasFeature(Embedded)
  public import ParleyJSON
#endif
public import SocketMessages

/// An event of a room.
public enum RoomEvent: Sendable {
  /// The app subscribes to the room, from the last position that it has stored, if any. If
  /// `isPresent`, the person is shown in the room and sees who else is present.
  case subscribe(isPresent: Bool, from: RoomPosition?)
  /// The app unsubscribes. Waiting publications are still sent until they are answered.
  case unsubscribe
  /// The app publishes under a unique key; the publication is sent until the server has stored it.
  /// The app need not subscribe to the room.
  case publish(ClientMessage.Publish, key: String)
  /// The person has begun or stopped typing.
  case typing(Bool)
  /// A publication was delivered or read.
  case receipt(offset: Int64, ReceiptStage)
  /// The app requests the receipts of this person's publication.
  case receipts(offset: Int64)
  #if !hasFeature(Embedded)
    /// The app follows the room's values, in addition to its publications.
    case followValues
    /// The app changes values under a unique key, as by a publication.
    case change(ClientMessage.Publish, key: String, ValueCause)
    /// The changes of values without an answer that an earlier process has stored.
    case restoreChanges([KeptChange])
    /// A change can no longer be undone: it was, or others have changed its names since.
    case dropStep(key: String)
    /// The app sends a signal; it is dropped without a connection.
    case signal(name: String, JSONValue)
  #endif
}

/// The reason for a change of values: the person, or an undo or redo of the person's changes.
public enum ValueCause: Sendable, Hashable { case change, undo, redo }

#if !hasFeature(Embedded)
  /// A change of a room's values without an answer, as it is stored.
  public struct KeptChange: Sendable, Equatable {
    /// The operations and their conditions.
    public var publication: ClientMessage.Publish
    /// The key under which the server stores it once.
    public var key: String
    /// The client id under which it was first sent; `nil` if it was not sent.
    public var clientID: String?

    /// Creates a change.
    public init(publication: ClientMessage.Publish, key: String, clientID: String?) {
      self.publication = publication
      self.key = key
      self.clientID = clientID
    }
  }
#endif

/// An instruction to the owner of a client, about a room.
public enum RoomAction: Sendable, Equatable {
  /// Something was published. An app that stores its position stores this offset with the epoch.
  case publication(Publication, epoch: Epoch)
  /// The publications between the two positions are not available: fetch the room's subject again.
  case gap(after: RoomPosition, through: RoomPosition)
  /// The room's position, after a subscription.
  case position(RoomPosition)
  /// The server's messages do not match this client's state; the client subscribes to the room
  /// again.
  case outOfStep
  /// The room's state has changed.
  case status(RoomStatus)
  /// The people present have changed, or the people who type.
  case people
  /// This client's publication is stored; `isRepeated` if it had been stored before.
  case published(key: String, RoomPosition, isRepeated: Bool)
  /// This client's publication was rejected finally.
  case publishFailed(key: String, ErrorCode)
  /// A publication was sent under a client id that the server no longer knows, so it may or may not
  /// be stored. The app decides whether to publish it again.
  case publishUnsure(key: String)
  /// A person has received or read this person's publication.
  case receipt(ServerMessage.Receipt)
  /// The requested receipts of this person's publication, or the reason why there are none.
  case receipts(offset: Int, [Receipt], ErrorCode?)
  /// A report of a publication was made or withdrawn; only moderators receive this.
  case flagged(ServerMessage.Flag)
  #if !hasFeature(Embedded)
    /// The room's values have changed, as the app sees them. The first update has all of them.
    case values(ValueUpdate)
    /// A condition of this client's publication did not hold: the current values of the names that
    /// have changed, or the room's head. `publishFailed` follows.
    case conflict(key: String, NamedValues, RoomPosition?)
    /// Another subscriber has sent a signal.
    case signal(ServerMessage.Signal)
    /// The changes of values without an answer, to be stored before any later message is sent.
    case keepChanges([KeptChange])
  #endif
}

/// A room's state.
public struct RoomStatus: Sendable, Equatable {
  /// The room's phase.
  public enum Phase: Sendable, Equatable {
    /// The server has not answered the subscription yet.
    case subscribing
    /// The subscription is active.
    case live
    /// The server is not reachable.
    case away
    /// The subscription has failed.
    case ended(NoteFailure)
    /// The app has unsubscribed.
    case left

    var isEnded: Bool {
      if case .ended = self { true } else { false }
    }
  }

  /// The phase.
  public var phase: Phase
  /// The number of unanswered publications.
  public var waiting: Int
}
