import GatewayPorts
import ParleyClient

/// `parley note tail`: the last lines, then each that is added at the end.
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
      case .changed(let change): follower?.apply(change.edits)
      }
      if let news = follower?.news() { Terminal.output(news) }
    }
    let state = await note.state
    switch state {
    case .deleted: throw CommandFailure("the note was deleted")
    case .failed(let trouble): throw CommandFailure("the note is not followed: \(trouble)")
    case .opening, .live, .offline, .closed: break
    }
  }

  func finish() {}
}

/// The place up to which a text was shown, which moves with the text.
struct TextFollower {
  private var units: [UInt16]
  /// The UTF-16 units that were shown, or are not to be.
  private var shown: Int

  /// Begins with the last lines of a text.
  init(_ text: String, lines: Int) {
    units = Array(text.utf16)
    shown = units.count
    var left = lines
    // The newline that ends the last line begins none.
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

  /// Changes the text.
  mutating func apply(_ edits: [TextEdit]) {
    for edit in edits {
      let count = edit.text.utf16.count
      units.replaceSubrange(edit.range, with: edit.text.utf16)
      // What is inserted just where it was shown up to is news.
      if edit.range.upperBound <= shown, edit.range.lowerBound < shown {
        shown += count - edit.range.count
      } else if edit.range.lowerBound < shown {
        shown = edit.range.lowerBound
      }
    }
  }

  /// Takes another text: what follows the part that both begin with is news, from a line's beginning.
  mutating func reset(to text: String) {
    let fresh = Array(text.utf16)
    var same = 0
    let most = min(shown, fresh.count)
    while same < most, units[same] == fresh[same] { same += 1 }
    if same < shown {
      // The shown part is another one: its lines are not shown again, as far as they are as many.
      same = min(shown, fresh.count)
      while same > 0, same < fresh.count, fresh[same - 1] != Self.newline { same -= 1 }
    }
    units = fresh
    shown = same
  }

  /// The lines that are complete and were not shown; `nil` if there are none.
  mutating func news() -> String? {
    guard shown < units.count, let last = units[shown...].lastIndex(of: Self.newline) else {
      return nil
    }
    defer { shown = last + 1 }
    return WholeText.normalized(String(decoding: units[shown...last], as: UTF16.self))
  }
}
