public import ParleyModel

/// Messages of the server about rooms and the people in them.
extension ServerMessage {
  /// Answers `subscribe`.
  public struct Subscribed: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The room's position: the next publication has the following offset.
    public var position: RoomPosition
    /// Whether `publications` is all that came after the position asked for; `nil` if none was.
    public var isRecovered: Bool?
    /// The missed publications, in order.
    public var publications: [Publication]
    /// The people present; `nil` if presence was not asked for.
    public var present: [PersonProfile]?

    /// Makes a reply.
    public init(
      room: String, position: RoomPosition, isRecovered: Bool? = nil,
      publications: [Publication] = [], present: [PersonProfile]? = nil
    ) {
      self.room = room
      self.position = position
      self.isRecovered = isRecovered
      self.publications = publications
      self.present = present
    }
  }

  /// Answers `unsubscribe`, or says that a room may no longer be heard from.
  public struct Unsubscribed: Sendable, Equatable {
    /// The room.
    public var room: String

    /// Makes a reply.
    public init(room: String) { self.room = room }
  }

  /// Answers `publish`.
  public struct Published: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The place it has.
    public var position: RoomPosition
    /// Whether it was published before, under the same key.
    public var isRepeated: Bool

    /// Makes a reply.
    public init(room: String, position: RoomPosition, isRepeated: Bool) {
      self.room = room
      self.position = position
      self.isRepeated = isRepeated
    }
  }

  /// Something was published.
  public struct RoomPublication: Sendable, Equatable {
    /// The room.
    public var room: String
    /// Names the history that the offset counts.
    public var epoch: String
    /// The publication.
    public var publication: Publication

    /// Makes a push.
    public init(room: String, epoch: String, publication: Publication) {
      self.room = room
      self.epoch = epoch
      self.publication = publication
    }
  }

  /// Answers `roomHistory`.
  public struct RoomHistory: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The room's position.
    public var position: RoomPosition
    /// Oldest first.
    public var publications: [Publication]
    /// Whether publications right after `since` are no longer kept.
    public var hasGap: Bool
    /// Whether there is more in the same direction.
    public var hasMore: Bool

    /// Makes a reply.
    public init(
      room: String, position: RoomPosition, publications: [Publication], hasGap: Bool,
      hasMore: Bool
    ) {
      self.room = room
      self.position = position
      self.publications = publications
      self.hasGap = hasGap
      self.hasMore = hasMore
    }
  }

  /// A person types in a room, or has stopped.
  public struct Typing: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The person's id.
    public var personID: String
    /// Whether they do.
    public var isTyping: Bool

    /// Makes a push.
    public init(room: String, personID: String, isTyping: Bool) {
      self.room = room
      self.personID = personID
      self.isTyping = isTyping
    }
  }

  /// Answers `receipt` with what now holds; tells an author that it holds.
  public struct Receipt: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The publication's offset.
    public var offset: Int
    /// The person who received or read the publication.
    public var personID: String
    /// The stage reached.
    public var state: ReceiptStage

    /// Makes a message.
    public init(room: String, offset: Int, personID: String, state: ReceiptStage) {
      self.room = room
      self.offset = offset
      self.personID = personID
      self.state = state
    }
  }

  /// Answers `receipts`.
  public struct Receipts: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The publication's offset.
    public var offset: Int
    /// The people who have reported a stage.
    public var receipts: [ParleyModel.Receipt]

    /// Makes a reply.
    public init(room: String, offset: Int, receipts: [ParleyModel.Receipt]) {
      self.room = room
      self.offset = offset
      self.receipts = receipts
    }
  }

  /// Answers `lastOnline`.
  public struct LastOnline: Sendable, Equatable {
    /// The time at which a person was last online.
    public struct Item: Sendable, Equatable {
      /// The person's id.
      public var personID: String
      /// Whether they are now.
      public var isOnline: Bool
      /// The time at which their last connection ended, in milliseconds since 1970; `nil` if none
      /// has.
      public var time: Int64?

      /// Makes an item.
      public init(personID: String, isOnline: Bool, time: Int64?) {
        self.personID = personID
        self.isOnline = isOnline
        self.time = time
      }
    }

    /// The room.
    public var room: String
    /// The people that the asker is allowed to see.
    public var people: [Item]

    /// Makes a reply.
    public init(room: String, people: [Item]) {
      self.room = room
      self.people = people
    }
  }

  /// Answers `block` and `blocks` with all people that the person blocks.
  public struct Blocks: Sendable, Equatable {
    /// Their ids.
    public var people: [String]

    /// Makes a reply.
    public init(people: [String]) { self.people = people }
  }

  /// Answers `flag`; tells moderators of it.
  public struct Flag: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The publication's offset.
    public var offset: Int
    /// The person who flags it.
    public var personID: String
    /// Whether it is flagged by them.
    public var isFlagged: Bool
    /// Why.
    public var reason: String?

    /// Makes a message.
    public init(room: String, offset: Int, personID: String, isFlagged: Bool, reason: String?) {
      self.room = room
      self.offset = offset
      self.personID = personID
      self.isFlagged = isFlagged
      self.reason = reason
    }
  }

  /// Answers `flags`.
  public struct Flags: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The newest publications' first.
    public var flags: [PublicationFlag]

    /// Makes a reply.
    public init(room: String, flags: [PublicationFlag]) {
      self.room = room
      self.flags = flags
    }
  }

  /// Answers `follow`.
  public struct Following: Sendable, Equatable {
    /// The room.
    public var room: String
    /// Whether push notifications come.
    public var isFollowing: Bool

    /// Makes a reply.
    public init(room: String, isFollowing: Bool) {
      self.room = room
      self.isFollowing = isFollowing
    }
  }
}
