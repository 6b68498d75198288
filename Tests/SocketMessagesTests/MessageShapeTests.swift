import Foundation
import ParleyJSON
import ParleyOTWorkloads
import SocketMessages
import Testing

/// The messages' declarations as data, and the files generated from them.
@Suite("Shapes of messages")
struct MessageShapeTests {
  /// A kind of message, of either side.
  struct Kind: Sendable, CustomTestStringConvertible {
    let direction: Dialect.Direction
    let type: String
    let shape: MessageShape?

    var testDescription: String { "\(direction.rawValue) \(type)" }

    static let all =
      ClientMessage.Kind.allCases.map {
        Kind(direction: .client, type: $0.rawValue, shape: $0.shape)
      }
      + ServerMessage.Kind.allCases.map {
        Kind(direction: .server, type: $0.rawValue, shape: $0.shape)
      }
  }

  @Test("every kind is decoded, and every object names each field once", arguments: Kind.all)
  func fields(kind: Kind) throws {
    for case .object(let name, let fields) in try #require(kind.shape).objects {
      #expect(Set(fields.map(\.name)).count == fields.count, "\(name)")
      // Fields that were read are marked by bits.
      #expect(fields.count <= 64, "\(name)")
    }
  }

  /// An `Int` has 32 bits in a browser.
  @Test("times are read in 64 bits", arguments: Kind.all)
  func times(kind: Kind) throws {
    for case .object(let name, let fields) in try #require(kind.shape).objects {
      for field in fields where ["time", "serverTime", "expiresAt"].contains(field.name) {
        #expect(field.shape == .milliseconds, "\(name).\(field.name)")
      }
    }
  }

  @Test("the examples of the page show every field, in the order in which it is written")
  func examples() throws {
    var shown: Set<String> = []
    let examples = try ProtocolPage().examples()
    for kind in Kind.all {
      let shape = try #require(kind.shape)
      for example in examples
      where example.direction == kind.direction.rawValue && example.type == kind.type {
        let data = try #require(JSONFields(example.json.utf8)?["data"], "line \(example.line)")
        #expect(shape.mismatch(with: data, &shown) == nil, "line \(example.line)")
      }
    }
    let declared = Set(
      Kind.all.flatMap { $0.shape?.objects ?? [] }.flatMap { shape -> [String] in
        guard case .object(let name, let fields) = shape else { return [] }
        return fields.map { "\(name).\($0.name)" }
      })
    #expect(declared.subtracting(shown).sorted() == [])
  }

  @Test("fields are read in any order, repeated, and among unknown ones")
  func shuffled() throws {
    var count = 0
    for seed: UInt64 in 1...40 {
      var random = SplitMix64(seed: seed)
      for dialect in [Dialect.client, .server] {
        for bytes in random.encoded(dialect) {
          // Published data may be nested as deep as a value of its own may be.
          guard let message = JSONFields(bytes) else { continue }
          let data = try #require(message["data"]?.fields)
          count += 1
          var fields: [JSONFields.Field] = []
          for field in data.all {
            if random.once(in: 3) { fields.append(field) }
            fields.insert(field, at: fields.isEmpty ? 0 : random.number(0...fields.count))
            if random.once(in: 3) {
              fields.insert(
                JSONFields.Field("x\(fields.count)", JSONValue([1, 2].map { JSONValue($0) })),
                at: random.number(0...fields.count))
            }
          }
          let shuffled = JSONFields(
            message.all.map {
              $0.name == "data" ? .init("data", JSONValue(JSONFields(fields))) : $0
            }
          )
          #expect(try dialect.decode(shuffled.json).bytes == bytes, "seed \(seed)")
        }
      }
    }
    #expect(count > 1_000)
  }

  // MARK: Generated files

  @Test("the types for TypeScript are those of the messages")
  func typeScript() throws {
    try expect(TypeScript.types, in: "Documentation/parley.v1.d.ts")
  }

  @Test("the fuzzers know every type and field")
  func dictionary() throws {
    let path = "Fuzz/json.dict"
    let mark = "# From the messages of parley.v1; see MessageShapeTests.\n"
    let text = try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
    let start = try #require(text.range(of: mark)).upperBound
    let names = Kind.all.flatMap { $0.shape?.objects ?? [] }.flatMap { shape -> [String] in
      guard case .object(_, let fields) = shape else { return [] }
      return fields.map { #""\"\#($0.name)\":""# }
    }
    let words = Kind.all.map { #""\#($0.type)""# } + names
    try expect(text[..<start] + Set(words).sorted().map { "\($0)\n" }.joined(), in: path)
  }

  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Compares a file with its expected text; with `PARLEY_WRITE_GENERATED=1`, writes it.
  private func expect(_ text: String, in path: String) throws {
    let file = Self.root.appendingPathComponent(path)
    if ProcessInfo.processInfo.environment["PARLEY_WRITE_GENERATED"] == "1" {
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    let found = try String(contentsOf: file, encoding: .utf8)
    #expect(
      found == text,
      "\(path) is out of date; run these tests with PARLEY_WRITE_GENERATED=1 to write it anew")
  }
}

extension MessageShape {
  /// The objects in it, itself first.
  var objects: [MessageShape] {
    switch self {
    case .object(_, let fields): [self] + fields.flatMap(\.shape.objects)
    case .list(let element): element.objects
    case .text, .integer, .milliseconds, .flag, .any, .operation, .run, .pair, .word: []
    }
  }

  /// The places where a value has another shape; adds the fields that it shows.
  func mismatch(with value: JSONValue, _ shown: inout Set<String>) -> String? {
    switch self {
    case .any: return nil
    case .text: return value.string == nil ? "no text" : nil
    case .integer, .milliseconds: return value.integer == nil ? "no integer" : nil
    case .flag: return value.boolean == nil ? "no flag" : nil
    case .operation: return value.elements == nil ? "no operation" : nil
    case .run:
      let numbered = value.elements.map { $0.count { $0.fields == nil } }
      return numbered.map { $0 % 3 } == 0 ? nil : "no run of changes"
    case .pair: return value.elements?.compactMap(\.integer).count == 2 ? nil : "no pair"
    case .word(let words): return words.contains(value.string ?? "") ? nil : "no such word"
    case .list(let element):
      guard let elements = value.elements else { return "no list" }
      for value in elements {
        if let inner = element.mismatch(with: value, &shown) { return inner }
      }
      return nil
    case .object(let name, let fields):
      guard let all = value.fields?.all else { return "\(name) is no object" }
      let names = all.map(\.name)
      guard fields.map(\.name).filter(names.contains) == names else {
        return "\(name) has other fields, or another order"
      }
      for field in fields {
        guard let value = all.first(where: { $0.name == field.name })?.value else {
          if field.presence == .optional { continue }
          return "\(name).\(field.name) is missing"
        }
        shown.insert("\(name).\(field.name)")
        if value.isNull, field.presence == .nullable { continue }
        if let inner = field.shape.mismatch(with: value, &shown) {
          return "\(name).\(field.name): \(inner)"
        }
      }
      return nil
    }
  }
}
