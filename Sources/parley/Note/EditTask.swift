import ParleyClient
import ParleyJSON
import Synchronization

/// The command `parley note edit`, which synchronises a file and a note.
///
///     file ──a save, merged word by word──▶ note
///       ◀──the others' edits, in one step──┘
///
/// `base` is the last text that both had. A save is the change from `base` to the file's text, and
/// is merged with later changes of the note. Writing the file exchanges it with the old one, which
/// is read afterwards: a save just before the exchange is detected, and merged like any other.
actor EditTask: NoteTask {
  private let session: NoteSession
  private let path: String
  private var note: ServiceNote?
  /// The last text that file and note both had.
  private var base = ""
  /// The stamp of the file when it was last read or written.
  private var stamp: TextFile.Stamp?
  /// The stamp of a change that may be incomplete, and the number of checks since without a change.
  private var fresh: TextFile.Stamp?
  private var quiet = 0
  /// The stamp of the last save that could not be read, so that the error is reported once.
  private var refused: TextFile.Stamp?
  private let news = News()

  init(_ session: NoteSession) {
    self.session = session
    path = session.options.words[1]
  }

  /// The interval between checks of the file.
  private static let look = Duration.milliseconds(100)
  /// Checks without a change after which a save is complete. An empty file needs more of them: its
  /// editor may have only begun to write.
  private static let looks = 2
  private static let emptyLooks = 10

  /// Whether the note has changes that the file lacks.
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

  /// Makes file and note equal for the first time.
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

  /// Checks file and note once.
  private func step() async throws {
    guard let note else { return }
    if let changed = TextFile.Stamp(path), changed != stamp {
      if changed == fresh { quiet += 1 } else { (fresh, quiet) = (changed, 0) }
      guard quiet >= (changed.size == 0 ? Self.emptyLooks : Self.looks) else { return }
      try await take(changed)
    } else if TextFile.Stamp(path) != nil, news.taken() {
      // A missing file is not written: its editor may be replacing it, or its owner has removed it.
      try await write(try await note.lines())
    }
    let state = await note.state
    switch state {
    case .deleted: throw CommandFailure("the note was deleted; \(path) stays as it is")
    case .failed(let trouble): throw CommandFailure("the note is not synchronised: \(trouble)")
    case .opening, .live, .offline, .closed: break
    }
  }

  /// Reads and sends a save.
  private func take(_ changed: TextFile.Stamp) async throws {
    let text: String
    do throws(CommandFailure) {
      text = try TextFile.read(path)
    } catch {
      // The file remains unchanged, and the next save may be valid.
      if refused != changed { Terminal.error("parley note: not taken: \(error)\n") }
      refused = changed
      return
    }
    // The file was saved again while it was read: wait for the next check.
    guard TextFile.Stamp(path) == changed else { return }
    stamp = changed
    fresh = nil
    try await send(text)
    news.come()
  }

  /// Merges the file's text into the note. Offline, the edit waits for the server.
  private func send(_ text: String) async throws {
    guard let note, !Self.isSame(text, base) else { return }
    do throws(NoteError) {
      try await note.merge(text, madeFrom: base)
      base = text
    } catch .cancelled {
      // The edit is in the note and will be sent; `finish()` waits for it.
      base = text
    } catch .refused(let refusal) {
      await note.discard()
      Terminal.error("parley note: not taken: \(refusal); the file stays as it is\n")
    } catch .readOnly {
      Terminal.error("parley note: not taken: the note may be read, but not written in\n")
    }
  }

  /// Writes the note's text into the file.
  private func write(_ text: String) async throws {
    guard !Self.isSame(text, base) else { return }
    let before = base
    let replaced = try TextFile.replace(path, by: text)
    stamp = replaced.stamp
    base = text
    guard let there = replaced.before, !Self.isSame(there, before) else { return }
    // The file was saved after the last check.
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

  /// Sends the last save, and waits until the server has confirmed all edits.
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
    // An editor may have only begun to write: an empty text would delete the note's text.
    guard changed.size > 0 else {
      throw CommandFailure("\(path) is empty, which was not sent: its editor may be at work")
    }
    stamp = changed
    try await send(try TextFile.read(path))
  }

  private static func isSame(_ one: String, _ other: String) -> Bool {
    one.isExactly(other)
  }
}
