import OTCore
import ParleyClientCore
import SocketMessages

/// A change of a note's text by another client.
public struct NoteChange: Sendable, Hashable {
  /// The id of the client that made the change; `nil` for text that was fetched again.
  public let clientID: String?
  /// The person's name, if that client is in the note.
  public let author: String?
  /// The replaced pieces; each applies to the text after the edits before it.
  public let edits: [TextEdit]
  /// The note's revision after the change.
  public let revision: Int64

  /// The inserted text, in order.
  public var inserted: String { edits.map(\.text).joined() }
}

/// An update of a note's text.
public enum NoteUpdate: Sendable, Hashable {
  /// A change by another person.
  case changed(NoteChange)
  /// The whole text: first, unless it is empty, and whenever single changes are unknown.
  case reset(String)
}

/// A note's text and state without a user interface, shared by ``Note`` and ``ServiceNote``.
struct NoteScreen {
  /// Whether the note was opened with formats.
  let hasFormats: Bool
  /// The text with its attributes; `nil` before the note is opened.
  private(set) var content: RichDocument?
  /// The note's kind.
  private(set) var kind = NoteKind.plain
  private(set) var status = NoteStatus()
  private(set) var title = ""
  /// The reason why the storage could not be read; `nil` if it could.
  private(set) var unreadable: String?
  /// Whether unconfirmed edits were merged into a text that had changed a lot.
  var isRebased = false
  private var updates = Feeds<NoteUpdate>()
  private var states = Feeds<Void>()

  init(hasFormats: Bool = false) { self.hasFormats = hasFormats }

  /// A note that is not open.
  static let closed: NoteScreen = {
    var screen = NoteScreen()
    screen.status.phase = .left
    return screen
  }()

  /// Maximum changes buffered for one reader.
  static let updatesMax = 256

  var state: NoteState {
    if let unreadable { return .failed(.storage(unreadable)) }
    // To the server, a note that was deleted before it was opened here is one that never was.
    if status.phase == .deleted, document == nil { return .failed(.unknownNote) }
    return NoteState(status.phase)
  }

  var document: Document? { content?.text }

  var refusal: Refusal? { status.refusal.map { Refusal($0) } }

  // MARK: The machine

  mutating func take(_ action: NoteAction, author: (String) -> String?) -> NoteUpdate? {
    switch action {
    case .reset(let new):
      // Readers start from an empty text.
      let isNews = content != nil || new.text.scalarCount > 0
      content = new
      let update = NoteUpdate.reset(new.text.text)
      if isNews { put(update) }
      return update
    case .step(let operation, _): return show(operation, by: nil, author: nil, revision: 0)
    case .apply(let operation, let client, let revision):
      return show(operation, by: client, author: client.flatMap(author), revision: revision)
    case .status(let status):
      self.status = status
      tellState()
      if NoteState(status.phase) == .closed { finish() }
    case .title(let title): self.title = title
    case .kind(let kind): self.kind = kind
    case .rebased: isRebased = true
    case .keep, .forget, .people, .carets, .outOfStep, .misfit: break
    }
    return nil
  }

  /// Applies an operation of another client, or of the history.
  private mutating func show(
    _ operation: RichOperation, by client: String?, author: String?, revision: Int64
  ) -> NoteUpdate? {
    guard let before = document else { return nil }
    try? content?.apply(operation)
    let update = NoteUpdate.changed(
      NoteChange(
        clientID: client, author: author,
        edits: TextEdit.edits(of: operation.text, on: before), revision: revision))
    put(update)
    return update
  }

  mutating func fail(_ reason: String) {
    unreadable = reason
    tellState()
  }

  mutating func clearFailure() {
    unreadable = nil
    tellState()
  }

  /// Closes the note for this client, and ends all readers and waiting calls.
  mutating func close() {
    status.phase = .left
    unreadable = nil
    tellState()
    finish()
  }

  private mutating func finish() {
    updates.finish()
    states.finish()
  }

  // MARK: Editing

  /// Makes an edit on the text, and returns its operation; `nil` if it changes nothing.
  mutating func edit(_ range: Range<Int>, _ text: String) throws(NoteError) -> RichOperation? {
    let document = try writable()
    return try make(try document.replacement(of: document.scalars(ofUTF16: range), with: text))
  }

  /// Replaces the text, and returns the operation; `nil` if it changes nothing.
  mutating func replaceAll(with text: String) throws(NoteError) -> RichOperation? {
    let document = try writable()
    guard text.unicodeScalars.count <= TextOperation.lengthMax else { throw .tooLong }
    return try make(TextOperation(replacing: document, by: Document(text)))
  }

  mutating func merge(
    _ changed: String, madeFrom base: String
  ) throws(NoteError) -> RichOperation? {
    let document = try writable()
    guard changed.unicodeScalars.count <= TextOperation.lengthMax else { throw .tooLong }
    let base = Document(base)
    let wanted = TextOperation(changing: base, into: Document(changed))
    let passed = TextOperation(changing: base, into: document)
    // Both start from the same text, so this fails only if the result is too long.
    guard let moved = try? TextOperation.transform(passed, wanted).bAfterA else { throw .tooLong }
    return try make(moved)
  }

  mutating func append(_ text: String) throws(NoteError) -> RichOperation? {
    let document = try writable()
    let end = document.scalarCount
    return try make(try document.replacement(of: end..<end, with: text))
  }

  mutating func apply(_ operation: RichOperation) throws(NoteError) -> RichOperation? {
    _ = try writable()
    return try make(formatted: operation)
  }

  /// Makes the edits of a Delta.
  mutating func update(_ delta: NoteDelta) throws(NoteError) -> RichOperation? {
    _ = try writable()
    return try make(formatted: delta.operation(on: content ?? RichDocument()))
  }

  /// Changes the formatting of a range.
  mutating func format(
    _ range: Range<Int>, _ attributes: NoteAttributes
  ) throws(NoteError) -> RichOperation? {
    _ = try writable()
    return try make(
      formatted: NoteDelta.formatting(range, attributes, of: content ?? RichDocument()))
  }

  private mutating func make(_ operation: TextOperation) throws(NoteError) -> RichOperation? {
    try make(formatted: RichOperation(operation))
  }

  /// Applies an edit, and returns it; `nil` if it changes nothing. In a plain note, formatting makes
  /// it a rich one.
  private mutating func make(
    formatted operation: RichOperation
  ) throws(NoteError) -> RichOperation? {
    guard !operation.isIdentity else { return nil }
    guard hasFormats || operation.format == nil else { throw .invalidFormat }
    do throws(OperationError) {
      try content?.apply(operation)
    } catch {
      throw .tooLong
    }
    guard kind == .plain, operation.format != nil else { return operation }
    return RichOperation(operation.text, ChangeFormat(operation.format, makesRich: true))
  }

  private func writable() throws(NoteError) -> Document {
    switch state {
    case .opening, .live, .offline: break
    case .failed(let trouble): throw .failed(trouble)
    case .deleted: throw .deleted
    case .closed: throw .closed
    }
    guard let document else { throw .notOpen }
    guard status.access == .write else { throw .readOnly }
    return document
  }

  // MARK: Readers

  /// Returns a feed of updates, which starts with the current text unless it is empty.
  mutating func updateFeed() -> Feed<NoteUpdate> {
    let feed = Feed<NoteUpdate>(bound: Self.updatesMax)
    if let document, document.scalarCount > 0 { feed.put(.reset(document.text)) { Array($0) } }
    updates.add(feed)
    return feed
  }

  private func put(_ update: NoteUpdate) {
    // A reader that falls behind restarts from the current text.
    updates.put(update) { _ in [.reset(document?.text ?? "")] }
  }

  private func tellState() { states.put(()) { _ in [()] } }

  mutating func stateFeed() -> Feed<Void> {
    let feed = Feed<Void>(bound: 1)
    states.add(feed)
    return feed
  }

  /// Whether there is a text.
  func isOpened() throws(NoteError) -> Bool {
    switch state {
    case .opening: return false
    case .live, .offline: return true
    case .failed(let trouble): throw .failed(trouble)
    case .deleted: throw .deleted
    case .closed: throw .closed
    }
  }

  /// Whether the server has confirmed all edits.
  func isSaved() throws(NoteError) -> Bool {
    if status.unconfirmed == 0, document != nil { return true }
    if let refusal { throw .refused(refusal) }
    _ = try isOpened()
    return false
  }
}
