public import Foundation
public import ParleyClient

/// The attributes of a note's text in an attributed string, such as an `NSTextStorage`.
extension NSAttributedString.Key {
  /// The ``FormattedRun`` of a piece of text. Its range is that of the moment at which it was
  /// written; other properties remain valid.
  public static let noteRun = NSAttributedString.Key("parley.run")
}

extension NSMutableAttributedString {
  /// Shows runs: replaces the attributes of their ranges.
  ///
  /// - Parameter style: Returns what shows a run, such as its font.
  public func show(
    _ runs: [FormattedRun],
    style: (FormattedRun) -> [NSAttributedString.Key: Any] = { _ in [:] }
  ) {
    guard let first = runs.first, let last = runs.last else { return }
    let end = min(last.range.upperBound, length)
    guard first.range.lowerBound <= end else { return }
    beginEditing()
    for run in runs where run.range.lowerBound < end {
      let range = run.range.clamped(to: 0..<end)
      var attributes = style(run)
      attributes[.noteRun] = run
      setAttributes(attributes, range: NSRange(location: range.lowerBound, length: range.count))
    }
    endEditing()
  }
}

extension NSAttributedString {
  /// The formatting of a range, as it was shown last. Text without any, such as pasted text, has
  /// none.
  public func noteRuns(in range: Range<Int>) -> [FormattedRun] {
    var runs: [FormattedRun] = []
    let whole = NSRange(location: range.lowerBound, length: range.count)
    enumerateAttribute(.noteRun, in: whole, options: []) { value, range, _ in
      let run = value as? FormattedRun
      runs.append(
        FormattedRun(
          range: range.location..<range.location + range.length, attributes: run?.attributes ?? [:],
          line: run?.line ?? [:], embed: run?.embed))
    }
    return runs
  }

  /// The text of a range with its formatting: for a copy that is inserted in a note by
  /// ``NoteBinding/insert(_:)``.
  public func noteDelta(of range: Range<Int>) -> NoteDelta {
    var operations: [NoteDelta.Operation] = []
    for run in noteRuns(in: range) {
      let part = attributedSubstring(
        from: NSRange(location: run.range.lowerBound, length: run.range.count)
      ).string
      // A newline has the attributes of its line.
      for (index, line) in part.split(separator: "\n", omittingEmptySubsequences: false)
        .enumerated()
      {
        if index > 0 { operations.append(.insert("\n", run.line)) }
        if let embed = run.embed, line == "\u{fffc}" {
          operations.append(.embed(embed.kind, embed.value, run.attributes))
        } else if !line.isEmpty {
          operations.append(.insert(String(line), run.attributes))
        }
      }
    }
    return NoteDelta(operations)
  }
}
