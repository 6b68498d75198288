import OTCore
import ParleyClientCore

/// A note of a ``ParleyService``.
public struct ServiceNote: Sendable, Identifiable {
  /// The note's id on the server.
  public let id: String
  let service: ParleyService

  /// Returns the text, once there is one.
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

  /// Waits until there is a text.
  public func opened() async throws(NoteError) {
    try await service.wait(for: id) { screen throws(NoteError) in try screen.isOpened() }
  }

  /// Waits until the server has all edits on its disk.
  public func saved() async throws(NoteError) {
    try await service.wait(for: id) { screen throws(NoteError) in try screen.isSaved() }
  }

  /// Inserts a text at the end of the note; returns once the server has stored it on its disk.
  public func append(_ text: String) async throws(NoteError) {
    try await opened()
    try await service.edit(id) { screen throws(NoteError) in try screen.append(text) }
    try await saved()
  }

  /// Replaces a range of UTF-16 units of the text as it is when this runs; returns once the server
  /// has the edit on its disk.
  public func replace(_ range: Range<Int>, with text: String) async throws(NoteError) {
    try await opened()
    try await service.edit(id) { screen throws(NoteError) in try screen.edit(range, text) }
    try await saved()
  }

  /// Makes the text another one, in one step: nothing comes between reading and writing. Returns
  /// once the server has the edit on its disk.
  ///
  /// - Parameter change: Changes the text; what lies between the common beginning and end is sent.
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

  /// Makes in the note the changes that lead from one text to another, found line by line and word by
  /// word, wherever the note has moved on from the first one: for programs that edit a copy. Returns
  /// once the server has them on its disk.
  ///
  /// - Parameters:
  ///   - base: A text that the note had, or one near to it.
  ///   - changed: What the copy has become.
  /// - Complexity: O(*n*), and a bounded number of steps beyond.
  public func merge(_ changed: String, madeFrom base: String) async throws(NoteError) {
    try await opened()
    try await service.edit(id) { screen throws(NoteError) in
      try screen.merge(changed, madeFrom: base)
    }
    try await saved()
  }

  /// Gives up all edits that the server has not confirmed, and takes its text.
  public func discard() async { await service.send(.discard, to: id) }

  /// The text as it is, and the changes of others from now on. Own edits are not among them.
  ///
  /// 256 changes wait for the loop. When more come, all of them are dropped for one `reset` to the
  /// text as it is then.
  public var updates: Updates<NoteUpdate> {
    get async { Updates(feed: await service.updateFeed(of: id), owner: service) }
  }

  /// Closes the note. Unconfirmed edits stay in the storage.
  public func close() async { await service.close(note: id) }
}
