import ParleyJSON

/// An idempotent request, performed once however often it is sent: its owner, key and content.
public struct KeyedRequest: Sendable {
  /// The owner of the key. The same key of another owner identifies another request.
  public var owner: String
  /// The method, the path and the client's idempotency key.
  public var key: String
  /// Everything except the body that affects the result, such as a query. Requests with one key are
  /// equal if `variant` and `body` are equal.
  public var variant: String
  /// The body as sent.
  public var body: [UInt8]
  /// The time of the request.
  public var time: Timestamp

  /// Creates a request with the idempotency key of its owner.
  public init(owner: String, key: String, variant: String, body: [UInt8], time: Timestamp) {
    self.owner = owner
    self.key = key
    self.variant = variant
    self.body = body
    self.time = time
  }

  /// Whether both requests have the same owner and key.
  public func hasName(of other: Self) -> Bool {
    owner.isExactly(other.owner) && key.isExactly(other.key)
  }

  /// Whether both requests have the same content.
  public func asksForSame(as other: Self) -> Bool {
    variant.isExactly(other.variant) && body == other.body
  }
}

/// The limits of stored answers. Beyond a limit, the oldest answers are deleted.
public struct AnswerRetention: Sendable, Hashable {
  /// Maximum answers of one owner.
  public var countMax: Int
  /// Maximum age of an answer, in milliseconds.
  public var ageMax: Timestamp

  /// Creates limits of number and age.
  public init(countMax: Int, ageMax: Timestamp) {
    self.countMax = countMax
    self.ageMax = ageMax
  }

  /// The default: a thousand answers of the last day.
  public static let standard = AnswerRetention(countMax: 1_000, ageMax: 86_400_000)
}

/// The answer to an idempotent request, stored in the same commit as the work.
public struct AnswerDraft: Sendable {
  /// The request.
  public var request: KeyedRequest
  /// Encodes the answer from the store's reply; `nil` stores none. Called on the store's thread,
  /// after the work succeeded.
  public var write: @Sendable (StoreReply) -> [UInt8]?

  /// Creates a draft of the answer to a request.
  public init(_ request: KeyedRequest, write: @escaping @Sendable (StoreReply) -> [UInt8]?) {
    self.request = request
    self.write = write
  }
}

/// A note to be created under an id that the client chose.
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

  /// Creates a draft of a note, by default a plain note in no folder.
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

/// A request that is performed once, however often it is sent.
public enum OnceRequest: Sendable {
  /// Reads the stored answer to a request.
  case answer(KeyedRequest, AnswerRetention)
  /// Performs a request and stores its answers in the same commit. The reply is that of the inner
  /// request; if it fails, no answer is stored. If another node of a shared store has stored an
  /// answer since the last check, the work is rolled back and fails with
  /// ``StoreError/unavailable(_:)``; a retry then receives that answer.
  indirect case perform(StoreRequest, keeping: [AnswerDraft], AnswerRetention)
  /// Creates a note, unless the same owner has created it with the same title. After its deletion,
  /// the id is reserved for `restMax` milliseconds, so that a late retry does not create the note
  /// again.
  case create(NoteDraft, epoch: Epoch, restMax: Timestamp)
}

/// The reply to a keyed request.
public enum OnceReply: Sendable, Equatable {
  /// No answer is stored under the key.
  case unanswered
  /// The stored answer.
  case answered([UInt8])
  /// The key was already used for a different request.
  case keyReused
  /// The note was created.
  case created(NoteSummary)
  /// The same owner already created the note with the same title. It may have changed since.
  case found(NoteSummary)
  /// Another note has this id: its owner or its first title differs.
  case taken
  /// The note with this id was deleted recently.
  case deleted
}
