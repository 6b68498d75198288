public import ParleyJSON

/// Messages of clients about rooms and the people in them.
extension ClientMessage {
  /// A request to subscribe to a room.
  public struct Subscribe: Sendable, Equatable {
    /// The room's opaque name.
    public var room: String
    /// The position of the last publication known. The reply contains the later ones, or says that
    /// not all of them are available.
    public var position: RoomPosition?
    /// Whether the person is shown as present in the room and sees who else is present.
    public var isPresent: Bool
    #if !hasFeature(Embedded)
      /// The names of the values that the reply contains, unless it contains the missed
      /// publications. If set, the subscription also receives the operations on values.
      public var values: ValueNames?
      /// Whether a slow subscriber receives the newest values in place of the publications between.
      public var isLatest = false
      /// The data with which the person is shown as present; `nil` for none.
      public var presenceData: JSONValue?
    #endif

    /// Creates a subscription, by default without presence.
    public init(room: String, position: RoomPosition? = nil, isPresent: Bool = false) {
      self.room = room
      self.position = position
      self.isPresent = isPresent
    }
  }

  /// A request to end a subscription.
  public struct Unsubscribe: Sendable, Equatable {
    /// The room.
    public var room: String

    /// Creates a request to unsubscribe from a room.
    public init(room: String) { self.room = room }
  }

  /// A publication for all subscribers of a room.
  public struct Publish: Sendable, Equatable {
    /// The room.
    public var room: String
    #if hasFeature(Embedded)
      /// Any JSON.
      public var data: JSONValue
    #else
      /// Any JSON; `nil` for a publication that only changes values.
      public var data: JSONValue?
      /// The operations on the room's values; `nil` for none.
      public var values: ValueOperationList?
      /// The offset at which each of these names must have changed last; 0 if it must not exist.
      public var ifOffsets: ValueOffsets?
      /// The position that the room's head must have.
      public var ifPosition: RoomPosition?
    #endif
    /// The sender's id for the publication: publications with the same key are stored once.
    public var key: String?
    /// An id that the cause of the publication chose, so that its own app can ignore the
    /// publication.
    public var senderID: String?
    /// Whether the room's followers who are offline receive a push notification.
    public var pushes: Bool

    /// Creates a publication, by default without a key and without push notifications.
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

  #if !hasFeature(Embedded)
    /// A request for values of a room.
    public struct Values: Sendable, Equatable {
      /// The room.
      public var room: String
      /// The prefix of the names.
      public var prefix: String
      /// The last name known: the reply contains later ones.
      public var after: ValueName?

      /// Creates a request, by default for all values from the first one on.
      public init(room: String, prefix: String = "", after: ValueName? = nil) {
        self.room = room
        self.prefix = prefix
        self.after = after
      }
    }

    /// New data with which the person is present in a room.
    public struct RoomPresence: Sendable, Equatable {
      /// The room.
      public var room: String
      /// The data; `nil` for none.
      public var data: JSONValue?

      /// Creates a message.
      public init(room: String, data: JSONValue?) {
        self.room = room
        self.data = data
      }
    }

    /// An event for the subscribers of a room that is not stored.
    public struct Signal: Sendable, Equatable {
      /// The room.
      public var room: String
      /// The name, which the sender chooses: a later signal of the same name replaces one that was
      /// not sent yet.
      public var name: String
      /// Any JSON.
      public var data: JSONValue

      /// Creates a signal.
      public init(room: String, name: String, data: JSONValue) {
        self.room = room
        self.name = name
        self.data = data
      }
    }
  #endif

  /// A request for a part of a room's history.
  public struct RoomHistory: Sendable, Equatable {
    /// The room.
    public var room: String
    /// Requests the first publications after this offset.
    public var since: Int?
    /// Requests the last publications before this offset.
    public var before: Int?
    /// Maximum publications in the reply.
    public var limit: Int?

    /// Creates a request. Without an offset it is for the newest publications.
    public init(room: String, since: Int? = nil, before: Int? = nil, limit: Int? = nil) {
      self.room = room
      self.since = since
      self.before = before
      self.limit = limit
    }
  }

  /// The person has begun or stopped typing.
  public struct Typing: Sendable, Equatable {
    /// The room.
    public var room: String
    /// Whether the person is typing.
    public var isTyping: Bool

    /// Creates the message.
    public init(room: String, isTyping: Bool) {
      self.room = room
      self.isTyping = isTyping
    }
  }

  /// A receipt: a publication was delivered or read.
  public struct Receipt: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The publication's offset.
    public var offset: Int
    /// The stage that the publication has reached.
    public var state: ReceiptStage

    /// Creates a receipt.
    public init(room: String, offset: Int, state: ReceiptStage) {
      self.room = room
      self.offset = offset
      self.state = state
    }
  }

  /// A request for the receipts of the sender's own publication.
  public struct Receipts: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The publication's offset.
    public var offset: Int

    /// Creates a request for a publication's receipts.
    public init(room: String, offset: Int) {
      self.room = room
      self.offset = offset
    }
  }

  /// A request for the times at which people were last online.
  public struct LastOnline: Sendable, Equatable {
    /// A room to which the requester and the people belong.
    public var room: String
    /// The ids of the people.
    public var people: [String]

    /// Creates a request for some people of a room.
    public init(room: String, people: [String]) {
      self.room = room
      self.people = people
    }
  }

  /// A request to block or unblock a person.
  public struct Block: Sendable, Equatable {
    /// The person to block or unblock.
    public var personID: String
    /// Whether to block the person; `false` unblocks.
    public var isBlocked: Bool

    /// Creates the message.
    public init(personID: String, isBlocked: Bool) {
      self.personID = personID
      self.isBlocked = isBlocked
    }
  }

  /// A report of a publication to the moderators, or its withdrawal.
  public struct Flag: Sendable, Equatable {
    /// The room.
    public var room: String
    /// The publication's offset.
    public var offset: Int
    /// Whether the publication is reported; `false` withdraws the report.
    public var isFlagged: Bool
    /// The reason, for the moderators.
    public var reason: String?

    /// Creates a report, or its withdrawal.
    public init(room: String, offset: Int, isFlagged: Bool, reason: String? = nil) {
      self.room = room
      self.offset = offset
      self.isFlagged = isFlagged
      self.reason = reason
    }
  }

  /// A request for the reports in a room, for moderators.
  public struct Flags: Sendable, Equatable {
    /// The room.
    public var room: String

    /// Creates a request for a room's reports.
    public init(room: String) { self.room = room }
  }

  /// A request to turn push notifications of a room on or off. They are sent while the client is
  /// offline.
  public struct Follow: Sendable, Equatable {
    /// The room.
    public var room: String
    /// Whether push notifications are wanted.
    public var isFollowing: Bool

    /// Creates the message.
    public init(room: String, isFollowing: Bool) {
      self.room = room
      self.isFollowing = isFollowing
    }
  }
}
