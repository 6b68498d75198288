public import OTCore

/// Names one change: whose, and that client's number for it.
public struct ChangeName: Sendable, Hashable {
  /// The author's client id.
  public var clientID: String
  /// The author's number.
  public var sequence: Int
  /// The time at which the server accepted it, in milliseconds since 1970. A change that is lost
  /// with the tail of a log and sent again has the same author and number, and another time.
  public var time: Int64?

  /// Makes a name.
  public init(clientID: String, sequence: Int, time: Int64? = nil) {
    self.clientID = clientID
    self.sequence = sequence
    self.time = time
  }
}

/// A place in a document's history to continue from.
public struct ResumePoint: Sendable, Equatable {
  /// Names the history.
  public var epoch: String
  /// The newest revision known.
  public var revision: Int
  /// The change that made that revision, if the client knows it. A server that knows another one
  /// there has lost a part of its history since, and sends the text.
  public var change: ChangeName?

  /// Makes a resume point.
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
      /// The client's id.
      public var id: String
      /// The resume token that `welcome` gave with the id.
      public var resumeToken: String

      /// Makes a claim.
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
    /// Whether changes may come with numbers in place of ids.
    public var takesNumbers: Bool
    /// The most authors of a document whose numbers the client keeps, those that were given last; `nil` stands for
    /// ``ServerMessage/Author/numbersMaxUnsaid``.
    public var numbersMax: Int?

    /// Makes a hello.
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

  /// Follow a document.
  public struct Join: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The point to resume from; without it the whole text is sent.
    public var resume: ResumePoint?
    /// The change that was sent and not answered, or may have been: under the client id of then, which
    /// may be another one by now. The reply settles it, see ``ServerMessage/Joined/settled``.
    public var unanswered: ChangeName?
    /// Whether the reply may be `behind` where too much was missed for one message: the client then
    /// reads the changes in pages.
    public var pages: Bool

    /// Makes a join.
    public init(
      documentID: String, resume: ResumePoint? = nil, unanswered: ChangeName? = nil,
      pages: Bool = false
    ) {
      self.documentID = documentID
      self.resume = resume
      self.unanswered = unanswered
      self.pages = pages
    }
  }

  /// Make a note under an id of the client's choice, which may be asked for again.
  public struct Create: Sendable, Equatable {
    /// The new document.
    public var documentID: String
    /// The note's title.
    public var title: String
    /// The folder that it is made in; `nil` for none.
    public var folder: String?

    /// Makes a create.
    public init(documentID: String, title: String, folder: String? = nil) {
      self.documentID = documentID
      self.title = title
      self.folder = folder
    }
  }

  /// Read a page of a document's changes.
  public struct DocumentHistory: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The point after which the page begins.
    public var resume: ResumePoint
    /// Changes, at most; the server may give fewer.
    public var limit: Int?

    /// Makes a request.
    public init(documentID: String, resume: ResumePoint, limit: Int? = nil) {
      self.documentID = documentID
      self.resume = resume
      self.limit = limit
    }
  }

  /// Change a document.
  public struct Change: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The history that `revision` counts.
    public var epoch: String
    /// The revision that the operation applies to.
    public var revision: Int
    /// The client's number for the change, from 1, for each document.
    public var sequence: Int
    /// The operation.
    public var operation: TextOperation

    /// Makes a change.
    public init(
      documentID: String, epoch: String, revision: Int, sequence: Int, operation: TextOperation
    ) {
      self.documentID = documentID
      self.epoch = epoch
      self.revision = revision
      self.sequence = sequence
      self.operation = operation
    }
  }

  /// Say where the carets are.
  public struct Select: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The revision whose text the selections are on, without own unconfirmed changes.
    public var revision: Int
    /// In Unicode scalars.
    public var selections: [Selection]

    /// Makes a selection message.
    public init(documentID: String, revision: Int, selections: [Selection]) {
      self.documentID = documentID
      self.revision = revision
      self.selections = selections
    }
  }

  /// Follow a document no longer.
  public struct Leave: Sendable, Equatable {
    /// The document.
    public var documentID: String

    /// Makes a leave.
    public init(documentID: String) { self.documentID = documentID }
  }

  /// Change name and colour.
  public struct Profile: Sendable, Equatable {
    /// The person's name as shown to others.
    public var name: String
    /// The person's colour, `#rrggbb`.
    public var color: String?

    /// Makes a profile.
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
  /// A type that this version does not know.
  case unknown(type: String)
}
