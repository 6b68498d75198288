public import OTCore

/// A message of the server to a `parley.v1` client.
public enum ServerMessage: Sendable, Equatable {
  /// Answers `hello`.
  public struct Welcome: Sendable, Equatable {
    /// The protocol's name, which is also the WebSocket subprotocol that a client offers.
    public static let protocolName = "parley.v1"

    /// The client's id, valid beyond this connection.
    public var clientID: String
    /// Proves the client's id when it reconnects.
    public var resumeToken: String
    /// Milliseconds since 1970.
    public var serverTime: Int64
    /// Whether anyone may read and write.
    public var demo: Bool
    /// The features of this server beside documents.
    public var capabilities: [String]
    /// The server's limits.
    public var limits: Limits
    /// The person that the server takes this client for, by their token; `nil` where there is none.
    public var personID: String?

    /// Makes a welcome.
    public init(
      clientID: String, resumeToken: String, serverTime: Int64, demo: Bool,
      capabilities: [String], limits: Limits, personID: String? = nil
    ) {
      self.personID = personID
      self.clientID = clientID
      self.resumeToken = resumeToken
      self.serverTime = serverTime
      self.demo = demo
      self.capabilities = capabilities
      self.limits = limits
    }
  }

  /// A person who follows a document.
  public struct Participant: Sendable, Equatable {
    /// The client's id.
    public var clientID: String
    /// The person's name.
    public var name: String
    /// `#rrggbb`.
    public var color: String?
    /// The carets, at the message's revision.
    public var selections: [Selection]
    /// The person: the same for all devices of one user. `nil` where the client is the person.
    public var personID: String?

    /// Makes a participant.
    public init(
      clientID: String, name: String, color: String?, selections: [Selection],
      personID: String? = nil
    ) {
      self.clientID = clientID
      self.name = name
      self.color = color
      self.selections = selections
      self.personID = personID
    }
  }

  /// A change as the log contains it.
  public struct Change: Sendable, Equatable {
    /// The client id of its author.
    public var clientID: String
    /// The author's number for it.
    public var sequence: Int
    /// On the revision before.
    public var operation: TextOperation

    /// Makes a change.
    public init(clientID: String, sequence: Int, operation: TextOperation) {
      self.clientID = clientID
      self.sequence = sequence
      self.operation = operation
    }
  }

  /// Answers `create`.
  public struct Created: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The note's title now.
    public var title: String
    /// The folder that it is in now; `nil` for none.
    public var folder: String?
    /// Whether the same person had made it before.
    public var isRepeated: Bool

    /// Makes a reply.
    public init(documentID: String, title: String, folder: String? = nil, isRepeated: Bool) {
      self.documentID = documentID
      self.title = title
      self.folder = folder
      self.isRepeated = isRepeated
    }
  }

  /// Answers `join` of a client that reads pages, and has missed too much for one message.
  public struct Behind: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// Names the history.
    public var epoch: String
    /// The newest revision.
    public var revision: Int
    /// The sequence of this client's last change that the log holds, 0 for none.
    public var lastSequence: Int
    /// The outcome of the join's unanswered change, see ``Joined/settled``.
    public var settled: ChangeName?

    /// Makes a reply.
    public init(
      documentID: String, epoch: String, revision: Int, lastSequence: Int,
      settled: ChangeName? = nil
    ) {
      self.documentID = documentID
      self.epoch = epoch
      self.revision = revision
      self.lastSequence = lastSequence
      self.settled = settled
    }
  }

  /// Answers `documentHistory` with a page of changes.
  public struct DocumentHistory: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// Names the history.
    public var epoch: String
    /// The revision of the first change.
    public var revision: Int
    /// Each makes the next revision.
    public var changes: [Change]
    /// The time of the last of them, in milliseconds since 1970.
    public var time: Int64?
    /// Whether there are later changes.
    public var hasMore: Bool

    /// Makes a reply.
    public init(
      documentID: String, epoch: String, revision: Int, changes: [Change], time: Int64? = nil,
      hasMore: Bool
    ) {
      self.documentID = documentID
      self.epoch = epoch
      self.revision = revision
      self.changes = changes
      self.time = time
      self.hasMore = hasMore
    }
  }

  /// Answers `join`.
  public struct Joined: Sendable, Equatable {
    /// The content that brings the client to the revision.
    public enum Content: Sendable, Equatable {
      /// The whole text.
      case text(String)
      /// The changes since the resume point.
      case changes([Change])
    }

    /// May the client change the document?
    public enum Access: String, Sendable, CaseIterable {
      case read
      case write
    }

    /// The document.
    public var documentID: String
    /// The note's title.
    public var title: String
    /// Names the history.
    public var epoch: String
    /// The revision that the content leads to.
    public var revision: Int
    /// Text or changes.
    public var content: Content
    /// The client's last sequence that the log holds; 0 for none.
    public var lastSequence: Int
    /// The change that made the revision, for resuming there; none at revision 0.
    public var change: ChangeName?
    /// The last change that the log holds under the client id of the join's unanswered change, with
    /// sequence 0 for none. An unanswered change beyond it never becomes a revision as it was sent.
    /// `nil` if none was named, or if that cannot be promised.
    public var settled: ChangeName?
    /// The client's rights.
    public var access: Access
    /// The others; beside a count, those of them who acted last.
    public var presence: [Participant]
    /// The number of people here, this one included, where not all are named.
    public var people: Int?
    /// The numbers of the document and its authors, for clients that take them.
    public var numbers: Numbers?

    /// Makes a reply.
    public init(
      documentID: String, title: String, epoch: String, revision: Int, content: Content,
      lastSequence: Int, change: ChangeName? = nil, settled: ChangeName? = nil, access: Access,
      presence: [Participant], people: Int? = nil, numbers: Numbers? = nil
    ) {
      self.documentID = documentID
      self.title = title
      self.epoch = epoch
      self.revision = revision
      self.content = content
      self.lastSequence = lastSequence
      self.change = change
      self.settled = settled
      self.access = access
      self.presence = presence
      self.people = people
      self.numbers = numbers
    }
  }

  /// Changes by any client, in order; an own change among them is its acknowledgement.
  public struct Changes: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The revision that the first change makes.
    public var revision: Int
    /// In order, without a gap.
    public var changes: [Change]
    /// The time at which the server accepted the last of them, for resuming behind it.
    public var time: Int64?

    /// Makes a message.
    public init(documentID: String, revision: Int, changes: [Change], time: Int64? = nil) {
      self.documentID = documentID
      self.revision = revision
      self.changes = changes
      self.time = time
    }
  }

  /// Answers `change`: it is on disk and visible.
  public struct Acknowledged: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The client's number.
    public var sequence: Int
    /// The revision it made.
    public var revision: Int
    /// The time at which the server accepted it, for resuming behind it.
    public var time: Int64?

    /// Makes a reply.
    public init(documentID: String, sequence: Int, revision: Int, time: Int64? = nil) {
      self.documentID = documentID
      self.sequence = sequence
      self.revision = revision
      self.time = time
    }
  }

  /// Answers `change`: it is not in the document.
  public struct Refused: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The client's number.
    public var sequence: Int
    /// Why.
    public var code: ErrorCode
    /// Why, for people.
    public var message: String
    /// Whether the same change may succeed later.
    public var retryable: Bool
    /// Milliseconds to wait before.
    public var retryAfter: Int?

    /// Makes a reply.
    public init(
      documentID: String, sequence: Int, code: ErrorCode, message: String, retryable: Bool,
      retryAfter: Int?
    ) {
      self.documentID = documentID
      self.sequence = sequence
      self.code = code
      self.message = message
      self.retryable = retryable
      self.retryAfter = retryAfter
    }
  }

  /// The reason why the whole text is sent again.
  public enum ResyncReason: String, Sendable, CaseIterable {
    /// The changes since the client's revision are no longer kept.
    case historyGone
    /// The client was too far behind.
    case lagging
    /// The document has another history.
    case epochChanged
  }

  /// The whole text again; the client rebases its pending edits on it.
  public struct Resync: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// Why.
    public var reason: ResyncReason
    /// Names the history.
    public var epoch: String
    /// The revision of the text.
    public var revision: Int
    /// The whole text.
    public var text: String
    /// The client's last sequence that the log holds; 0 for none.
    public var lastSequence: Int
    /// The change that made the revision, for resuming there; none at revision 0.
    public var change: ChangeName?

    /// Makes a message.
    public init(
      documentID: String, reason: ResyncReason, epoch: String, revision: Int, text: String,
      lastSequence: Int, change: ChangeName? = nil
    ) {
      self.documentID = documentID
      self.reason = reason
      self.epoch = epoch
      self.revision = revision
      self.text = text
      self.lastSequence = lastSequence
      self.change = change
    }
  }

  /// The carets of a person.
  public struct Selections: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The revision whose text they are on.
    public var revision: Int
    /// The client id of their owner.
    public var clientID: String
    /// In Unicode scalars.
    public var selections: [Selection]

    /// Makes a message.
    public init(documentID: String, revision: Int, clientID: String, selections: [Selection]) {
      self.documentID = documentID
      self.revision = revision
      self.clientID = clientID
      self.selections = selections
    }
  }

  /// The presence changes in a document.
  public struct Presence: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// People who have entered.
    public var joined: [Participant]
    /// People whose name or colour has changed.
    public var updated: [Participant]
    /// The ids of the people who have left, or are only counted from now on.
    public var left: [String]
    /// The number of people here, the reader included; `nil` where all are named.
    public var people: Int?

    /// Makes a message.
    public init(
      documentID: String, joined: [Participant], updated: [Participant], left: [String],
      people: Int? = nil
    ) {
      self.documentID = documentID
      self.joined = joined
      self.updated = updated
      self.left = left
      self.people = people
    }
  }

  /// Answers `leave`.
  public struct Left: Sendable, Equatable {
    /// The document.
    public var documentID: String

    /// Makes a reply.
    public init(documentID: String) { self.documentID = documentID }
  }

  /// A note was renamed or deleted.
  public struct DocumentChanged: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The new title.
    public var title: String?
    /// Whether it is gone.
    public var deleted: Bool

    /// Makes a message.
    public init(documentID: String, title: String?, deleted: Bool) {
      self.documentID = documentID
      self.title = title
      self.deleted = deleted
    }
  }

  /// Answers a message that could not be done.
  public struct Failure: Sendable, Equatable {
    /// Why.
    public var code: ErrorCode
    /// Why, for people.
    public var message: String
    /// Whether the same message may succeed later.
    public var retryable: Bool
    /// Milliseconds to wait before.
    public var retryAfter: Int?

    /// Makes a reply.
    public init(code: ErrorCode, message: String, retryable: Bool, retryAfter: Int?) {
      self.code = code
      self.message = message
      self.retryable = retryable
      self.retryAfter = retryAfter
    }
  }

  /// The server is about to close the connection.
  public struct Goodbye: Sendable, Equatable {
    /// In a word.
    public var reason: String
    /// Milliseconds, from which a client draws its own delay.
    public var reconnectAfter: ClosedRange<Int>

    /// Makes a message.
    public init(reason: String, reconnectAfter: ClosedRange<Int>) {
      self.reason = reason
      self.reconnectAfter = reconnectAfter
    }
  }

  /// Answers `ping`.
  public struct Pong: Sendable, Equatable {
    /// Milliseconds since 1970.
    public var serverTime: Int64

    /// Makes a reply.
    public init(serverTime: Int64) { self.serverTime = serverTime }
  }

  case welcome(Welcome)
  case refreshed(Refreshed)
  case granted(Refreshed)
  case tokenExpiring(TokenExpiring)
  case accessChanged(AccessChanged)
  case joined(Joined)
  case created(Created)
  case behind(Behind)
  case documentHistory(DocumentHistory)
  case changes(Changes)
  /// Changes with numbers in place of ids, for clients that take them.
  case numberedChanges(NumberedChanges)
  case acknowledged(Acknowledged)
  case refused(Refused)
  case resync(Resync)
  case selections(Selections)
  case presence(Presence)
  case left(Left)
  case subscribed(Subscribed)
  case unsubscribed(Unsubscribed)
  case published(Published)
  case publication(RoomPublication)
  case roomHistory(RoomHistory)
  case roomPresence(PresenceChange)
  case typing(Typing)
  case receipt(Receipt)
  case receipts(Receipts)
  case lastOnline(LastOnline)
  case blocks(Blocks)
  case flag(Flag)
  case flags(Flags)
  case following(Following)
  case resourceUpdate(ResourceUpdate)
  case documentChanged(DocumentChanged)
  case error(Failure)
  case goodbye(Goodbye)
  case pong(Pong)
  /// A type that this version does not know.
  case unknown(type: String)
}

/// A resource has changed; who is interested fetches it again.
public struct ResourceUpdate: Sendable, Equatable {
  /// The resource.
  public var resourceID: String
  /// An id that the cause of the change chose, so that its own app can ignore the change.
  public var senderID: String?

  /// Makes an update.
  public init(resourceID: String, senderID: String?) {
    self.resourceID = resourceID
    self.senderID = senderID
  }
}
