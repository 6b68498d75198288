public import ParleyJSON

/// The limits of a room's history. Publications beyond either limit are dropped.
public struct RoomRetention: Sendable, Hashable {
  /// Maximum number of publications that a room retains; 0 retains none.
  public var publicationsMax: Int
  /// Maximum age of a publication, in milliseconds.
  public var ageMax: Timestamp

  /// Creates limits of number and age.
  public init(publicationsMax: Int, ageMax: Timestamp) {
    self.publicationsMax = publicationsMax
    self.ageMax = ageMax
  }

  /// The default: a thousand publications of the last day.
  public static let standard = RoomRetention(publicationsMax: 1_000, ageMax: 86_400_000)
}

/// A publication to be stored.
public struct PublicationDraft: Sendable, Equatable {
  /// The publisher's key: a room publishes each key once. `nil` publishes always.
  public var key: String?
  /// The publication; the store sets its offset.
  public var publication: Publication
  /// Whether followers of the room who are offline are to be notified.
  public var pushes: Bool
  /// The change of the room's values; `nil` for none.
  public var change: ValueChange?
  /// The position that the room's head must have; `nil` for any.
  public var ifPosition: RoomPosition?
  /// The client id to whose connections changed values may be bound.
  public var client: String?
  /// The limits of the room's values.
  public var limits = ValueLimits()

  /// Creates a draft, by default without a key and without push notifications.
  public init(
    key: String? = nil, time: Timestamp, personID: PersonID? = nil, senderID: String? = nil,
    data: JSONValue, pushes: Bool = false
  ) {
    self.key = key
    self.pushes = pushes
    publication = Publication(
      offset: 0, time: time, personID: personID, senderID: senderID, data: data)
  }

  /// Creates a draft that changes values.
  public init(
    key: String? = nil, time: Timestamp, personID: PersonID? = nil, senderID: String? = nil,
    data: JSONValue?, change: ValueChange?, pushes: Bool = false
  ) {
    self.key = key
    self.pushes = pushes
    self.change = change
    publication = Publication(
      offset: 0, time: time, personID: personID, senderID: senderID, data: data,
      values: change.map { ValueOperation.json(of: $0.operations) })
  }
}

/// The part of a room's history to read.
public enum RoomRange: Sendable, Hashable {
  /// The newest publications.
  case newest
  /// The publications right after an offset.
  case since(Int)
  /// The publications right before an offset.
  case before(Int)
}

/// A request about publications. The store assigns the offsets, so all nodes see one order.
public enum RoomRequest: Sendable {
  /// Stores a publication. A key is remembered for at least `keyAge` milliseconds.
  case publish(RoomName, PublicationDraft, retention: RoomRetention, keyAge: Timestamp)
  /// Reads at most `limit` publications, oldest first, with at most `bytesMax` bytes of data in
  /// total unless the first one alone exceeds that.
  case page(
    RoomName, RoomRange, limit: Int, bytesMax: Int, retention: RoomRetention, now: Timestamp)
  /// Reads all publications after a position, or none if some of them are missing or exceed the
  /// limits. Without a position, reads the room's current position.
  ///
  /// With `values`, reads these values at the same position if the publications are not available.
  case recover(
    RoomName, from: RoomPosition?, limit: Int, bytesMax: Int, retention: RoomRetention,
    now: Timestamp, values: ValueQuery? = nil)
  /// Reads values, at one position.
  case values(RoomName, ValueQuery)
  /// Finds at most `limit` values whose lifetime has ended, or the values that are bound to a client.
  case ending(EndingValues, limit: Int)
  /// Replaces the epoch, because a client knows of publications that the store has lost.
  case renewEpoch(RoomName, from: Epoch, to: Epoch)
  /// Reads the heads of rooms, by which a node detects publications that it has missed.
  case heads([RoomName])

  /// The request's traits.
  public var traits: StoreTraits {
    switch self {
    case .publish(let room, let draft, _, _):
      .writing(locking: .newRoom(room), textByteCount: draft.publication.byteCount)
    case .renewEpoch(let room, _, _): .writing(locking: .newRoom(room))
    case .page, .recover, .heads, .values, .ending: .reading()
    }
  }
}

/// The reply to a request about a room.
public enum RoomReply: Sendable, Equatable {
  /// The publication's position and time; `isRepeated` if the key had published it earlier.
  case published(RoomPosition, time: Timestamp, isRepeated: Bool)
  /// The key was already used for a different publication.
  case keyReused
  /// The room's head is not the required position. Nothing was published.
  case outdated(RoomPosition)
  /// The change of values is refused. Nothing was published.
  case valuesRefused(ValueRefusal)
  /// A part of the history.
  case page(RoomPage)
  /// The publications that a subscriber has missed.
  case recovery(RoomRecovery)
  /// The rooms' heads, in the order of the request.
  case heads([RoomHead])
  /// Values of a room.
  case values(RoomValuesPage)
  /// Values that are to be deleted, and the time at which the next lifetime ends; `nil` for none.
  case ending([EndingValue], next: Timestamp?)
}

/// The end of a room's history.
public struct RoomHead: Sendable, Equatable {
  /// The room's position.
  public var position: RoomPosition
  /// The time of the newest publication; 0 before the first one.
  ///
  /// After a failover, two histories may have the same position and different publications. The
  /// time tells them apart.
  public var time: Timestamp

  /// Creates the head of a room.
  public init(position: RoomPosition, time: Timestamp) {
    self.position = position
    self.time = time
  }
}

/// A part of a room's history.
public struct RoomPage: Sendable, Equatable {
  /// The room's position.
  public var head: RoomPosition
  /// The publications, oldest first.
  public var publications: [Publication]
  /// Whether publications right after the requested `since` are no longer stored.
  public var hasGap: Bool
  /// Whether more publications follow in the same direction.
  public var hasMore: Bool

  /// Creates a page of publications.
  public init(head: RoomPosition, publications: [Publication], hasGap: Bool, hasMore: Bool) {
    self.head = head
    self.publications = publications
    self.hasGap = hasGap
    self.hasMore = hasMore
  }
}

/// The publications with which a subscription resumes from a position.
public struct RoomRecovery: Sendable, Equatable {
  /// The room's position.
  public var head: RoomPosition
  /// All missed publications; `nil` if some are unknown, they exceed the limits, or no position was
  /// given.
  public var missed: [Publication]?
  /// Values at the position; `nil` if they were not requested, or the publications are available.
  public var values: RoomValuesPage?

  /// Creates a recovery up to the room's position.
  public init(head: RoomPosition, missed: [Publication]?, values: RoomValuesPage? = nil) {
    self.head = head
    self.missed = missed
    self.values = values
  }
}
