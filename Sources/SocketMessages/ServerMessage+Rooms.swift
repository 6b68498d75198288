public import ParleyJSON
public import ParleyModel

/// Messages of the server about rooms and the people in them.
extension ServerMessage {
  /// The reply to `subscribe`.
  public struct Subscribed: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The room's position. The next publication has the following offset.
    public var position: RoomPosition
    /// Whether `publications` contains all publications after the requested position; `nil` without
    /// such a position.
    public var isRecovered: Bool?
    /// The missed publications, in order.
    public var publications: [Publication]
    /// The people present; `nil` if presence was not requested.
    public var present: [PersonProfile]?
    #if !hasFeature(Embedded)
      /// Values at the position; `nil` if they were not requested, or `publications` contains all
      /// that was missed.
      public var values: NamedValues?
      /// Whether there are more values after the last one.
      public var hasMore = false
    #endif

    /// Creates a reply, by default without publications and presence.
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

  /// The reply to `unsubscribe`, or the push that the right to read the room has ended.
  public struct Unsubscribed: Sendable, Equatable {
    /// The room.
    public var room: String

    /// Creates a reply.
    public init(room: String) { self.room = room }
  }

  /// The reply to `publish`.
  public struct Published: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The publication's position.
    public var position: RoomPosition
    /// Whether the publication was stored before under the same key.
    public var isRepeated: Bool

    /// Creates a reply.
    public init(room: String, position: RoomPosition, isRepeated: Bool) {
      self.room = room
      self.position = position
      self.isRepeated = isRepeated
    }
  }

  /// A push with a publication.
  public struct RoomPublication: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The id of the history that the offset counts in.
    public var epoch: Epoch
    /// The publication.
    public var publication: Publication

    /// Creates a push.
    public init(room: String, epoch: Epoch, publication: Publication) {
      self.room = room
      self.epoch = epoch
      self.publication = publication
    }
  }

  /// The reply to `roomHistory`.
  public struct RoomHistory: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The room's position.
    public var position: RoomPosition
    /// The publications, oldest first.
    public var publications: [Publication]
    /// Whether publications directly after `since` have been deleted.
    public var hasGap: Bool
    /// Whether there are more publications in the same direction.
    public var hasMore: Bool

    /// Creates a reply.
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

  #if !hasFeature(Embedded)
    /// The reply to `values`. As a push, it replaces all values, because the reader was too slow for
    /// each publication.
    public struct Values: Sendable, Equatable {
      /// The room.
      public var room: String
      /// The position at which these are the values.
      public var position: RoomPosition
      /// The values, in the order of their names.
      public var values: NamedValues
      /// Whether there are more values after the last one.
      public var hasMore: Bool

      /// Creates a reply.
      public init(room: String, position: RoomPosition, values: NamedValues, hasMore: Bool) {
        self.room = room
        self.position = position
        self.values = values
        self.hasMore = hasMore
      }
    }

    /// A push: an event of another subscriber.
    public struct Signal: Sendable, Equatable {
      /// The room.
      public var room: String
      /// The id of the client that sent it; `nil` for a backend.
      public var clientID: String?
      /// The person who sent it; `nil` for a backend.
      public var personID: PersonID?
      /// The name that the sender chose.
      public var name: String
      /// Any JSON.
      public var data: JSONValue

      /// Creates a push.
      public init(
        room: String, clientID: String?, personID: PersonID?, name: String, data: JSONValue
      ) {
        self.room = room
        self.clientID = clientID
        self.personID = personID
        self.name = name
        self.data = data
      }
    }
  #endif

  /// A push: a person has begun or stopped typing in a room.
  public struct Typing: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The person's id.
    public var personID: String
    /// Whether the person is typing.
    public var isTyping: Bool

    /// Creates a push.
    public init(room: String, personID: String, isTyping: Bool) {
      self.room = room
      self.personID = personID
      self.isTyping = isTyping
    }
  }

  /// The stage that a publication has reached with a person. Replies to `receipt`, and notifies the
  /// publication's author.
  public struct Receipt: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The publication's offset.
    public var offset: Int
    /// The person who received or read the publication.
    public var personID: String
    /// The stage that the publication has reached.
    public var state: ReceiptStage

    /// Creates a message.
    public init(room: String, offset: Int, personID: String, state: ReceiptStage) {
      self.room = room
      self.offset = offset
      self.personID = personID
      self.state = state
    }
  }

  /// The reply to `receipts`.
  public struct Receipts: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The publication's offset.
    public var offset: Int
    /// The receipts of the people who have reported a stage.
    public var receipts: [ParleyModel.Receipt]

    /// Creates a reply.
    public init(room: String, offset: Int, receipts: [ParleyModel.Receipt]) {
      self.room = room
      self.offset = offset
      self.receipts = receipts
    }
  }

  /// The reply to `lastOnline`.
  public struct LastOnline: Sendable, Equatable {
    /// The time at which a person was last online.
    public struct Item: Sendable, Equatable {
      /// The person's id.
      public var personID: String
      /// Whether the person is online.
      public var isOnline: Bool
      /// The time at which the person's last connection ended, in milliseconds since 1970; `nil` if
      /// none has ended.
      public var time: Int64?

      /// Creates an item.
      public init(personID: String, isOnline: Bool, time: Int64?) {
        self.personID = personID
        self.isOnline = isOnline
        self.time = time
      }
    }

    /// The room.
    public var room: String
    /// The people that the requester may see.
    public var people: [Item]

    /// Creates a reply.
    public init(room: String, people: [Item]) {
      self.room = room
      self.people = people
    }
  }

  /// The reply to `block` and `blocks`: all people that the person blocks.
  public struct Blocks: Sendable, Equatable {
    /// The ids of the blocked people.
    public var people: [String]

    /// Creates a reply.
    public init(people: [String]) { self.people = people }
  }

  /// A report of a publication, or its withdrawal. Replies to `flag`, and notifies moderators.
  public struct Flag: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The publication's offset.
    public var offset: Int
    /// The person who reports the publication.
    public var personID: String
    /// Whether the person reports it; `false` after a withdrawal.
    public var isFlagged: Bool
    /// The reason that the person gave.
    public var reason: String?

    /// Creates a message.
    public init(room: String, offset: Int, personID: String, isFlagged: Bool, reason: String?) {
      self.room = room
      self.offset = offset
      self.personID = personID
      self.isFlagged = isFlagged
      self.reason = reason
    }
  }

  /// The reply to `flags`.
  public struct Flags: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The reports, newest publications first.
    public var flags: [PublicationFlag]

    /// Creates a reply.
    public init(room: String, flags: [PublicationFlag]) {
      self.room = room
      self.flags = flags
    }
  }

  /// The reply to `follow`.
  public struct Following: Sendable, Equatable {
    /// The room.
    public var room: String
    /// Whether push notifications are sent.
    public var isFollowing: Bool

    /// Creates a reply.
    public init(room: String, isFollowing: Bool) {
      self.room = room
      self.isFollowing = isFollowing
    }
  }
}
