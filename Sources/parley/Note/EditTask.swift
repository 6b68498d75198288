import ParleyClient
import Synchronization

/// `parley note edit`: keeps a file and a note the same.
///
///     file ──a save, merged word by word──▶ note
///       ◀──what others write, in one step──┘
///
/// `base` is the text that both had last. A save is the change from it to the file; the note's
/// changes since are applied on top. Writing the file reads, in the same moment, what was in it: a
/// save at just that moment is a save like any other, and nothing of it is lost.
actor EditTask: NoteTask {
  private let session: NoteSession
  private let path: String
  private var note: ServiceNote?
  /// The text that file and note had last.
  private var base = ""
  /// The file when it was looked at last.
  private var stamp: TextFile.Stamp?
  /// A change of the file that may not be complete, and how often it was seen as it is.
  private var fresh: TextFile.Stamp?
  private var quiet = 0
  /// A save that was not taken was said so once.
  private var refused: TextFile.Stamp?
  private let news = News()

  init(_ session: NoteSession) {
    self.session = session
    path = session.options.words[1]
  }

  /// Looks at the file so often.
  private static let look = Duration.milliseconds(100)
  /// Looks at an unchanged file before a save counts as complete; an empty file may be one whose
  /// editor has just begun.
  private static let looks = 2
  private static let emptyLooks = 10

  /// Changes of the note that the file does not have.
  private final class News: Sendable {
    private let isThere = Mutex(false)
    func come() { isThere.withLock { $0 = true } }
    func taken() -> Bool {
      isThere.withLock { isThere in
        defer { isThere = false }
        return isThere
      }
    }
  }

  func run() async throws {
    let note = try await session.open()
    self.note = note
    try await begin(note)
    let updates = await note.updates
    await withTaskGroup(of: Void.self) { group in
      group.addTask { [news] in for await _ in updates { news.come() } }
      group.addTask { await self.follow() }
      await group.next()
      group.cancelAll()
    }
    if let failure { throw failure }
  }

  private var failure: (any Error)?

  private func follow() async {
    do {
      while !Task.isCancelled {
        try await step()
        try await ContinuousClock().sleep(for: Self.look)
      }
    } catch {
      if !(error is CancellationError), !Task.isCancelled { failure = error }
    }
  }

  /// Makes file and note the same for the first time.
  private func begin(_ note: ServiceNote) async throws {
    let text = try await note.lines()
    guard TextFile.Stamp(path) != nil else {
      base = text
      stamp = try TextFile.replace(path, by: text).stamp
      return said()
    }
    stamp = TextFile.Stamp(path)
    let there = try TextFile.read(path)
    base = there
    if !Self.isSame(there, text) {
      switch session.options.side {
      case .file:
        base = text
        try await send(there)
      case .note: try await write(text)
      case nil:
        throw CommandFailure(
          "\(path) has another text than the note; --take note or --take file says which one counts"
        )
      }
    }
    said()
  }

  private func said() { Terminal.error("parley note: \(path) follows the note; save to send\n") }

  /// Looks at file and note once.
  private func step() async throws {
    guard let note else { return }
    if let changed = TextFile.Stamp(path), changed != stamp {
      if changed == fresh { quiet += 1 } else { (fresh, quiet) = (changed, 0) }
      guard quiet >= (changed.size == 0 ? Self.emptyLooks : Self.looks) else { return }
      try await take(changed)
    } else if TextFile.Stamp(path) != nil, news.taken() {
      // One that is not there was removed by its editor, who makes it again; or by its owner.
      try await write(try await note.lines())
    }
    let state = await note.state
    switch state {
    case .deleted: throw CommandFailure("the note was deleted; \(path) stays as it is")
    case .failed(let trouble): throw CommandFailure("the note is not followed: \(trouble)")
    case .opening, .live, .offline, .closed: break
    }
  }

  /// Takes a save.
  private func take(_ changed: TextFile.Stamp) async throws {
    let text: String
    do throws(CommandFailure) {
      text = try TextFile.read(path)
    } catch {
      // Another save may do. Until then the file stays as its owner wants it.
      if refused != changed { Terminal.error("parley note: not taken: \(error)\n") }
      refused = changed
      return
    }
    // The file was saved again while it was read: this look was for nothing.
    guard TextFile.Stamp(path) == changed else { return }
    stamp = changed
    fresh = nil
    try await send(text)
    news.come()
  }

  /// Merges a text of the file into the note. What was made offline waits for the server.
  private func send(_ text: String) async throws {
    guard let note, !Self.isSame(text, base) else { return }
    do throws(NoteError) {
      try await note.merge(text, madeFrom: base)
      base = text
    } catch .cancelled {
      // It is in the note, and goes out; the end waits for it.
      base = text
    } catch .refused(let refusal) {
      await note.discard()
      Terminal.error("parley note: not taken: \(refusal); the file stays as it is\n")
    } catch .readOnly {
      Terminal.error("parley note: not taken: the note may be read, but not written in\n")
    }
  }

  /// Puts the note's text into the file.
  private func write(_ text: String) async throws {
    guard !Self.isSame(text, base) else { return }
    let before = base
    let replaced = try TextFile.replace(path, by: text)
    stamp = replaced.stamp
    base = text
    guard let there = replaced.before, !Self.isSame(there, before) else { return }
    // A save had come between the last look and this moment.
    try await merge(there, madeFrom: before)
    news.come()
  }

  private func merge(_ text: String, madeFrom before: String) async throws {
    guard let note else { return }
    do throws(NoteError) {
      try await note.merge(text, madeFrom: before)
    } catch .refused(let refusal) {
      await note.discard()
      Terminal.error("parley note: not taken: \(refusal)\n")
    }
  }

  /// Sends the last save, and waits for what the server has not confirmed.
  func finish() async throws {
    guard let note else { return }
    try await session.confirmed { () throws(NoteError) in
      do {
        try await self.last()
      } catch let error as NoteError {
        throw error
      } catch {
        Terminal.error("parley note: \(error)\n")
      }
      try await note.saved()
    }
  }

  private func last() async throws {
    guard let changed = TextFile.Stamp(path), changed != stamp else { return }
    // An editor may have just begun: what it is about to write would be wiped out of the note.
    guard changed.size > 0 else {
      throw CommandFailure("\(path) is empty, which was not sent: its editor may be at work")
    }
    stamp = changed
    try await send(try TextFile.read(path))
  }

  private static func isSame(_ one: String, _ other: String) -> Bool {
    one.utf8.elementsEqual(other.utf8)
  }
}
