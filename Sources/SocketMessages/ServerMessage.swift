public import OTCore

/// A message of the server to a `parley.v1` client.
public enum ServerMessage: Sendable, Equatable {
  /// The reply to `hello`.
  public struct Welcome: Sendable, Equatable {
    /// The protocol's name, which is also the WebSocket subprotocol that a client offers.
    public static let protocolName = "parley.v1"

    /// The client's id, valid beyond this connection.
    public var clientID: String
    /// The token that proves the client's id when the client reconnects.
    public var resumeToken: String
    /// The server's time, in milliseconds since 1970.
    public var serverTime: Int64
    /// Whether anyone may read and write, without a token.
    public var demo: Bool
    /// The features of this server other than documents.
    public var capabilities: [String]
    /// The server's limits.
    public var limits: Limits
    /// The person that the client's token names; `nil` without one.
    public var personID: String?

    /// Creates a welcome.
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
    /// The person's colour, `#rrggbb`.
    public var color: String?
    /// The selections, on the message's revision.
    public var selections: [Selection]
    /// The person's id, the same on all devices of one user; `nil` if the client id identifies the
    /// person.
    public var personID: String?

    /// Creates a participant.
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
    /// The author's client id.
    public var clientID: String
    /// The author's sequence number for the change.
    public var sequence: Int
    /// The operation, on the previous revision.
    public var operation: TextOperation
    /// The formatting; `nil` if missing.
    public var format: FormatJSON?

    /// Creates a change.
    public init(
      clientID: String, sequence: Int, operation: TextOperation, format: FormatJSON? = nil
    ) {
      self.clientID = clientID
      self.sequence = sequence
      self.operation = operation
      self.format = format
    }
  }

  /// The reply to `create`.
  public struct Created: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The note's present title.
    public var title: String
    /// The note's present folder; `nil` for none.
    public var folder: String?
    /// Whether the same person has created the note before.
    public var isRepeated: Bool

    /// Creates a reply.
    public init(documentID: String, title: String, folder: String? = nil, isRepeated: Bool) {
      self.documentID = documentID
      self.title = title
      self.folder = folder
      self.isRepeated = isRepeated
    }
  }

  /// The reply to `join` if the client reads pages and has missed too much for one message.
  public struct Behind: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The id of the history that the revision counts in.
    public var epoch: String
    /// The newest revision.
    public var revision: Int
    /// The sequence of this client's last change in the log; 0 for none.
    public var lastSequence: Int
    /// The outcome of the join's unanswered change, see ``Joined/settled``.
    public var settled: ChangeName?

    /// Creates a reply.
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

  /// The reply to `documentHistory`: a page of changes.
  public struct DocumentHistory: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The id of the history that the revision counts in.
    public var epoch: String
    /// The revision of the first change.
    public var revision: Int
    /// The changes; each creates the next revision.
    public var changes: [Change]
    /// The time of the last change, in milliseconds since 1970.
    public var time: Int64?
    /// Whether there are later changes.
    public var hasMore: Bool

    /// Creates a reply.
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

  /// The reply to `join`.
  public struct Joined: Sendable, Equatable {
    /// The content that brings the client to the revision.
    public enum Content: Sendable, Equatable {
      /// The whole text.
      case text(String)
      /// The changes since the resume point.
      case changes([Change])
    }

    /// The client's rights to the document.
    public enum Access: String, Sendable, CaseIterable {
      case read
      case write
    }

    /// The document.
    public var documentID: String
    /// The note's title.
    public var title: String
    /// The id of the history that the revision counts in.
    public var epoch: String
    /// The revision of the document with the content.
    public var revision: Int
    /// The kind of the note, unless it is a plain one.
    public var kind: NoteKind?
    /// The text, or the missed changes.
    public var content: Content
    /// The attributes of the text, for clients that know formatting.
    public var format: FormatJSON?
    /// The sequence of this client's last change in the log; 0 for none.
    public var lastSequence: Int
    /// The change that created the revision, for resuming from it; `nil` at revision 0.
    public var change: ChangeName?
    /// The last change in the log of the client that the join's unanswered change names; its
    /// sequence is 0 if missing. If the unanswered change is later, it will never be stored
    /// as it was sent. `nil` if the join named none, or if the server cannot promise it.
    public var settled: ChangeName?
    /// The client's rights.
    public var access: Access
    /// The other participants. If `people` is given, only those with the latest actions.
    public var presence: [Participant]
    /// The number of people in the document, this one included; `nil` if `presence` lists all.
    public var people: Int?
    /// The numbers of the document and its authors, for clients that use numbers.
    public var numbers: Numbers?

    /// Creates a reply.
    public init(
      documentID: String, title: String, epoch: String, revision: Int, content: Content,
      lastSequence: Int, change: ChangeName? = nil, settled: ChangeName? = nil, access: Access,
      presence: [Participant], people: Int? = nil, numbers: Numbers? = nil,
      kind: NoteKind? = nil, format: FormatJSON? = nil
    ) {
      self.kind = kind
      self.format = format
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

  /// Consecutive changes by any client. The client's own change among them is its acknowledgement.
  public struct Changes: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The revision that the first change creates.
    public var revision: Int
    /// The changes, in order and without a gap.
    public var changes: [Change]
    /// The time at which the server accepted the last change, for resuming after it.
    public var time: Int64?

    /// Creates a message.
    public init(documentID: String, revision: Int, changes: [Change], time: Int64? = nil) {
      self.documentID = documentID
      self.revision = revision
      self.changes = changes
      self.time = time
    }
  }

  /// The reply to `change`: the change is durable and visible to others.
  public struct Acknowledged: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The client's sequence number for the change.
    public var sequence: Int
    /// The revision that the change created.
    public var revision: Int
    /// The time at which the server accepted the change, for resuming after it.
    public var time: Int64?

    /// Creates a reply.
    public init(documentID: String, sequence: Int, revision: Int, time: Int64? = nil) {
      self.documentID = documentID
      self.sequence = sequence
      self.revision = revision
      self.time = time
    }
  }

  /// The reply to `change`: the change is rejected.
  public struct Refused: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The client's sequence number for the change.
    public var sequence: Int
    /// The error code.
    public var code: ErrorCode
    /// The reason, for people.
    public var message: String
    /// Whether the same change may succeed later.
    public var retryable: Bool
    /// Milliseconds to wait before a retry.
    public var retryAfter: Int?
    #if !hasFeature(Embedded)
      /// The newest revision, if an exact change is on another one.
      public var revision: Int?
    #endif

    /// Creates a reply.
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

  /// The reason for sending the whole text again.
  public enum ResyncReason: String, Sendable, CaseIterable {
    /// The server has deleted changes since the client's revision.
    case historyGone
    /// The client's revision was too old.
    case lagging
    /// The document has another history.
    case epochChanged
  }

  /// A push with the whole text. The client rebases its pending edits on it.
  public struct Resync: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The reason for the resync.
    public var reason: ResyncReason
    /// The id of the history that the revision counts in.
    public var epoch: String
    /// The revision of the text.
    public var revision: Int
    /// The kind of the note, unless it is a plain one.
    public var kind: NoteKind?
    /// The whole text.
    public var text: String
    /// The attributes of the text, for clients that know formatting.
    public var format: FormatJSON?
    /// The sequence of this client's last change in the log; 0 for none.
    public var lastSequence: Int
    /// The change that created the revision, for resuming from it; `nil` at revision 0.
    public var change: ChangeName?

    /// Creates a message.
    public init(
      documentID: String, reason: ResyncReason, epoch: String, revision: Int, text: String,
      lastSequence: Int, change: ChangeName? = nil, kind: NoteKind? = nil,
      format: FormatJSON? = nil
    ) {
      self.kind = kind
      self.format = format
      self.documentID = documentID
      self.reason = reason
      self.epoch = epoch
      self.revision = revision
      self.text = text
      self.lastSequence = lastSequence
      self.change = change
    }
  }

  /// A push with a person's selections.
  public struct Selections: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The revision whose text the selections refer to.
    public var revision: Int
    /// The client id of the person.
    public var clientID: String
    /// The selections, in Unicode scalars.
    public var selections: [Selection]

    /// Creates a message.
    public init(documentID: String, revision: Int, clientID: String, selections: [Selection]) {
      self.documentID = documentID
      self.revision = revision
      self.clientID = clientID
      self.selections = selections
    }
  }

  /// A push with changes of the participants of a document.
  public struct Presence: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// People who have entered.
    public var joined: [Participant]
    /// People whose name or colour has changed.
    public var updated: [Participant]
    /// The client ids of people who have left, or are now only counted.
    public var left: [String]
    /// The number of people in the document, the reader included; `nil` if all are named.
    public var people: Int?

    /// Creates a message.
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

  /// The reply to `leave`.
  public struct Left: Sendable, Equatable {
    /// The document.
    public var documentID: String

    /// Creates a reply.
    public init(documentID: String) { self.documentID = documentID }
  }

  /// A push: a note was renamed or deleted.
  public struct DocumentChanged: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The new title.
    public var title: String?
    /// Whether the note was deleted.
    public var deleted: Bool

    /// Creates a message.
    public init(documentID: String, title: String?, deleted: Bool) {
      self.documentID = documentID
      self.title = title
      self.deleted = deleted
    }
  }

  /// The reply to a message that failed.
  public struct Failure: Sendable, Equatable {
    /// The error code.
    public var code: ErrorCode
    /// The reason, for people.
    public var message: String
    /// Whether the same message may succeed later.
    public var retryable: Bool
    /// Milliseconds to wait before a retry.
    public var retryAfter: Int?
    #if !hasFeature(Embedded)
      /// The room's head, after a condition on the position.
      public var position: RoomPosition?
      /// The current values of the names that have changed, after conditions on offsets.
      public var values: NamedValues?
    #endif

    /// Creates a reply.
    public init(code: ErrorCode, message: String, retryable: Bool, retryAfter: Int?) {
      self.code = code
      self.message = message
      self.retryable = retryable
      self.retryAfter = retryAfter
    }
  }

  /// A push: the server is about to close the connection.
  public struct Goodbye: Sendable, Equatable {
    /// The reason, as one word.
    public var reason: String
    /// The delay before reconnecting: a random number of milliseconds within this range.
    public var reconnectAfter: ClosedRange<Int>

    /// Creates a message.
    public init(reason: String, reconnectAfter: ClosedRange<Int>) {
      self.reason = reason
      self.reconnectAfter = reconnectAfter
    }
  }

  /// The reply to `ping`.
  public struct Pong: Sendable, Equatable {
    /// The server's time, in milliseconds since 1970.
    public var serverTime: Int64

    /// Creates a reply.
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
  /// Changes with numbers instead of ids, for clients that use numbers.
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
  #if !hasFeature(Embedded)
    case values(Values)
    case signal(Signal)
  #endif
  /// A type that this version does not know.
  case unknown(type: String)
}

/// A push: a resource has changed. Interested clients fetch it again.
public struct ResourceUpdate: Sendable, Equatable {
  /// The resource.
  public var resourceID: String
  /// An id that the cause of the change chose, so that its own app can ignore the change.
  public var senderID: String?

  /// Creates an update.
  public init(resourceID: String, senderID: String?) {
    self.resourceID = resourceID
    self.senderID = senderID
  }
}
