public import ParleyJSON

/// The limits of a room's history. Publications beyond either limit are dropped.
public struct RoomMemory: Sendable, Hashable {
  /// Newest publications that are kept, at most; 0 keeps none.
  public var publicationsMax: Int
  /// Milliseconds that each is kept, at most.
  public var ageMax: Timestamp

  /// Makes limits.
  public init(publicationsMax: Int, ageMax: Timestamp) {
    self.publicationsMax = publicationsMax
    self.ageMax = ageMax
  }

  /// The default: a thousand publications of the last day.
  public static let standard = RoomMemory(publicationsMax: 1_000, ageMax: 86_400_000)
}

/// A publication for the store.
public struct PublicationDraft: Sendable, Equatable {
  /// The publisher's own name for it: the same one in the same room is published once.
  public var key: String?
  /// The publication; the store sets its offset.
  public var publication: Publication
  /// Whether followers of the room who are offline are to be notified.
  public var pushes: Bool

  /// Makes a draft.
  public init(
    key: String? = nil, time: Timestamp, personID: PersonID? = nil, senderID: String? = nil,
    data: JSONValue, pushes: Bool = false
  ) {
    self.key = key
    self.pushes = pushes
    publication = Publication(
      offset: 0, time: time, personID: personID, senderID: senderID, data: data)
  }
}

/// The part of a history to read.
public enum RoomRange: Sendable, Hashable {
  /// The newest.
  case newest
  /// The first ones after an offset.
  case since(Int)
  /// The last ones before an offset.
  case before(Int)
}

/// Work with rooms. The store numbers publications, so there is one order.
public enum RoomRequest: Sendable {
  /// Publishes. Keys younger than `keyAge` milliseconds are remembered, at least.
  case publish(RoomName, PublicationDraft, memory: RoomMemory, keyAge: Timestamp)
  /// Reads at most `limit` publications, oldest first, and of more than one at most `bytesMax`
  /// bytes of data.
  case page(
    RoomName, RoomRange, limit: Int, bytesMax: Int, memory: RoomMemory, now: Timestamp)
  /// Reads everything after a position, or nothing; without a position, the room's current one.
  case recover(
    RoomName, from: RoomPosition?, limit: Int, bytesMax: Int, memory: RoomMemory, now: Timestamp)
  /// Continues under another epoch, because a client knows of publications that were lost.
  case renewEpoch(RoomName, from: String, to: String)
  /// Reads the heads of many rooms, for a node that has their publications up to a place.
  case heads([RoomName])

  /// Its traits.
  public var traits: StoreTraits {
    switch self {
    case .publish(let room, let draft, _, _):
      .writing(locking: .newRoom(room), textByteCount: draft.publication.data.utf8.count)
    case .renewEpoch(let room, _, _): .writing(locking: .newRoom(room))
    case .page, .recover, .heads: .reading()
    }
  }
}

/// The reply to a request about a room.
public enum RoomReply: Sendable, Equatable {
  /// It is published, at this place and time, now or earlier under the same key.
  case published(RoomPosition, time: Timestamp, isRepeated: Bool)
  /// The key was used for another publication.
  case keyReused
  /// A part of the history.
  case page(RoomPage)
  /// The publications to continue with.
  case recovery(RoomRecovery)
  /// The rooms' heads, in the order in which they were asked for.
  case heads([RoomHead])
}

/// The end of a room's history.
public struct RoomHead: Sendable, Equatable {
  /// The room's position.
  public var position: RoomPosition
  /// The time of the newest publication; 0 before the first one.
  ///
  /// After a failover two histories may have the same position and not the same publications.
  public var time: Timestamp

  /// Makes a head.
  public init(position: RoomPosition, time: Timestamp) {
    self.position = position
    self.time = time
  }
}

/// A part of a room's history.
public struct RoomPage: Sendable, Equatable {
  /// The room's position.
  public var head: RoomPosition
  /// Oldest first.
  public var publications: [Publication]
  /// Whether publications right after the `since` asked for are no longer kept.
  public var hasGap: Bool
  /// Whether there is more in the same direction.
  public var hasMore: Bool

  /// Makes a page.
  public init(head: RoomPosition, publications: [Publication], hasGap: Bool, hasMore: Bool) {
    self.head = head
    self.publications = publications
    self.hasGap = hasGap
    self.hasMore = hasMore
  }
}

/// The continuation of a subscription from a position.
public struct RoomRecovery: Sendable, Equatable {
  /// The room's position.
  public var head: RoomPosition
  /// All that was missed; `nil` if not all of it is known, or none was asked for.
  public var missed: [Publication]?

  /// Makes a recovery.
  public init(head: RoomPosition, missed: [Publication]?) {
    self.head = head
    self.missed = missed
  }
}
