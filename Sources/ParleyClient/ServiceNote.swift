import OTCore
import ParleyClientCore

/// A note of a ``ParleyService``.
public struct ServiceNote: Sendable, Identifiable {
  /// The note's id on the server.
  public let id: String
  let service: ParleyService

  /// Returns the text, after waiting until there is one.
  ///
  /// - Complexity: O(*n*).
  public func text() async throws(NoteError) -> String {
    try await opened()
    return await service.screen(of: id).document?.text ?? ""
  }

  /// The state.
  public var state: NoteState { get async { await service.screen(of: id).state } }

  /// The number of edits that the server has not confirmed.
  public var unsaved: Int { get async { await service.screen(of: id).status.unconfirmed } }

  /// Waits until there is a text; see ``Note/opened()``.
  public func opened() async throws(NoteError) {
    try await service.wait(for: id) { screen throws(NoteError) in try screen.isOpened() }
  }

  /// Waits until the server has all edits on its disk; see ``Note/saved()``.
  public func saved() async throws(NoteError) {
    try await service.wait(for: id) { screen throws(NoteError) in try screen.isSaved() }
  }

  /// Inserts a text at the end of the note; returns once the server has stored it on its disk.
  public func append(_ text: String) async throws(NoteError) {
    try await opened()
    try await service.edit(id) { screen throws(NoteError) in try screen.append(text) }
    try await saved()
  }

  /// Replaces a range of UTF-16 units of the text at the time of the edit; returns once the server
  /// has the edit on its disk.
  public func replace(_ range: Range<Int>, with text: String) async throws(NoteError) {
    try await opened()
    try await service.edit(id) { screen throws(NoteError) in try screen.edit(range, text) }
    try await saved()
  }

  /// Changes the text atomically: no other edit happens between reading and writing. Returns once
  /// the server has the edit on its disk.
  ///
  /// - Parameter change: Changes the text; the part between the common beginning and end is sent.
  /// - Complexity: O(*n*).
  public func edit(
    _ change: @escaping @Sendable (inout String) -> Void
  ) async throws(NoteError) {
    try await opened()
    try await service.edit(id) { screen throws(NoteError) in
      var text = screen.document?.text ?? ""
      change(&text)
      return try screen.replaceAll(with: text)
    }
    try await saved()
  }

  /// Merges the changes between two texts into the note, even if the note has changed since the
  /// first: for programs that edit a copy. The changes are found line by line and word by word.
  /// Returns once the server has them on its disk.
  ///
  /// - Parameters:
  ///   - changed: The edited copy.
  ///   - base: The text that was copied: one that the note had, or a similar one.
  /// - Complexity: O(*n*), plus a bounded number of steps.
  public func merge(_ changed: String, madeFrom base: String) async throws(NoteError) {
    try await opened()
    try await service.edit(id) { screen throws(NoteError) in
      try screen.merge(changed, madeFrom: base)
    }
    try await saved()
  }

  /// Returns the text with its formatting, after waiting until there is one. Without formatting if
  /// the note was not opened with formats.
  ///
  /// - Complexity: O(*n*).
  public func delta() async throws(NoteError) -> NoteDelta {
    try await opened()
    return NoteDelta(await service.screen(of: id).content ?? RichDocument())
  }

  /// Makes the edits that a Delta describes; returns once the server has them on its disk. Inserted
  /// text has the formatting of the Delta, and no other.
  public func update(_ delta: NoteDelta) async throws(NoteError) {
    try await opened()
    try await service.edit(id) { screen throws(NoteError) in try screen.update(delta) }
    try await saved()
  }

  /// Discards all edits that the server has not confirmed, and restores its text.
  public func discard() async { await service.send(.discard, to: id) }

  /// The current text unless it is empty, then the changes of others. Own edits are not included.
  ///
  /// At most 256 changes are buffered. Beyond that, all of them are replaced by one `reset` to the
  /// text at that moment.
  public var updates: Updates<NoteUpdate> {
    get async { Updates(feed: await service.updateFeed(of: id), owner: service) }
  }

  /// Closes the note. Unconfirmed edits remain in the storage.
  public func close() async { await service.close(note: id) }
}
