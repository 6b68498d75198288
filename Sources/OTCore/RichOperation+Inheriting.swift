extension RichOperation {
  /// Creates the operation of a client that knows only text: its inserted text takes attributes of
  /// the text around it.
  ///
  /// - Text takes attributes of the scalar before it: those that continue while typing, such as
  ///   bold, and others, such as a link, only if the scalar after it has the same value. At the
  ///   start of a line it takes none.
  /// - A newline takes the attributes of the line that it splits.
  /// - A newline at the end of a heading makes the new line after it a plain one; a newline at its
  ///   start makes the new line before it a plain one.
  ///
  /// The text of the operation does not change. Nothing inherits `embed`.
  ///
  /// - Parameter document: The document to which the operation applies.
  /// - Complexity: O(*components* · log *document*), plus the inserted text.
  public init(_ text: TextOperation, inheritingFrom document: RichDocument) {
    self.init(text)
    guard document.hasAttributes, text.baseLength == document.text.scalarCount else { return }
    var writer = InheritingWriter(document: document)
    for component in text.components {
      switch component {
      case .retain(let count): writer.retain(count)
      case .insert(let inserted): writer.inserted += inserted.unicodeScalars
      case .delete(let count): writer.deleted += count
      }
    }
    writer.endGroup()
    format = Format(spans: writer.spans, runs: writer.runs, sets: writer.table.sets)
  }
}

/// Writes the format of an operation on text, group by group of insertions and deletions.
private struct InheritingWriter {
  let document: RichDocument
  var spans: [RunWord] = []
  var runs: [RunWord] = []
  var table = SetTable()
  /// The base position after the last group.
  private var place = 0
  /// The scalars that the current group inserts, and the number of those that it deletes.
  var inserted: [Unicode.Scalar] = []
  var deleted = 0
  /// The number of the set that changes the scalar after the last group; 0 for none.
  private var changeBehind: UInt32 = 0

  init(document: RichDocument) { self.document = document }

  mutating func retain(_ count: Int) {
    endGroup()
    let changed = changeBehind == 0 ? 0 : min(1, count)
    spans.put(changeBehind, count: changed)
    spans.put(0, count: count - changed)
    changeBehind = 0
    place += count
  }

  /// Writes the runs of a group that ends here.
  mutating func endGroup() {
    let (start, end) = (place, place + deleted)
    spans.put(0, count: deleted)
    place = end
    deleted = 0
    guard !inserted.isEmpty else { return }
    defer { inserted = [] }
    let text = document.text
    let isLineStart = text.scalarOffset(ofLine: text.line(ofScalar: start)) == start
    let newline = nextNewline(from: end)
    let line = newline.map { document.attributes(at: $0).lineAttributes } ?? AttributeSet()
    let plainLine = line.filtered { key, _ in !key.isEqual(to: "block") }
    // Only the first and the last scalar matter: the text between belongs to one of the two lines.
    let endsHeading = line.isHeading && newline == end && inserted.first == "\n"
    let startsHeading = line.isHeading && isLineStart && inserted.last == "\n" && !endsHeading
    var inline = isLineStart ? 0 : table.number(of: inlineAttributes(before: start, behind: end))
    var own = table.number(of: startsHeading ? plainLine : line)
    for scalar in inserted {
      runs.put(scalar == "\n" ? own : inline, count: 1)
      guard scalar == "\n" else { continue }
      inline = 0
      if endsHeading { own = table.number(of: plainLine) }
    }
    if endsHeading { changeBehind = table.number(of: .withoutBlock) }
  }

  /// Returns the position of the next newline; `nil` in the last line.
  private func nextNewline(from position: Int) -> Int? {
    let next = document.text.line(ofScalar: position) + 1
    return next < document.text.lineCount ? document.text.scalarOffset(ofLine: next) - 1 : nil
  }

  private func inlineAttributes(before start: Int, behind end: Int) -> AttributeSet {
    let behind =
      end < document.text.scalarCount ? document.attributes(at: end) : AttributeSet()
    return document.attributes(at: start - 1).filtered { key, value in
      key.isOne(of: AttributeSet.continuing)
        || !key.isOne(of: AttributeSet.ofLines) && !key.isOne(of: AttributeSet.ofEmbeds)
          && behind.hasEntry(key, value)
    }
  }
}

extension AttributeSet {
  /// Keys that text typed after a formatted text takes from it.
  fileprivate static let continuing: [StaticString] = [
    "bold", "italic", "underline", "strike", "script", "color", "background", "size", "font",
  ]
  /// Keys of newlines.
  fileprivate static let ofLines: [StaticString] = [
    "block", "indent", "align", "direction", "language",
  ]
  /// Keys of embeds alone.
  fileprivate static let ofEmbeds: [StaticString] = ["embed", "alt", "width"]

  /// The change that makes a line a plain one.
  fileprivate static let withoutBlock: AttributeSet = {
    let (key, null) = (Array("block".utf8), Array("null".utf8))
    var bytes: [UInt8] = []
    key.withUnsafeBufferPointer { key in
      null.withUnsafeBufferPointer { append(key, $0, to: &bytes) }
    }
    return AttributeSet(bytes: bytes)
  }()

  fileprivate var lineAttributes: AttributeSet {
    filtered { key, _ in key.isOne(of: Self.ofLines) }
  }

  /// Whether the set is that of a heading's newline.
  fileprivate var isHeading: Bool {
    var isHeading = false
    forEach { key, value in
      isHeading =
        isHeading
        || key.isEqual(to: "block") && value.count == 4
          && value[1] == UInt8(ascii: "h")
    }
    return isHeading
  }

  fileprivate func hasEntry(
    _ key: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    var isFound = false
    forEach { isFound = isFound || $0.elementsEqual(key) && $1.elementsEqual(value) }
    return isFound
  }

  /// Returns the set with only some entries.
  fileprivate func filtered(
    _ isKept: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Bool
  ) -> AttributeSet {
    var result: [UInt8] = []
    forEach { if isKept($0, $1) { Self.append($0, $1, to: &result) } }
    return AttributeSet(bytes: result)
  }
}

extension UnsafeBufferPointer<UInt8> {
  fileprivate func isEqual(to text: StaticString) -> Bool {
    elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  fileprivate func isOne(of texts: [StaticString]) -> Bool {
    texts.contains { isEqual(to: $0) }
  }
}
