package import OTCore
public import ParleyClient

/// A piece of a formatted text within one line, with equal attributes.
public struct FormattedRun: Sendable, Hashable {
  /// The range, in UTF-16 units of the whole text. A line's last run includes its newline.
  public let range: Range<Int>
  /// The attributes of the text, such as `bold`, with the names of `NoteDelta`.
  public let attributes: NoteAttributes
  /// The attributes of the line, such as `header`.
  public let line: NoteAttributes
  /// The embedded thing that U+FFFC stands for, such as an `image`.
  public let embed: NoteEmbed?

  /// Creates a run.
  public init(
    range: Range<Int>, attributes: NoteAttributes = [:], line: NoteAttributes = [:],
    embed: NoteEmbed? = nil
  ) {
    self.range = range
    self.attributes = attributes
    self.line = line
    self.embed = embed
  }
}

/// An embedded thing of a formatted text.
public struct NoteEmbed: Sendable, Hashable {
  /// The kind, such as `image`.
  public let kind: String
  /// The value, such as the address of a file.
  public let value: NoteAttribute

  /// Creates an embedded thing.
  public init(kind: String, value: NoteAttribute) {
    self.kind = kind
    self.value = value
  }
}

/// A text view that shows the formatting of a note.
///
/// It reports changes of its text as any ``EditableTextView``; what formats is called on
/// ``NoteBinding``.
@MainActor public protocol FormattedTextView: EditableTextView {
  /// Shows the formatting of whole lines. The runs ascend without gaps, and replace all former
  /// attributes of their ranges. Called after ``EditableTextView/replace(_:with:)``.
  func show(_ runs: [FormattedRun])
}

extension FormattedRun {
  /// Returns the runs of the lines that a range of scalars touches.
  ///
  /// - Complexity: O(*scalars* · log *runs*).
  package static func runs(of content: RichDocument, touching scalars: Range<Int>) -> [FormattedRun]
  {
    let text = content.text
    var place = text.scalarOffset(ofLine: text.line(ofScalar: scalars.lowerBound))
    var runs: [FormattedRun] = []
    while place < text.scalarCount, place <= scalars.upperBound {
      let newline = text.newline(from: place)
      let end = newline ?? text.scalarCount
      let line =
        newline.map {
          NoteAttributes(content.attributes(at: $0)).filter { NoteDelta.isOfLines($0.key) }
        } ?? [:]
      repeat {
        let set = place < end ? content.attributes(at: place) : AttributeSet()
        let embed = set.embedded.map { NoteEmbed(kind: $0.kind, value: $0.value) }
        var next = min(place + 1, end)
        while embed == nil, next < end, content.attributes(at: next) == set { next += 1 }
        // A newline belongs to the run before it, but for an embed.
        if next == end, newline != nil, embed == nil || place == end { next += 1 }
        let start = text.utf16Offset(ofScalar: place)
        runs.append(
          FormattedRun(
            range: start..<text.utf16Offset(ofScalar: next),
            attributes: NoteAttributes(set).filter { !NoteDelta.isOfLines($0.key) }, line: line,
            embed: embed))
        place = next
      } while place < end || (place == end && newline != nil)
    }
    return runs
  }
}

extension RichDocument {
  /// The attributes of text that is typed at a position.
  package func attributesOfTyping(at position: Int) -> NoteAttributes {
    guard hasAttributes, let typing = try? text.replacement(of: position..<position, with: "x")
    else { return [:] }
    var typed = self
    guard (try? typed.apply(RichOperation(typing, inheritingFrom: self))) != nil else { return [:] }
    return NoteAttributes(typed.attributes(at: position))
  }

  /// The attributes that all text of a range has, and all of its lines.
  package func commonAttributes(of range: Range<Int>) -> NoteAttributes {
    let units =
      text.utf16Offset(ofScalar: range.lowerBound)..<text.utf16Offset(ofScalar: range.upperBound)
    let runs = FormattedRun.runs(of: self, touching: range).filter { $0.range.overlaps(units) }
    guard let first = runs.first else { return [:] }
    let all = first.attributes.merging(first.line) { $1 }
    return all.filter { entry in
      runs.allSatisfy { ($0.attributes[entry.key] ?? $0.line[entry.key]) == entry.value }
    }
  }
}
