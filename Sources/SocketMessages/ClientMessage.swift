public import OTCore

/// The id of one change: its author, and the author's number for the change.
public struct ChangeName: Sendable, Hashable {
  /// The author's client id.
  public var clientID: String
  /// The author's number for the change, from 1; 0 for no change.
  public var sequence: Int
  /// The time at which the server accepted the change, in milliseconds since 1970. A change that
  /// was lost with the end of a log and sent again has the same author and number, but another
  /// time.
  public var time: Int64?

  /// Creates a change's name.
  public init(clientID: String, sequence: Int, time: Int64? = nil) {
    self.clientID = clientID
    self.sequence = sequence
    self.time = time
  }
}

/// The point in a document's history from which a client resumes.
public struct ResumePoint: Sendable, Equatable {
  /// The id of the history that the revision counts in.
  public var epoch: String
  /// The newest revision known.
  public var revision: Int
  /// The change that created the revision, if the client knows it. If the server has another change
  /// at the revision, a part of its history was lost; it then sends the text.
  public var change: ChangeName?

  /// Creates a resume point.
  public init(epoch: String, revision: Int, change: ChangeName? = nil) {
    self.epoch = epoch
    self.revision = revision
    self.change = change
  }
}

/// A message of a `parley.v1` client.
public enum ClientMessage: Sendable, Equatable {
  /// The first message of a connection.
  public struct Hello: Sendable, Equatable {
    /// A client id from an earlier connection, with the token that proves it.
    public struct Claim: Sendable, Equatable {
      /// The client id that an earlier `welcome` contained.
      public var id: String
      /// The resume token from the same `welcome`.
      public var resumeToken: String

      /// Creates a claim.
      public init(id: String, resumeToken: String) {
        self.id = id
        self.resumeToken = resumeToken
      }
    }

    /// The person's name as shown to others.
    public var name: String
    /// The person's colour, `#rrggbb`.
    public var color: String?
    /// The client's earlier identity.
    public var client: Claim?
    /// A token that grants rights.
    public var token: String?
    /// Whether the server may send changes with numbers instead of ids.
    public var takesNumbers: Bool
    /// Maximum author numbers that the client retains for a document, the newest ones; `nil` means
    /// ``ServerMessage/Author/numbersMaxUnsaid``.
    public var numbersMax: Int?

    /// Creates a hello, by default of a new client without a token.
    public init(
      name: String, color: String? = nil, client: Claim? = nil, token: String? = nil,
      takesNumbers: Bool = false, numbersMax: Int? = nil
    ) {
      self.name = name
      self.color = color
      self.client = client
      self.token = token
      self.takesNumbers = takesNumbers
      self.numbersMax = numbersMax
    }
  }

  /// A request to follow a document.
  public struct Join: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The point to resume from; `nil` requests the whole text.
    public var resume: ResumePoint?
    /// The change that was sent, or may have been sent, and has no answer. It names the client id
    /// of that time, which may differ from the present one. The reply settles it, see
    /// ``ServerMessage/Joined/settled``.
    public var unanswered: ChangeName?
    /// Whether the reply may be `behind` when the client has missed too much for one message. The
    /// client then reads the changes in pages.
    public var pages: Bool
    /// Whether the client knows formatting, and receives that of a rich note.
    public var formats: Bool

    /// Creates a join, by default for the whole text.
    public init(
      documentID: String, resume: ResumePoint? = nil, unanswered: ChangeName? = nil,
      pages: Bool = false, formats: Bool = false
    ) {
      self.documentID = documentID
      self.resume = resume
      self.unanswered = unanswered
      self.pages = pages
      self.formats = formats
    }
  }

  /// A request to create a note under an id that the client chooses. Repeating it is safe.
  public struct Create: Sendable, Equatable {
    /// The new document.
    public var documentID: String
    /// The note's title.
    public var title: String
    /// The folder of the new note; `nil` for none.
    public var folder: String?
    /// The kind of the new note; `nil` means a plain one.
    public var kind: NoteKind?

    /// Creates a request for a new note.
    public init(
      documentID: String, title: String, folder: String? = nil, kind: NoteKind? = nil
    ) {
      self.documentID = documentID
      self.title = title
      self.folder = folder
      self.kind = kind
    }
  }

  /// A request for a page of a document's changes.
  public struct DocumentHistory: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The point after which the page begins.
    public var resume: ResumePoint
    /// Maximum changes in the page; the server may send fewer.
    public var limit: Int?

    /// Creates a request for a page.
    public init(documentID: String, resume: ResumePoint, limit: Int? = nil) {
      self.documentID = documentID
      self.resume = resume
      self.limit = limit
    }
  }

  /// A change of a document.
  public struct Change: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The id of the history that `revision` counts in.
    public var epoch: String
    /// The revision that the operation applies to.
    public var revision: Int
    /// The client's number for the change, counted from 1 in each document.
    public var sequence: Int
    /// The operation, on the text at `revision`.
    public var operation: TextOperation
    /// The formatting; `nil` if missing. Its JSON is valid, but may not fit the operation: see
    /// `checkedFormat()`.
    public var format: FormatJSON?
    #if !hasFeature(Embedded)
      /// Whether the change is refused unless `revision` is the newest one.
      public var isExact = false
    #endif

    /// Creates a change, by default one that is rebased.
    public init(
      documentID: String, epoch: String, revision: Int, sequence: Int, operation: TextOperation,
      format: FormatJSON? = nil
    ) {
      self.documentID = documentID
      self.epoch = epoch
      self.revision = revision
      self.sequence = sequence
      self.operation = operation
      self.format = format
    }
  }

  /// The client's selections in a document.
  public struct Select: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The revision whose text the selections refer to, without the client's unconfirmed changes.
    public var revision: Int
    /// The selections, in Unicode scalars.
    public var selections: [Selection]

    /// Creates a selection message.
    public init(documentID: String, revision: Int, selections: [Selection]) {
      self.documentID = documentID
      self.revision = revision
      self.selections = selections
    }
  }

  /// A request to stop following a document.
  public struct Leave: Sendable, Equatable {
    /// The document.
    public var documentID: String

    /// Creates a request to leave a document.
    public init(documentID: String) { self.documentID = documentID }
  }

  /// A new name and colour of the person.
  public struct Profile: Sendable, Equatable {
    /// The person's name as shown to others.
    public var name: String
    /// The person's colour, `#rrggbb`.
    public var color: String?

    /// Creates a profile.
    public init(name: String, color: String? = nil) {
      self.name = name
      self.color = color
    }
  }

  case hello(Hello)
  case refresh(Refresh)
  case grant(Refresh)
  case join(Join)
  case create(Create)
  case documentHistory(DocumentHistory)
  case change(Change)
  case select(Select)
  case leave(Leave)
  case profile(Profile)
  case subscribe(Subscribe)
  case unsubscribe(Unsubscribe)
  case publish(Publish)
  case roomHistory(RoomHistory)
  case typing(Typing)
  case receipt(Receipt)
  case receipts(Receipts)
  case lastOnline(LastOnline)
  case block(Block)
  case blocks
  case flag(Flag)
  case flags(Flags)
  case follow(Follow)
  case ping
  #if !hasFeature(Embedded)
    case values(Values)
    case signal(Signal)
    case roomPresence(RoomPresence)
  #endif
  /// A type that this version does not know.
  case unknown(type: String)
}
