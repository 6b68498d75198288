package import OTCore
import ParleyJSON

/// A value of an attribute of formatted text.
public enum NoteAttribute: Sendable, Hashable {
  /// The attribute is set, such as bold.
  case set
  /// A number, such as the level of a heading.
  case number(Int)
  /// A text, such as the address of a link.
  case text(String)
  /// In a change: the attribute is removed.
  case removed
}

/// Attributes of text by their names, such as `bold`.
public typealias NoteAttributes = [String: NoteAttribute]

/// A formatted text, or a change of one, in the form of Quill's Delta.
///
///     let change = NoteDelta([.retain(5, ["bold": .set]), .insert("!", [:])])
///
/// Lengths count UTF-16 units, as in `NSRange`. The kind of a line is an attribute of its newline:
/// `header`, `list`, `blockquote` or `code-block`.
public struct NoteDelta: Sendable, Hashable {
  /// A step from the beginning of the text to its end.
  public enum Operation: Sendable, Hashable {
    /// Keeps text, and changes its attributes.
    case retain(Int, NoteAttributes)
    /// Inserts a text with its attributes.
    case insert(String, NoteAttributes)
    /// Inserts a thing of a kind, such as an `image`.
    case embed(String, NoteAttribute, NoteAttributes)
    /// Deletes text.
    case delete(Int)
  }

  /// The operations, in order.
  public var operations: [Operation]

  /// Creates a text or a change.
  public init(_ operations: [Operation]) { self.operations = operations }
}

// MARK: Quill's names

/// The kinds of lines: a note has one attribute `block`, so that two people who change a line see
/// the same line.
private enum LineKind {
  static let quillKeys = ["header", "list", "blockquote", "code-block"]
  static let noteKeys = ["block", "indent", "align", "direction", "language"]

  static func isOfLines(_ key: String) -> Bool { quillKeys.contains(key) || noteKeys.contains(key) }

  static func quill(_ block: String) -> (key: String, value: NoteAttribute)? {
    switch block {
    case "bullet", "ordered": return ("list", .text(block))
    case "task": return ("list", .text("unchecked"))
    case "done": return ("list", .text("checked"))
    case "quote": return ("blockquote", .set)
    case "code": return ("code-block", .set)
    default:
      guard block.utf8.count == 2, block.utf8.first == UInt8(ascii: "h"),
        let level = Int(block.dropFirst()), 1...6 ~= level
      else { return nil }
      return ("header", .number(level))
    }
  }

  static func block(_ key: String, _ value: NoteAttribute) -> String? {
    switch (key, value) {
    case ("header", .number(let level)): "h\(min(6, max(1, level)))"
    case ("list", .text("bullet")): "bullet"
    case ("list", .text("ordered")): "ordered"
    case ("list", .text("unchecked")): "task"
    case ("list", .text("checked")): "done"
    case ("blockquote", .set): "quote"
    case ("code-block", .set), ("code-block", .text): "code"
    default: nil
    }
  }
}

extension NoteAttributes {
  /// Reads a note's attributes, with Quill's names.
  package init(_ set: AttributeSet) {
    self = [:]
    var block: String?
    var language: NoteAttribute?
    set.forEach { key, json in
      guard let value = NoteAttribute(json: json) else { return }
      switch (String(decoding: key, as: UTF8.self), value) {
      case ("block", .text(let kind)): block = kind
      case ("language", _): language = value
      case ("embed", _): break
      case (let name, _): self[name] = value
      }
    }
    if let block, let kind = LineKind.quill(block) {
      self[kind.key] = kind.key == "code-block" ? language ?? kind.value : kind.value
      if kind.key == "code-block" { language = nil }
    } else if let block {
      self["block"] = .text(block)
    }
    if let language { self["language"] = language }
  }

  /// Returns a note's change for these attributes.
  ///
  /// - Parameter present: The note's attributes of the text that changes: a kind of line is removed
  ///   only where the line is of that kind.
  package func change(of present: AttributeSet) throws(NoteError) -> AttributeSet {
    var fields: [String: NoteAttribute] = [:]
    var isSet = false
    let kind = present.text("block").flatMap { LineKind.quill($0)?.key }
    for (key, value) in self {
      guard LineKind.quillKeys.contains(key) else {
        fields[key] = value
        continue
      }
      if value != .removed {
        guard let block = LineKind.block(key, value) else { throw .invalidFormat }
        fields["block"] = .text(block)
        isSet = true
        if key == "code-block", case .text = value { fields["language"] = value }
      } else if kind == key, !isSet {
        fields["block"] = .removed
        if present.text("language") != nil { fields["language"] = .removed }
      }
    }
    return try AttributeSet(fields)
  }
}

extension NoteAttribute {
  /// Reads a value; `nil` for an object.
  fileprivate init?(json: UnsafeBufferPointer<UInt8>) {
    switch json.first {
    case UInt8(ascii: "t"): self = .set
    case UInt8(ascii: "n"): self = .removed
    case UInt8(ascii: "\""):
      var reader = JSONReader(json)
      guard let text = try? reader.string() else { return nil }
      self = .text(text)
    default:
      guard let number = Int(String(decoding: json, as: UTF8.self)) else { return nil }
      self = .number(number)
    }
  }

  fileprivate func appendJSON(to json: inout [UInt8]) {
    switch self {
    case .set: JSONWriter.raw("true", &json)
    case .removed: JSONWriter.raw("null", &json)
    case .number(let number): JSONWriter.integer(number, &json)
    case .text(let text): JSONWriter.string(text, &json)
    }
  }
}

extension AttributeSet {
  /// - Throws: `invalidFormat` for keys and values that a note cannot have.
  fileprivate init(
    _ fields: [String: NoteAttribute], embed: (kind: String, value: NoteAttribute)? = nil
  ) throws(NoteError) {
    var json: [UInt8] = [UInt8(ascii: "{")]
    func key(_ name: String) {
      if json.count > 1 { json.append(UInt8(ascii: ",")) }
      JSONWriter.string(name, &json)
      json.append(UInt8(ascii: ":"))
    }
    for (name, value) in fields {
      guard !name.isExactly("embed") else { throw .invalidFormat }
      key(name)
      value.appendJSON(to: &json)
    }
    if let embed {
      guard embed.value != .removed else { throw .invalidFormat }
      key("embed")
      json.append(UInt8(ascii: "{"))
      JSONWriter.string(embed.kind, &json)
      json.append(UInt8(ascii: ":"))
      embed.value.appendJSON(to: &json)
      json.append(UInt8(ascii: "}"))
    }
    json.append(UInt8(ascii: "}"))
    do throws(OperationError) {
      try self.init(json: String(decoding: json, as: UTF8.self))
    } catch {
      throw .invalidFormat
    }
  }

  fileprivate func text(_ name: String) -> String? {
    var found: String?
    forEach { key, json in
      guard key.elementsEqual(name.utf8), case .text(let text)? = NoteAttribute(json: json) else {
        return
      }
      found = text
    }
    return found
  }

  /// The kind and the value of an embedded thing.
  package var embedded: (kind: String, value: NoteAttribute)? {
    var found: (String, NoteAttribute)?
    forEach { key, json in
      guard key.elementsEqual("embed".utf8) else { return }
      var reader = JSONReader(json)
      guard (try? reader.beginObject()) == true, let kind = try? reader.key().string,
        let value = try? reader.value()
      else { return }
      found = value.utf8.withUnsafeBufferPointer { NoteAttribute(json: $0) }.map { (kind, $0) }
    }
    return found
  }
}

// MARK: Documents and operations

extension NoteDelta {
  /// Whether an attribute is one of lines: of their newlines.
  package static func isOfLines(_ key: String) -> Bool { LineKind.isOfLines(key) }

  /// Creates the operations that insert a text.
  ///
  /// - Complexity: O(*n*).
  package init(_ content: RichDocument) {
    operations = []
    var place = 0
    content.forEachRun { count, set in
      let text = content.text.text(in: place..<place + count)
      place += count
      let attributes = NoteAttributes(set)
      guard let (kind, value) = set.embedded else {
        operations.append(.insert(text, attributes))
        return
      }
      for _ in 0..<count { operations.append(.embed(kind, value, attributes)) }
    }
  }

  /// Returns the operation on a text. Inserted text has the attributes of the Delta, and no other.
  ///
  /// - Throws: `outOfRange`, `invalidFormat`.
  package func operation(on content: RichDocument) throws(NoteError) -> RichOperation {
    var writer = DeltaWriter(content: content)
    for operation in operations {
      switch operation {
      case .retain(let count, let attributes): try writer.retain(count, attributes)
      case .delete(let count): try writer.delete(count)
      case .insert(let text, let attributes):
        writer.builder.insert(text, with: try attributes.change(of: AttributeSet()))
      case .embed(let kind, let value, let attributes):
        var own = attributes
        for key in LineKind.quillKeys { own[key] = nil }
        writer.builder.insert("\u{fffc}", with: try AttributeSet(own, embed: (kind, value)))
      }
    }
    return writer.finished()
  }

  /// Returns the operation that formats a range of UTF-16 units: attributes of lines apply to all
  /// lines that it touches, and give a last line a newline; others apply to the text of the range.
  ///
  /// - Throws: `outOfRange`, `invalidFormat`.
  package static func formatting(
    _ range: Range<Int>, _ attributes: NoteAttributes, of content: RichDocument
  ) throws(NoteError) -> RichOperation {
    let scalars = try content.text.scalars(ofUTF16: range)
    let ofLines = attributes.filter { LineKind.isOfLines($0.key) }
    let ofText = attributes.filter { !LineKind.isOfLines($0.key) }
    let text = content.text
    var writer = DeltaWriter(content: content)
    var isPastEnd = false
    try writer.keep(scalars.lowerBound, [:])
    while writer.place < scalars.upperBound {
      let newline = text.newline(from: writer.place)
      let end = min(newline ?? scalars.upperBound, scalars.upperBound)
      try writer.keep(end - writer.place, ofText)
      isPastEnd = end < scalars.upperBound
      if isPastEnd { try writer.keep(1, ofLines) }
    }
    guard !ofLines.isEmpty, !isPastEnd else { return writer.finished() }
    let newline = text.newline(from: scalars.upperBound)
    try writer.keep((newline ?? text.scalarCount) - writer.place, [:])
    if newline == nil {
      writer.builder.insert("\n", with: try ofLines.change(of: AttributeSet()))
    } else {
      try writer.keep(1, ofLines)
    }
    return writer.finished()
  }
}

extension Document {
  /// Returns the position of the next newline; `nil` in the last line.
  package func newline(from position: Int) -> Int? {
    let next = line(ofScalar: position) + 1
    return next < lineCount ? scalarOffset(ofLine: next) - 1 : nil
  }
}

/// Builds an operation on a text from lengths in UTF-16 units.
private struct DeltaWriter {
  let content: RichDocument
  var builder = RichOperationBuilder()
  /// The position in the text, in scalars.
  private(set) var place = 0
  private var units = 0

  init(content: RichDocument) { self.content = content }

  /// Returns the scalars of the next UTF-16 units.
  private mutating func take(_ count: Int) throws(NoteError) -> Int {
    let (end, overflow) = units.addingReportingOverflow(count)
    let length = content.text.utf16Count
    guard count >= 0, !overflow, end <= length else {
      throw .outOfRange(units..<max(units, overflow ? .max : end), length: length)
    }
    let scalar = content.text.scalarOffset(ofUTF16: end)
    guard content.text.utf16Offset(ofScalar: scalar) == end else { throw .invalidFormat }
    units = end
    return scalar - place
  }

  mutating func retain(_ count: Int, _ attributes: NoteAttributes) throws(NoteError) {
    try keep(take(count), attributes)
  }

  mutating func delete(_ count: Int) throws(NoteError) {
    let scalars = try take(count)
    builder.delete(scalars)
    place += scalars
  }

  /// Keeps scalars, and changes their attributes.
  mutating func keep(_ count: Int, _ attributes: NoteAttributes) throws(NoteError) {
    guard !attributes.isEmpty else {
      builder.retain(count)
      place += count
      return
    }
    var left = count
    while left > 0 {
      let present = content.attributes(at: place)
      var length = 1
      while length < left, content.attributes(at: place + length) == present { length += 1 }
      builder.retain(length, setting: try attributes.change(of: present))
      place += length
      left -= length
    }
  }

  consuming func finished() -> RichOperation {
    builder.retain(content.text.scalarCount - place)
    return builder.finished()
  }
}
