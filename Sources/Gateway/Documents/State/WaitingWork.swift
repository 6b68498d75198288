import ParleyGatewayPorts
import OTCore

/// A client's work on a document that waits: until the document or older entries of it have been read from the
/// store, until its log has been read again, or until another turn.
enum WaitingWork {
  case join(ConnectionID, messageID: String, DocumentJoining)
  case page(ConnectionID, messageID: String, HistoryPageRequest)
  case change(ConnectionID, messageID: String, LiveDocument.Submission)
  case edit(ServerEdit)
  case version(VersionNaming)

  /// Bytes that any of them takes, beside text and components.
  private static let bytesOfEach = 256

  /// Whether it changes the document.
  var isChange: Bool {
    switch self {
    case .change, .edit: true
    case .join, .page, .version: false
    }
  }

  /// The approximate bytes that it holds.
  var byteCount: Int {
    switch self {
    case .join, .page, .version: Self.bytesOfEach
    case .change(_, _, let submission): Self.bytesOfEach + submission.operation.work
    case .edit(let edit): Self.bytesOfEach + edit.byteCount
    }
  }

  /// The approximate work of it, if it is a change. That of a join depends on its connection.
  func work(in live: LiveDocument) -> Int {
    switch self {
    case .join, .page, .version: 0
    case .change(_, _, let submission):
      live.work(on: submission.operation, from: submission.revision)
    case .edit(let edit): edit.work(in: live)
    }
  }
}

/// An edit by no follower: it came over HTTP, or its author's connection has ended.
struct ServerEdit {
  enum Content {
    /// The whole text, made from a former content, or else from the newest.
    case text(String, base: HistoricText? = nil)
    /// The content of another revision, in place of the newest.
    case restored(NoteContent)
    /// A change of the text at a revision, rebased over later entries.
    case change(TextOperation, revision: Int)

    /// Whether it is a change of the text, which no longer has to be found.
    var isChange: Bool { if case .change = self { true } else { false } }

    /// The revision that it was made from; `nil` for the newest.
    var revision: Int? {
      switch self {
      case .text(_, let base): base?.revision
      case .restored: nil
      case .change(_, let revision): revision
      }
    }
  }

  enum Grant {
    /// The rights that the author has when the edit is made.
    case bearer(Identity)
    /// The right of the request.
    case request(StoreRight)
  }

  /// An edit over HTTP that waits for its commit.
  struct Pending {
    var request: RequestID
    /// The revision that the head must have had; any if `nil`.
    var expected: Int?
  }

  /// The request to be answered; `nil` without one.
  var request: RequestID?
  /// The rights by which it is made.
  var grant: Grant
  var content: Content
  var author: String
  /// The revision that the head must have; any if `nil`.
  var expected: Int?
  /// Whether it makes no revision if it changes nothing.
  var skipsIdentity = false
  /// Whether the log was read since it came, where several nodes share it.
  var isFresh = false

  /// The right of its request; `nil` without one.
  var right: StoreRight? { if case .request(let right) = grant { right } else { nil } }

  /// The approximate bytes of its text and components.
  var byteCount: Int {
    switch content {
    case .text(let text, let base): text.utf8.count + (base?.content.text.utf8Count ?? 0)
    case .restored(let content): content.text.utf8Count
    case .change(let operation, _): operation.work
    }
  }

  /// The approximate work of it: to find what a text changes, or to apply a change.
  func work(in live: LiveDocument) -> Int {
    switch content {
    case .text(let text, let base):
      text.utf8.count + (base?.content.text.utf8Count ?? live.durableDocument.utf8Count)
    case .restored(let content): content.text.utf8Count + live.durableDocument.utf8Count
    case .change(let operation, let revision): live.work(on: operation, from: revision)
    }
  }

  /// Whether it has to wait until a shared log has been read: its author knows another head.
  func needsNews(of live: LiveDocument) -> Bool {
    guard live.isShared, !isFresh else { return false }
    if let expected, expected != live.headRevision { return true }
    return content.revision ?? 0 > live.durableRevision
  }
}
