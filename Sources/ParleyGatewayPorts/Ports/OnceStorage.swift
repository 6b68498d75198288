/// A request that is done once, however often it is sent: its owner, its key, and its content.
public struct KeyedRequest: Sendable {
  /// The owner of the key; the same key of another owner names another request.
  public var owner: String
  /// The method, the path, and the client's own name for the request.
  public var key: String
  /// Everything beside the body that decides the work, such as a query: two requests under one key
  /// are the same if this and the body are.
  public var variant: String
  /// The body, as it was sent.
  public var body: [UInt8]
  /// The time of the request.
  public var time: Timestamp

  /// Names a request.
  public init(owner: String, key: String, variant: String, body: [UInt8], time: Timestamp) {
    self.owner = owner
    self.key = key
    self.variant = variant
    self.body = body
    self.time = time
  }

  /// Whether both have one name.
  public func hasName(of other: Self) -> Bool {
    owner.utf8.elementsEqual(other.owner.utf8) && key.utf8.elementsEqual(other.key.utf8)
  }

  /// Whether both ask for the same.
  public func asksForSame(as other: Self) -> Bool {
    variant.utf8.elementsEqual(other.variant.utf8) && body == other.body
  }
}

/// The limits for kept answers. Answers beyond any limit are dropped, the oldest first.
public struct AnswerMemory: Sendable, Hashable {
  /// Answers of one owner, at most.
  public var countMax: Int
  /// Milliseconds that each is kept.
  public var ageMax: Timestamp

  /// Makes limits.
  public init(countMax: Int, ageMax: Timestamp) {
    self.countMax = countMax
    self.ageMax = ageMax
  }

  /// A thousand answers of the last day.
  public static let standard = AnswerMemory(countMax: 1_000, ageMax: 86_400_000)
}

/// The answer to a request, made from the store's reply to the work, and kept with the work.
public struct AnswerDraft: Sendable {
  /// The request.
  public var request: KeyedRequest
  /// Writes the answer; `nil` keeps none. Called on the store's thread, for work that succeeded.
  public var write: @Sendable (StoreReply) -> [UInt8]?

  /// Makes a draft.
  public init(_ request: KeyedRequest, write: @escaping @Sendable (StoreReply) -> [UInt8]?) {
    self.request = request
    self.write = write
  }
}

/// A note under an id that its maker chose.
public struct NoteDraft: Sendable, Equatable {
  /// The id.
  public var id: DocumentID
  /// The title.
  public var title: String
  /// The owner of the new note.
  public var owner: String
  /// The time of creation.
  public var time: Timestamp
  /// The folder of the new note.
  public var folder: FolderPath
  /// The kind of the new note.
  public var kind: NoteKind

  /// Makes a draft.
  public init(
    id: DocumentID, title: String, owner: String, time: Timestamp, folder: FolderPath = .none,
    kind: NoteKind = .plain
  ) {
    self.id = id
    self.title = title
    self.owner = owner
    self.time = time
    self.folder = folder
    self.kind = kind
  }
}

/// Work that is done once, however often it is asked for.
public enum OnceRequest: Sendable {
  /// Reads the kept answer to a request.
  case answer(KeyedRequest, AnswerMemory)
  /// Does work and keeps its answers in the same commit. The reply is the work's own; if the work was not
  /// done, nothing is kept. If another node of a shared store has kept an answer since the last look, the
  /// work is taken back and fails with ``StoreError/unavailable(_:)``: a retry gets that answer.
  indirect case perform(StoreRequest, keeping: [AnswerDraft], AnswerMemory)
  /// Makes a note, unless the same owner made it with the same title. The id of a note that was made so and
  /// deleted cannot be used for `restMax` milliseconds: a late request must not make it again.
  case create(NoteDraft, epoch: String, restMax: Timestamp)
}

/// The reply to a keyed request.
public enum OnceReply: Sendable, Equatable {
  /// No answer is kept under the key.
  case unanswered
  /// The answer, as it was written.
  case answered([UInt8])
  /// The key was used for another request.
  case keyReused
  /// The note is made.
  case created(NoteSummary)
  /// The same owner has made the note with the same title; it may have changed since.
  case found(NoteSummary)
  /// A note has this id, but another owner or another first title.
  case taken
  /// The note was deleted.
  case deleted
}
