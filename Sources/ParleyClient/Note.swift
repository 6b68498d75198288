package import OTCore
public import Observation
import ParleyClientCore
import SocketMessages

/// A view that shows a note's text and receives changes as ranges, such as a `UITextView`.
@MainActor public protocol NoteView: AnyObject {
  /// Applies another person's edits to the view, in order. Called synchronously, before other work
  /// on the main actor; it must not edit the note.
  func note(_ note: Note, changed edits: [TextEdit])

  /// Replaces the view's text.
  func note(_ note: Note, becomes text: String)
}

/// A note that several people edit.
///
///     let note = parley.note("n-1")
///     try await note.opened()
///     try note.replace(0..<0, with: "Hello ")
///
/// Edits are applied locally at once and sent in the background. While the server is unreachable
/// they wait, and are stored on the device. Ranges count UTF-16 units, as in `NSRange`.
///
/// A note does not retain its ``Parley``: once that is released, edits throw ``NoteError/closed``.
@MainActor @Observable public final class Note: Identifiable {
  /// The note's id on the server.
  public nonisolated let id: String
  /// The title.
  public private(set) var title = ""
  /// The state.
  public private(set) var state = NoteState.opening
  /// The number of edits that the server has not confirmed; 0 once all are on its disk.
  public private(set) var unsaved = 0
  /// Whether this person may write in the note.
  public private(set) var isWritable = true
  /// The refusal that blocks the edits: show it, then call ``retry()`` or ``discard()``.
  public private(set) var refusal: Refusal?
  /// Whether writing the unconfirmed edits to the device's storage fails.
  public private(set) var isStorageFailing = false
  /// Whether edits made offline were merged into a text that had changed a lot, so that the person
  /// should review them. Set it to `false` after showing it.
  public var isRebased = false
  /// Whether the note has formatting. A plain note becomes a rich one by the first formatting.
  public private(set) var isRich = false
  /// The other clients in the note, in the order of their ids.
  public private(set) var people: [Person] = []
  /// The number of people in the note, this one included, if not all of them are listed.
  public private(set) var peopleCount: Int?

  /// Increases with each change of the text, so that observers are notified.
  private var textVersion = 0
  @ObservationIgnored private var screen: NoteScreen
  @ObservationIgnored private var cachedText: String?
  @ObservationIgnored private weak var view: (any NoteView)?
  @ObservationIgnored private var editors = NoteEditors()
  @ObservationIgnored private weak var parley: Parley?

  init(id: String, formats: Bool, parley: Parley) {
    self.id = id
    self.parley = parley
    screen = NoteScreen(hasFormats: formats)
  }

  /// Whether the note was opened with formats.
  package var hasFormats: Bool { screen.hasFormats }

  // MARK: The text

  /// The text with all local edits. Setting it replaces the part between the common beginning and
  /// end; if the note is read-only, the text is unchanged, and views read it again.
  ///
  /// - Complexity: O(*n*) after each change, then O(1). Text views should use ranges instead.
  public var text: String {
    get {
      _ = textVersion
      if let cachedText { return cachedText }
      let text = screen.document?.text ?? ""
      cachedText = text
      return text
    }
    set {
      if (try? replaceAll(with: newValue)) == nil { textVersion += 1 }
    }
  }

  /// The text's length in UTF-16 units.
  public var utf16Count: Int {
    _ = textVersion
    return screen.document?.utf16Count ?? 0
  }

  /// Replaces a range of UTF-16 units. A range that splits a surrogate pair, as of 😀, is extended
  /// to the whole character.
  ///
  /// - Complexity: O(log *n*), plus the text inserted.
  public func replace(_ range: Range<Int>, with text: String) throws(NoteError) {
    try edit { screen throws(NoteError) in try screen.edit(range, text) }
  }

  /// Replaces a range of indices of ``text``.
  public func replace(_ range: Range<String.Index>, with text: String) throws(NoteError) {
    try replace(utf16Range(of: range), with: text)
  }

  /// Inserts a text at the end.
  public func append(_ text: String) throws(NoteError) {
    try edit { screen throws(NoteError) in try screen.append(text) }
  }

  /// Replaces the text by another one, as an edit of the part between the common beginning and end.
  ///
  /// - Complexity: O(*n*).
  public func replaceAll(with text: String) throws(NoteError) {
    try edit { screen throws(NoteError) in try screen.replaceAll(with: text) }
  }

  /// Returns the UTF-16 units of a range of indices of ``text``.
  public func utf16Range(of range: Range<String.Index>) -> Range<Int> {
    let units = text.utf16
    let start = units.distance(from: units.startIndex, to: range.lowerBound)
    return start..<start + units.distance(from: range.lowerBound, to: range.upperBound)
  }

  /// Returns the indices of ``text`` for a range of UTF-16 units; `nil` if it exceeds the text.
  public func range(ofUTF16 range: Range<Int>) -> Range<String.Index>? {
    let text = text
    let units = text.utf16
    guard range.lowerBound >= 0,
      let start = units.index(
        units.startIndex, offsetBy: range.lowerBound, limitedBy: units.endIndex),
      let end = units.index(start, offsetBy: range.count, limitedBy: units.endIndex)
    else { return nil }
    return start..<end
  }

  private func edit(
    by editor: (any NoteEditing)? = nil,
    _ make: (inout NoteScreen) throws(NoteError) -> RichOperation?
  ) throws(NoteError) {
    guard let parley else { throw .closed }
    // While others' changes are shown, this text may be older than the machine's.
    guard !parley.isShowing else { throw .isShowing }
    guard let operation = try make(&screen) else { return }
    textMoved()
    parley.handle(.core(.note(id, .edit(operation))))
    showPeople()
    editors.forEach(but: editor) { $0.note(applied: operation) }
  }

  // MARK: Formatting

  /// The text with its formatting. Without formatting if the note was not opened with formats.
  ///
  /// - Complexity: O(*n*).
  public var delta: NoteDelta {
    _ = textVersion
    return NoteDelta(screen.content ?? RichDocument())
  }

  /// Makes the edits that a Delta describes. Inserted text has the formatting of the Delta, and no
  /// other.
  public func update(_ delta: NoteDelta) throws(NoteError) {
    try edit { screen throws(NoteError) in try screen.update(delta) }
  }

  /// Changes the formatting of a range of UTF-16 units. Attributes of lines, such as `header`, apply
  /// to all lines that the range touches.
  public func format(_ range: Range<Int>, _ attributes: NoteAttributes) throws(NoteError) {
    try edit { screen throws(NoteError) in try screen.format(range, attributes) }
  }

  /// Undoes this client's newest edit that still has an effect; only in notes opened with formats.
  public func undo() { parley?.handle(.core(.note(id, .undo))) }

  /// Redoes the edit that was undone last.
  public func redo() { parley?.handle(.core(.note(id, .redo))) }

  // MARK: Editors

  /// The text as a document; `nil` before the note is opened.
  package var document: Document? { screen.document }

  /// The text with its attributes; `nil` before the note is opened.
  package var content: RichDocument? { screen.content }

  /// Makes an edit that an editor already shows, and notifies the other editors.
  package func apply(_ operation: RichOperation, by editor: any NoteEditing) throws(NoteError) {
    try edit(by: editor) { screen throws(NoteError) in try screen.apply(operation) }
  }

  /// Subscribes an editor to the text's operations. Editors are referenced weakly.
  package func attach(editor: any NoteEditing) {
    editors.add(editor)
    if let content { editor.note(becomes: content) }
    editor.notePeopleChanged()
  }

  /// Unsubscribes an editor.
  package func detach(editor: any NoteEditing) { editors.remove(editor) }

  // MARK: Actions of the person

  /// Shows the person's selections to the others; maximum: the server's `selectionsMax`.
  public func select(_ selections: [TextSelection]) {
    guard let document = screen.document else { return }
    parley?.handle(.core(.note(id, .select(selections.map { document.selection($0) }))))
  }

  /// Sends refused edits again, together with later ones.
  public func retry() { parley?.handle(.core(.note(id, .retryRefused))) }

  /// Discards all edits that the server has not confirmed, and restores its text.
  public func discard() { parley?.handle(.core(.note(id, .discard))) }

  /// Retries opening a note that failed, for example after its rights have changed.
  public func reopen() {
    guard screen.unreadable == nil else {
      screen.clearFailure()
      show()
      parley?.open(self)
      return
    }
    parley?.handle(.core(.note(id, .reopen)))
  }

  /// Closes the note. Unconfirmed edits remain on the device, and are sent when it is opened again.
  public func close() {
    parley?.handle(.core(.note(id, .leave)))
    parley?.forget(self)
    screen.close()
    show()
  }

  // MARK: Waiting

  /// Waits until there is a text: the server's, or the one stored on this device.
  ///
  /// - Throws: `failed` if the note cannot be opened, `noAnswer` if the connection has stopped or
  ///   was missing for the client's timeout.
  public func opened() async throws(NoteError) {
    try await wait { screen throws(NoteError) in try screen.isOpened() }
  }

  /// Waits until the server has all edits on its disk.
  ///
  /// - Throws: `refused` if the server refuses the edits; `noAnswer` if the connection has stopped or
  ///   was missing for the client's timeout. The edits remain then, and are sent later.
  public func saved() async throws(NoteError) {
    try await wait { screen throws(NoteError) in try screen.isSaved() }
  }

  private func wait(
    until isDone: (NoteScreen) throws(NoteError) -> Bool
  ) async throws(NoteError) {
    // Without the connection the wait would not end.
    guard let parley else { throw .closed }
    defer { withExtendedLifetime(parley) {} }
    if try isDone(screen) { return }
    let states = screen.stateFeed()
    let wait = parley.beginWait(on: states)
    defer { _ = parley.endWait(wait) }
    while try !isDone(screen) {
      guard await states.next() == nil else { continue }
      if let reason = parley.endWait(wait) { throw .noAnswer(reason) }
      throw screen.state == .closed ? .closed : .cancelled
    }
  }

  /// The current text unless it is empty, then the changes of others. Own edits are not included.
  ///
  /// At most 256 changes are buffered. Beyond that, all of them are replaced by one `reset` to the
  /// text at that moment.
  public var updates: Updates<NoteUpdate> {
    Updates(feed: screen.updateFeed(), owner: parley ?? self)
  }

  /// Attaches the view that follows the text by ranges, replacing the former one; `nil` detaches
  /// it. The view is referenced weakly.
  public func attach(_ view: (any NoteView)?) {
    self.view = view
    if screen.document != nil { view?.note(self, becomes: text) }
  }

  // MARK: The machine

  func take(_ action: NoteAction) {
    switch action {
    case .people: return listPeople()
    case .carets: return showPeople()
    default: break
    }
    let update = screen.take(action) { id in people.first { $0.id == id }?.name }
    if update != nil { textMoved() }
    show()
    switch update {
    case .changed(let change): view?.note(self, changed: change.edits)
    case .reset(let text): view?.note(self, becomes: text)
    case nil: break
    }
    switch action {
    case .reset(let content): editors.forEach { $0.note(becomes: content) }
    case .apply(let operation, _, _), .step(let operation, _):
      editors.forEach { $0.note(applied: operation) }
    default: break
    }
  }

  func fail(_ reason: String) {
    screen.fail(reason)
    show()
  }

  private func textMoved() {
    cachedText = nil
    textVersion += 1
  }

  /// Sets the properties that have changed.
  private func show() {
    let status = screen.status
    if title != screen.title { title = screen.title }
    if isRich != (screen.kind == .rich) { isRich = screen.kind == .rich }
    if state != screen.state { state = screen.state }
    if unsaved != status.unconfirmed {
      unsaved = status.unconfirmed
      parley?.countUnsaved()
    }
    if isWritable != (status.access == .write) { isWritable = status.access == .write }
    if refusal != screen.refusal { refusal = screen.refusal }
    if isStorageFailing != status.isKeepFailing { isStorageFailing = status.isKeepFailing }
    if screen.isRebased {
      screen.isRebased = false
      isRebased = true
    }
  }

  private func listPeople() {
    guard let machine = parley?.machine else { return }
    let listed = machine.people(in: id)
    let renewed = people.renewed(by: listed, id: { $0.clientID }, name: { $0.name })
    if !renewed.elementsEqual(people, by: ===) { people = renewed }
    let count = machine.peopleCount(in: id)
    if peopleCount != count { peopleCount = count }
    showPeople()
  }

  private func showPeople() {
    guard let document = screen.document, !people.isEmpty, let machine = parley?.machine else {
      editors.forEach { $0.notePeopleChanged() }
      return
    }
    for (person, other) in zip(people, machine.people(in: id)) where person.id == other.clientID {
      let personID = other.hasOwnID ? other.personID : nil
      if person.personID != personID { person.personID = personID }
      person.set(
        name: other.name, color: other.color,
        selections: other.selections.map { document.selection($0) }, isWriting: other.isWriting)
    }
    editors.forEach { $0.notePeopleChanged() }
  }
}
