public import ParleyJSON

/// Messages of clients about rooms and the people in them.
extension ClientMessage {
  /// A room to hear from.
  public struct Subscribe: Sendable, Equatable {
    /// An opaque name.
    public var room: String
    /// The last publication known: what came after it is sent, or that not all of it is known.
    public var position: RoomPosition?
    /// Whether to be seen in the room, and to see who is there.
    public var isPresent: Bool

    /// Makes a subscription.
    public init(room: String, position: RoomPosition? = nil, isPresent: Bool = false) {
      self.room = room
      self.position = position
      self.isPresent = isPresent
    }
  }

  /// A room to hear from no longer.
  public struct Unsubscribe: Sendable, Equatable {
    /// The room.
    public var room: String

    /// Makes its end.
    public init(room: String) { self.room = room }
  }

  /// Something for all subscribers of a room.
  public struct Publish: Sendable, Equatable {
    /// The room.
    public var room: String
    /// Any JSON.
    public var data: JSONValue
    /// The sender's own name for it: the same one is published once.
    public var key: String?
    /// An id that the cause of the publication chose, so that its own app can ignore the
    /// publication.
    public var senderID: String?
    /// Whether the room's followers who are offline receive a push notification.
    public var pushes: Bool

    /// Makes a publication.
    public init(
      room: String, data: JSONValue, key: String? = nil, senderID: String? = nil,
      pushes: Bool = false
    ) {
      self.room = room
      self.data = data
      self.key = key
      self.senderID = senderID
      self.pushes = pushes
    }
  }

  /// Asks for a part of a room's history.
  public struct RoomHistory: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The first publications after this offset.
    public var since: Int?
    /// The last publications before this offset.
    public var before: Int?
    /// The largest number of publications wanted.
    public var limit: Int?

    /// Makes a request; with neither offset it is for the newest.
    public init(room: String, since: Int? = nil, before: Int? = nil, limit: Int? = nil) {
      self.room = room
      self.since = since
      self.before = before
      self.limit = limit
    }
  }

  /// Says that the person types, or has stopped.
  public struct Typing: Sendable, Equatable {
    /// The room.
    public var room: String
    /// Whether they do.
    public var isTyping: Bool

    /// Makes the message.
    public init(room: String, isTyping: Bool) {
      self.room = room
      self.isTyping = isTyping
    }
  }

  /// Says that a publication has come, or was read.
  public struct Receipt: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The publication's offset.
    public var offset: Int
    /// The stage reached.
    public var state: ReceiptStage

    /// Makes a receipt.
    public init(room: String, offset: Int, state: ReceiptStage) {
      self.room = room
      self.offset = offset
      self.state = state
    }
  }

  /// Asks for the receipts of a publication of one's own.
  public struct Receipts: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The publication's offset.
    public var offset: Int

    /// Makes a request.
    public init(room: String, offset: Int) {
      self.room = room
      self.offset = offset
    }
  }

  /// Asks when people were online last.
  public struct LastOnline: Sendable, Equatable {
    /// A room that they and the asker belong to.
    public var room: String
    /// The people asked about.
    public var people: [String]

    /// Makes a request.
    public init(room: String, people: [String]) {
      self.room = room
      self.people = people
    }
  }

  /// Blocks or unblocks a person.
  public struct Block: Sendable, Equatable {
    /// The person to block or unblock.
    public var personID: String
    /// Whether they are to be blocked.
    public var isBlocked: Bool

    /// Makes the message.
    public init(personID: String, isBlocked: Bool) {
      self.personID = personID
      self.isBlocked = isBlocked
    }
  }

  /// Reports a publication to the moderators, or takes the report back.
  public struct Flag: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The publication's offset.
    public var offset: Int
    /// Whether it is flagged.
    public var isFlagged: Bool
    /// Why, for the moderators.
    public var reason: String?

    /// Makes the message.
    public init(room: String, offset: Int, isFlagged: Bool, reason: String? = nil) {
      self.room = room
      self.offset = offset
      self.isFlagged = isFlagged
      self.reason = reason
    }
  }

  /// Asks for what is flagged in a room; for moderators.
  public struct Flags: Sendable, Equatable {
    /// The room.
    public var room: String

    /// Makes a request.
    public init(room: String) { self.room = room }
  }

  /// Turns push notifications of a room on or off, for the time that the client is offline.
  public struct Follow: Sendable, Equatable {
    /// The room.
    public var room: String
    /// Whether they are wanted.
    public var isFollowing: Bool

    /// Makes the message.
    public init(room: String, isFollowing: Bool) {
      self.room = room
      self.isFollowing = isFollowing
    }
  }
}
