public import SocketMessages

/// Something that has happened to a room, by its name.
public enum RoomEvent: Sendable {
  /// The app subscribes to the room, from the last position that it kept, if any. If `isPresent`,
  /// the person is shown in the room and sees who is there.
  case subscribe(isPresent: Bool, from: RoomPosition?)
  /// The app unsubscribes. Publications that wait are still sent until they are answered.
  case unsubscribe
  /// Publish something under a key of its own, until the server has stored it. The room need not be
  /// subscribed to.
  case publish(ClientMessage.Publish, key: String)
  /// The person types, or has stopped.
  case typing(Bool)
  /// A publication was delivered, or read.
  case receipt(offset: Int64, ReceiptStage)
  /// The app asks how far a publication of this person's has come.
  case receipts(offset: Int64)
}

/// Something that is to be done for a room.
public enum RoomAction: Sendable, Equatable {
  /// Something was published. An app that keeps where it is keeps this offset with the epoch.
  case publication(Publication, epoch: String)
  /// The publications between the two positions are gone: fetch the subject of the room again.
  case gap(after: RoomPosition, through: RoomPosition)
  /// The room's position.
  case position(RoomPosition)
  /// The server's messages did not fit to what is here, and the room is subscribed to again.
  case outOfStep
  /// The room's state is another.
  case status(RoomStatus)
  /// Others have come, gone, begun to type or stopped.
  case people
  /// A publication of this client's is stored, or was before.
  case published(key: String, RoomPosition, isRepeated: Bool)
  /// A publication is refused for good.
  case publishFailed(key: String, ErrorCode)
  /// A publication was sent under an id that the server no longer knows: whether it is stored is
  /// unknown. The app decides whether to publish it again.
  case publishUnsure(key: String)
  /// A publication of this person's has come so far with another.
  case receipt(ServerMessage.Receipt)
  /// The receipts of a publication of this person's, as requested; or the reason why there are
  /// none.
  case receipts(offset: Int, [Receipt], ErrorCode?)
  /// A report of a publication was made or taken back; only moderators receive this.
  case flagged(ServerMessage.Flag)
}

/// A room's state.
public struct RoomStatus: Sendable, Equatable {
  /// The room's phase.
  public enum Phase: Sendable, Equatable {
    /// Not heard from yet.
    case subscribing
    /// In step with the server.
    case live
    /// The server is not there.
    case away
    /// The server ends it.
    case ended(NoteFailure)
    /// The app has ended it.
    case left

    var isEnded: Bool {
      if case .ended = self { true } else { false }
    }
  }

  /// The phase.
  public var phase: Phase
  /// The number of publications without an answer.
  public var waiting: Int
}
