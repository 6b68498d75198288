import OTCore

/// Two operations on a document, and quill-delta's results for them. Lengths are in UTF-16, inserts
/// precede deletes, and inserted text takes no formatting from the other operation.
struct DeltaVector {
  private let value: JSONValue
  private let document: RichDocument
  private let committed: RichOperation
  private let incoming: RichOperation

  init(_ value: JSONValue) throws {
    self.value = value
    var document = RichDocument()
    try document.apply(Self.operation(value["doc"], on: []))
    self.document = document
    let text = Array(document.text.text.unicodeScalars)
    committed = try Self.operation(value["committed"], on: text)
    incoming = try Self.operation(value["incoming"], on: text)
  }

  /// Whether transforming, applying, composing and inverting give the recorded results.
  func agrees() throws -> Bool {
    var after = document
    try after.apply(committed)
    let text = Array(after.text.text.unicodeScalars)
    let result = try incoming.transformed(over: committed, side: .right, growth: .stays)
    guard try Self.canonical(result) == Self.operation(value["result"], on: text) else {
      return false
    }
    var both = RichDocument()
    try both.apply(Self.operation(value["composed"], on: []))
    try after.apply(result)
    var composed = document
    try composed.apply(committed.composed(with: result))
    guard after == both, composed == both else { return false }
    // quill-delta also writes removals without effect, so the resulting documents are compared.
    var changed = document
    try changed.apply(incoming)
    var other = changed
    try other.apply(
      Self.operation(value["inverse"], on: Array(changed.text.text.unicodeScalars)))
    try changed.apply(incoming.inverted(on: document))
    return changed == document && other == document
  }

  /// Reads a Delta on a text. The text after its last part is retained.
  private static func operation(
    _ delta: JSONValue?, on text: [Unicode.Scalar]
  ) throws -> RichOperation {
    guard let parts = delta?.list else { throw BenchError("expected a list of operations") }
    var builder = RichOperationBuilder()
    var rest = text[...]
    func take(_ units: Int) throws -> Int {
      var left = units
      var count = 0
      while left > 0 {
        guard let scalar = rest.popFirst() else { throw BenchError("a length beyond the text") }
        left -= UTF16.width(scalar)
        count += 1
      }
      guard left == 0 else { throw BenchError("a length within a surrogate pair") }
      return count
    }
    for part in parts {
      let set = try AttributeSet(json: Self.json(part["attributes"] ?? .object([:])))
      if let text = part["insert"]?.text {
        builder.insert(text, with: set)
      } else if let units = part["delete"]?.int {
        builder.delete(try take(units))
      } else if let units = part["retain"]?.int {
        builder.retain(try take(units), setting: set)
      }
    }
    builder.retain(rest.count)
    return builder.finished()
  }

  private static func json(_ value: JSONValue) -> String {
    switch value {
    case .null: "null"
    case .bool(let isTrue): isTrue ? "true" : "false"
    case .number(let number): "\(Int(number))"
    case .string(let text): "\"\(text)\""
    case .array(let values): "[" + values.map(json).joined(separator: ",") + "]"
    case .object(let fields):
      "{" + fields.map { "\"\($0.key)\":\(json($0.value))" }.joined(separator: ",") + "}"
    }
  }

  /// Returns the operation with inserts before deletes at each position, as quill-delta writes it.
  private static func canonical(_ operation: RichOperation) throws -> RichOperation {
    var normal = TextOperation()
    var inserts: [String] = []
    var deleted = 0
    for component in operation.text.components + [.retain(0)] {
      switch component {
      case .retain(let count):
        for text in inserts { normal.insert(text) }
        normal.delete(deleted)
        normal.retain(count)
        inserts = []
        deleted = 0
      case .insert(let text): inserts.append(text)
      case .delete(let count): deleted += count
      }
    }
    var json: [UInt8] = []
    guard let format = operation.format else { return RichOperation(normal) }
    format.appendJSON(to: &json)
    return try RichOperation(text: normal, formatJSON: json)
  }
}
