import ParleyGatewayPorts
import OTCore

/// A client's work on a document that waits until the document or older entries are loaded, until
/// its shared log is read again, or until another turn.
enum WaitingWork {
  case join(ConnectionID, messageID: String, DocumentJoining)
  case page(ConnectionID, messageID: String, HistoryPageRequest)
  case change(ConnectionID, messageID: String, LiveDocument.Submission)
  case edit(ServerEdit)
  case version(VersionNaming)

  /// The bytes of a work item, beside text and components.
  private static let bytesOfEach = 256

  /// Whether the work changes the document.
  var isChange: Bool {
    switch self {
    case .change, .edit: true
    case .join, .page, .version: false
    }
  }

  /// The approximate bytes of the item in memory.
  var byteCount: Int {
    switch self {
    case .join, .page, .version: Self.bytesOfEach
    case .change(_, _, let submission): Self.bytesOfEach + submission.work
    case .edit(let edit): Self.bytesOfEach + edit.byteCount
    }
  }

  /// The approximate work of a change or an edit. The work of a join depends on its connection.
  func work(in live: LiveDocument) -> Int {
    switch self {
    case .join, .page, .version: 0
    case .change(_, _, let submission):
      live.work(on: submission.operation, submission.format, from: submission.revision)
    case .edit(let edit): edit.work(in: live)
    }
  }
}

/// An edit whose author is not a follower: it came over HTTP, or the author's connection has ended.
struct ServerEdit {
  enum Content {
    /// The whole text, edited from the content `base`; from the newest content if `base` is `nil`.
    case text(String, base: HistoricText? = nil)
    /// The whole content, edited from the content `base`; from the newest one if `base` is `nil`.
    /// Text and attributes that remain equal are kept. With `makesRich`, a plain note becomes a
    /// rich one.
    case content(NoteContent, base: HistoricText? = nil, makesRich: Bool = false)
    /// A change of the content at a revision, rebased over later entries.
    case change(Change)

    /// A change at a revision.
    struct Change {
      var operation: TextOperation
      var format: ChangeFormat?
      /// Whether the author states the attributes of all inserted text.
      var knowsFormats = false
      var revision: Int

      /// Whether the change has no effect.
      var isIdentity: Bool { operation.isIdentity && format == nil }
    }

    /// Whether the operation is known, so that no texts have to be compared.
    var isChange: Bool { if case .change = self { true } else { false } }

    /// The base revision; `nil` for the newest.
    var revision: Int? {
      switch self {
      case .text(_, let base), .content(_, let base, _): base?.revision
      case .change(let change): change.revision
      }
    }
  }

  enum Grant {
    /// The author's rights at the time when the edit is applied.
    case bearer(Identity)
    /// The right of the request.
    case request(StoreRight)
  }

  /// An edit over HTTP that waits for its commit.
  struct Pending {
    var request: RequestID
    /// The revision that the head must have had; `nil` accepts any.
    var expected: Int?
  }

  /// The request to answer; `nil` without one.
  var request: RequestID?
  /// The rights that permit the edit.
  var grant: Grant
  var content: Content
  var author: String
  /// The revision that the head must have; `nil` accepts any.
  var expected: Int?
  /// Whether an edit that changes nothing creates no revision.
  var skipsIdentity = false
  /// Whether the shared log was read after the edit arrived.
  var isFresh = false

  /// The right of the request; `nil` for an edit under its author's rights.
  var right: StoreRight? { if case .request(let right) = grant { right } else { nil } }

  /// The approximate bytes of the edit's text and components.
  var byteCount: Int {
    switch content {
    case .text(let text, let base): text.utf8.count + (base?.content.text.utf8Count ?? 0)
    case .content(let content, let base, _): content.work + (base?.content.work ?? 0)
    case .change(let change): change.operation.work + (change.format?.work ?? 0)
    }
  }

  /// The approximate work of comparing a text, or of applying a change.
  func work(in live: LiveDocument) -> Int {
    switch content {
    case .text(let text, let base):
      text.utf8.count + (base?.content.text.utf8Count ?? live.durableDocument.utf8Count)
    case .content(let content, let base, _):
      content.work + (base?.content ?? live.durableContent).work
    case .change(let change):
      live.work(on: change.operation, change.format, from: change.revision)
    }
  }

  /// Whether the edit must wait for a read of the shared log, because its author names another
  /// head.
  func needsNews(of live: LiveDocument) -> Bool {
    guard live.isShared, !isFresh else { return false }
    if let expected, expected != live.headRevision { return true }
    return content.revision ?? 0 > live.durableRevision
  }
}

extension NoteContent {
  /// The approximate work of comparing or encoding the content, in bytes of text.
  var work: Int { text.utf8Count + 16 * document.runCountMax }
}
