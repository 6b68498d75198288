package import OTCore
import ParleyJSON

extension RichDocument {
  /// Returns the text as a Delta of Quill: a list of inserts, as JSON in UTF-8.
  ///
  ///     [{"insert":"Title"},{"insert":"\n","attributes":{"header":1}}]
  ///
  /// The kind of a line has Quill's names. Unknown attributes are contained as they are.
  ///
  /// - Throws: `tooLarge` beyond the maximum.
  /// - Complexity: O(*n*).
  package func delta(bytesMax: Int = FormLimits.bytesMax) throws(FormError) -> [UInt8] {
    var bytes: [UInt8] = []
    text.forEachChunk { bytes.append(contentsOf: $0) }
    var writer = DeltaWriter(text: bytes, bytesMax: bytesMax)
    forEachRun { writer.append($0, $1) }
    writer.out.put("]")
    guard !writer.isTooLarge else { throw .tooLarge(bytesMax: bytesMax) }
    return writer.out
  }
}

private struct DeltaWriter {
  let text: [UInt8]
  let bytesMax: Int
  var out: [UInt8] = Array("[".utf8)
  private var place = 0
  private var isFirst = true
  private var known: [AttributeSet: DeltaAttributes] = [:]

  init(text: [UInt8], bytesMax: Int) {
    self.text = text
    self.bytesMax = bytesMax
  }

  var isTooLarge: Bool { out.count > bytesMax }

  mutating func append(_ scalars: Int, _ set: AttributeSet) {
    let start = place
    for _ in 0..<scalars {
      place += 1
      while place < text.count, text[place] & 0xc0 == 0x80 { place += 1 }
    }
    if isTooLarge || scalars == 0 { return }
    let attributes = known[set] ?? DeltaAttributes(set)
    known[set] = attributes
    guard let embed = attributes.embed else {
      text[start..<place].withUnsafeBufferPointer { piece in
        appendOp(attributes) { JSONWriter.string(piece, &$0) }
      }
      return
    }
    for _ in 0..<scalars where !isTooLarge { appendOp(attributes) { $0 += embed } }
  }

  private mutating func appendOp(
    _ attributes: DeltaAttributes, _ appendInsert: (inout [UInt8]) -> Void
  ) {
    if !isFirst { out.put(",") }
    isFirst = false
    out.put("{\"insert\":")
    appendInsert(&out)
    if !attributes.json.isEmpty {
      out.put(",\"attributes\":{")
      out += attributes.json
      out.put("}")
    }
    out.put("}")
  }
}

/// A set of attributes with Quill's names.
private struct DeltaAttributes {
  /// The fields of the object.
  private(set) var json: [UInt8] = []
  /// The object of an embed.
  private(set) var embed: [UInt8]?

  init(_ set: AttributeSet) {
    var language: [UInt8]?
    var isCode = false
    set.forEach { key, value in
      if key.isEqual(to: "language") { language = Self.languageName(value) }
      isCode = isCode || key.isEqual(to: "block") && value.isEqual(to: "\"code\"")
    }
    set.forEach { key, value in
      if key.isEqual(to: "embed") {
        embed = Array(value)
      } else if key.isEqual(to: "block"), let (name, quill) = DeltaNames.quill(block: value) {
        add(name, isCode ? language ?? quill : quill)
      } else if isCode, language != nil, key.isEqual(to: "language") {
        return
      } else {
        if !json.isEmpty { json.put(",") }
        JSONWriter.string(key, &json)
        json.put(":")
        json += value
      }
    }
  }

  private mutating func add(_ name: StaticString, _ value: [UInt8]) {
    if !json.isEmpty { json.put(",") }
    json.put("\"")
    json.put(name)
    json.put("\":")
    json += value
  }

  /// A language that Quill can name: a string, and not the name of code without a language.
  private static func languageName(_ value: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    value.first == UInt8(ascii: "\"") && !value.isEqual(to: "\"plain\"") ? Array(value) : nil
  }
}

/// The names of a line's kind in Quill, beside the values of `block`.
enum DeltaNames {
  /// Returns Quill's attribute for a value of `block`, both as JSON; `nil` for an unknown value.
  static func quill(block: UnsafeBufferPointer<UInt8>) -> (name: StaticString, value: [UInt8])? {
    if block.count == 4, block[1] == UInt8(ascii: "h"),
      UInt8(ascii: "1")...UInt8(ascii: "6") ~= block[2]
    {
      return ("header", [block[2]])
    }
    if block.isEqual(to: "\"bullet\"") { return ("list", Array(block)) }
    if block.isEqual(to: "\"ordered\"") { return ("list", Array(block)) }
    if block.isEqual(to: "\"task\"") { return ("list", Array("\"unchecked\"".utf8)) }
    if block.isEqual(to: "\"done\"") { return ("list", Array("\"checked\"".utf8)) }
    if block.isEqual(to: "\"quote\"") { return ("blockquote", Array("true".utf8)) }
    if block.isEqual(to: "\"code\"") { return ("code-block", Array("true".utf8)) }
    return nil
  }

  /// Returns the value of `block` for an attribute of Quill, both values as JSON; `nil` for any
  /// other attribute. The name of a language is a value of `code-block`.
  static func block(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>)
    -> [UInt8]?
  {
    if name.isEqual(to: "header") {
      guard value.count == 1, UInt8(ascii: "1")...UInt8(ascii: "6") ~= value[0] else { return nil }
      return Array("\"h".utf8) + [value[0], UInt8(ascii: "\"")]
    }
    if name.isEqual(to: "list") {
      if value.isEqual(to: "\"bullet\"") || value.isEqual(to: "\"ordered\"") { return Array(value) }
      if value.isEqual(to: "\"unchecked\"") { return Array("\"task\"".utf8) }
      return value.isEqual(to: "\"checked\"") ? Array("\"done\"".utf8) : nil
    }
    if name.isEqual(to: "blockquote") {
      return value.isEqual(to: "true") ? Array("\"quote\"".utf8) : nil
    }
    if name.isEqual(to: "code-block") {
      return value.isEqual(to: "true") || value.first == UInt8(ascii: "\"") && value.count > 2
        ? Array("\"code\"".utf8) : nil
    }
    return nil
  }
}
