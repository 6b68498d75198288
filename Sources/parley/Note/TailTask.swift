import ParleyGatewayPorts
import ParleyClient

/// The command `parley note tail`, which prints the last lines, then lines added at the end.
struct TailTask: NoteTask {
  let session: NoteSession

  init(_ session: NoteSession) { self.session = session }

  func run() async throws {
    let note = try await session.open()
    var follower: TextFollower?
    for await update in await note.updates {
      switch update {
      case .reset(let text):
        if follower == nil {
          follower = TextFollower(text, lines: session.options.lines)
        } else {
          follower?.reset(to: text)
        }
      case .changed(let change):
        // Without a first text the note was empty.
        if follower == nil { follower = TextFollower("", lines: session.options.lines) }
        follower?.apply(change.edits)
      }
      if let news = follower?.news() { Terminal.output(news) }
    }
    let state = await note.state
    switch state {
    case .deleted: throw CommandFailure("the note was deleted")
    case .failed(let trouble): throw CommandFailure("the note is not synchronised: \(trouble)")
    case .opening, .live, .offline, .closed: break
    }
  }

  func finish() {}
}

/// A text, with the position up to which it was shown, which moves with edits.
struct TextFollower {
  private var units: [UInt16]
  /// The number of UTF-16 units that were shown or skipped.
  private var shown: Int

  /// Begins before the last lines of a text.
  init(_ text: String, lines: Int) {
    units = Array(text.utf16)
    shown = units.count
    var left = lines
    // A newline at the end of the text does not begin a line.
    var index = units.last == Self.newline ? units.count - 1 : units.count
    while left > 0 {
      while index > 0, units[index - 1] != Self.newline { index -= 1 }
      shown = index
      left -= 1
      guard index > 0 else { break }
      index -= 1
    }
  }

  private static let newline: UInt16 = 0x0a

  /// Applies edits to the text.
  mutating func apply(_ edits: [TextEdit]) {
    for edit in edits {
      let count = edit.text.utf16.count
      units.replaceSubrange(edit.range, with: edit.text.utf16)
      // Text inserted exactly at the end of the shown part is new.
      if edit.range.upperBound <= shown, edit.range.lowerBound < shown {
        shown += count - edit.range.count
      } else if edit.range.lowerBound < shown {
        shown = edit.range.lowerBound
      }
    }
  }

  /// Replaces the text. Text after an unchanged shown part is new, from the beginning of a line.
  mutating func reset(to text: String) {
    let fresh = Array(text.utf16)
    var same = 0
    let most = min(shown, fresh.count)
    while same < most, units[same] == fresh[same] { same += 1 }
    if same < shown {
      // The shown part has changed: treat as many units as shown, up to the beginning of a line.
      same = min(shown, fresh.count)
      while same > 0, same < fresh.count, fresh[same - 1] != Self.newline { same -= 1 }
    }
    units = fresh
    shown = same
  }

  /// Removes and returns the complete lines that were not shown; `nil` if there are none.
  mutating func news() -> String? {
    guard shown < units.count, let last = units[shown...].lastIndex(of: Self.newline) else {
      return nil
    }
    defer { shown = last + 1 }
    return WholeText.normalized(String(decoding: units[shown...last], as: UTF16.self))
  }
}
