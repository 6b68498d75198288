import ParleyJSON
import SocketMessages

/// JSON that is as expensive to read as possible, of the largest message's size.
///
/// Generated from a description of the fields that are read. Each field in turn gets each hostile
/// value of its type; each hostile value is also put beside the fields, under a name that is not
/// read.
struct HostileJSON {
  /// A message or body, and its hostile part.
  struct Input {
    let shape: String
    /// The input's parts, which other inputs share.
    let parts: [[UInt8]]

    var bytes: [UInt8] {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(parts.reduce(0) { $0 + $1.count })
      for part in parts { bytes += part }
      return bytes
    }

    /// Returns the input between two texts.
    func between(_ before: String, _ after: String, named name: String? = nil) -> Input {
      Input(shape: name ?? shape, parts: [Array(before.utf8)] + parts + [Array(after.utf8)])
    }
  }

  /// The size of an input in bytes.
  let size: Int
  /// Field values by name, with which a message passes as many checks as possible.
  private(set) var samples: [String: String]
  private let strings: [Input]
  private let lists: [Input]
  let values: [Input]
  private let fields: [Input]

  init(size: Int, samples: [String: String]) {
    self.size = size
    self.samples = samples
    strings = Self.strings(size)
    lists = Self.lists(size)
    let names = Self.names(size)
    values = strings + lists + names + Self.others(size)
    fields = Self.fields(names, strings, values)
  }

  /// Returns the same hostile values with other field values.
  func with(_ samples: [String: String]) -> HostileJSON {
    var json = self
    json.samples = samples
    return json
  }

  // MARK: Pieces

  /// Returns as many repetitions as fit, separated by commas.
  private static func many(_ piece: String, _ size: Int, in brackets: (String, String)) -> [UInt8] {
    filled("," + piece, size, in: (brackets.0 + piece, brackets.1))
  }

  private static func filled(_ piece: String, _ size: Int, in brackets: (String, String)) -> [UInt8]
  {
    let count = (size - brackets.0.utf8.count - 1) / piece.utf8.count
    return Array((brackets.0 + String(repeating: piece, count: count) + brackets.1).utf8)
  }

  /// Strings, which may also be names.
  private static func strings(_ size: Int) -> [Input] {
    [
      ("a long string", "abcdefgh"), ("escaped control characters", #"\u0001"#),
      ("surrogate pairs", #"\ud83d\ude00"#), ("short escapes", #"\n\""#), ("two-byte scalars", "é"),
      ("four-byte scalars", "😀"), ("escapes among letters", #"a\u00e9"#),
      ("half surrogate pairs", #"\ud83d"#),
    ].map { name, piece in Input(shape: name, parts: [filled(piece, size, in: (#"""#, #"""#))]) }
  }

  private static func lists(_ size: Int) -> [Input] {
    [
      ("zeros", "0"), ("empty strings", #""""#), ("letters", #""a""#), ("empty arrays", "[]"),
      ("empty objects", "{}"), ("words", "null"), ("pairs", "[0,0]"),
      ("small objects", #"{"a":0}"#),
    ].map { name, piece in
      Input(shape: "many " + name, parts: [many(piece, size, in: ("[", "]"))])
    }
  }

  /// Objects of many fields.
  private static func names(_ size: Int) -> [Input] {
    [
      ("many names", differentNames(size)), ("equal names", many(#""a":0"#, size, in: ("{", "}"))),
      ("empty names", many(#""":0"#, size, in: ("{", "}"))),
      ("escaped names", many(#""\u0061":0"#, size, in: ("{", "}"))),
    ].map { Input(shape: $0, parts: [$1]) }
  }

  private static func others(_ size: Int) -> [Input] {
    let depth = 20
    let nest = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    return [
      ("deep nesting", many(nest, size, in: ("[", "]"))),
      ("bottomless nesting", [UInt8](repeating: UInt8(ascii: "["), count: size)),
      ("a long number", [UInt8](repeating: UInt8(ascii: "7"), count: size)),
      ("long fractions", many("-1234567.1234567e-12", size, in: ("[", "]"))),
      ("space", filled(" ", size, in: ("[", "]"))),
    ].map { Input(shape: $0, parts: [$1]) }
  }

  /// Returns an object whose names are all different.
  private static func differentNames(_ size: Int) -> [UInt8] {
    var number = 0
    var object: [UInt8] = [UInt8(ascii: "{")]
    object.reserveCapacity(size + 16)
    while object.count < size {
      if number > 0 { object.append(UInt8(ascii: ",")) }
      object += Array("\"\(String(number, radix: 36))\":0".utf8)
      number += 1
    }
    return object + [UInt8(ascii: "}")]
  }

  /// Fields that are not read, with a comma at the end.
  private static func fields(
    _ names: [Input], _ strings: [Input], _ values: [Input]
  ) -> [Input] {
    names.map {
      Input(shape: $0.shape, parts: [Array($0.parts[0].dropFirst().dropLast()), [0x2c]])
    }
      + strings.map { $0.between("", ":0,", named: "a name of " + $0.shape) }
      + values.map { $0.between(#""x":"#, ",") }
  }

  // MARK: Messages

  /// Returns objects of a shape, each with one hostile value.
  ///
  /// - Parameter besides: Whether hostile values are also put beside the fields.
  func inputs(_ shape: MessageShape, besides: Bool = true) -> [Input] {
    guard case .object(_, let known) = shape else { return [] }
    func sample(_ field: MessageShape.Field) -> String {
      #""\#(field.name)":"# + (samples[field.name] ?? self.sample(of: field.shape))
    }
    var inputs: [Input] = []
    if besides {
      let rest = known.map(sample).joined(separator: ",")
      inputs += fields.map {
        $0.between(
          "{", (rest.isEmpty ? #""y":0"# : rest) + "}", named: "beside the fields: " + $0.shape)
      }
    }
    for (index, field) in known.enumerated() {
      let before = known[..<index].map { sample($0) + "," }.joined()
      let after = known[(index + 1)...].map { "," + sample($0) }.joined()
      inputs += hostile(field.shape).map {
        $0.between(
          #"{\#(before)"\#(field.name)":"#, after + "}", named: "\(field.name): \($0.shape)")
      }
    }
    return inputs
  }

  /// Returns the hostile values of a type.
  private func hostile(_ shape: MessageShape) -> [Input] {
    switch shape {
    case .text: return strings
    case .integer, .milliseconds: return values.filter { $0.shape == "a long number" }
    case .flag, .pair: return []
    case .word: return Array(strings.prefix(2))
    case .any: return values
    case .operation, .run: return operations
    case .list(let element):
      let elements = Self.many(sample(of: element), size, in: ("[", "]"))
      return lists + [Input(shape: "many elements", parts: [elements])]
        + hostile(element).map { $0.between("[", "]", named: "in a list, " + $0.shape) }
    case .object:
      return inputs(shape).filter { !$0.shape.hasPrefix("beside") || $0.shape.hasSuffix("names") }
    }
  }

  private var operations: [Input] {
    [
      ("many zeros", "0"), ("many empty texts", #""""#), ("many letters", #""a""#),
      ("many deletions", "-1"), ("many pairs", #""a",-1"#), ("many retentions", #"1,"a""#),
    ].map { name, piece in Input(shape: name, parts: [Self.many(piece, size, in: ("[", "]"))]) }
      + strings.map { $0.between("[", "]", named: "a text: " + $0.shape) }
  }

  /// Returns a valid value of a type, used for fields that `samples` does not contain.
  func sample(of shape: MessageShape) -> String {
    switch shape {
    case .text: #""x""#
    case .integer, .milliseconds: "0"
    case .flag: "true"
    case .pair: "[0,0]"
    case .word(let words): "\"\(words.first ?? "")\""
    case .any: "0"
    case .operation, .run, .list: "[]"
    case .object(_, let fields):
      "{"
        + fields.map { #""\#($0.name)":\#(samples[$0.name] ?? sample(of: $0.shape))"# }
        .joined(separator: ",") + "}"
    }
  }
}
