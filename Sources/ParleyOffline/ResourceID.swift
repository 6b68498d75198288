package import ParleyModel

/// The id of a resource: the server's id, or a temporary one until the server creates it.
///
/// In JSON a server's id is a string or a number, as the server writes it. A temporary id is an
/// object, `{"$ref":"t:…"}`: wherever it occurs in a request, it is replaced by the server's id
/// once that is known. No other text is changed.
public struct ResourceID: Hashable, Sendable {
  package enum Form: Hashable, Sendable {
    case text(ExactName)
    case number(Int64)
    case temporary(String)
  }

  package let form: Form

  package init(_ form: Form) { self.form = form }

  /// Creates a server's id that is a text.
  public init(_ text: String) { form = .text(ExactName(text)) }

  /// Creates a server's id that is a number.
  public init(_ number: Int64) { form = .number(number) }

  /// Creates a temporary id that is unique: 128 random bits.
  public static func temporary() -> ResourceID { ResourceID(.temporary("t:" + RandomName.make())) }

  /// Whether the server has not assigned an id yet.
  public var isTemporary: Bool { temporaryName != nil }

  package var temporaryName: String? {
    if case .temporary(let name) = form { name } else { nil }
  }
}

extension ResourceID: CustomStringConvertible, ExpressibleByStringLiteral,
  ExpressibleByIntegerLiteral
{
  /// The server's id as text; a temporary id begins with `t:`.
  public var description: String {
    switch form {
    case .text(let name): name.text
    case .temporary(let name): name
    case .number(let number): String(number)
    }
  }

  /// Creates a server's id that is a text.
  public init(stringLiteral value: String) { self.init(value) }

  /// Creates a server's id that is a number.
  public init(integerLiteral value: Int64) { self.init(value) }
}

extension ResourceID: Codable {
  private enum Key: String, CodingKey { case reference = "$ref" }

  /// Reads a string, a number, or a temporary id's object.
  public init(from decoder: any Decoder) throws {
    if let object = try? decoder.container(keyedBy: Key.self) {
      let name = try object.decode(String.self, forKey: .reference)
      guard Self.isTemporaryName(name) else {
        throw DecodingError.dataCorruptedError(
          forKey: .reference, in: object, debugDescription: "expected a name that begins with t:")
      }
      form = .temporary(name)
      return
    }
    let value = try decoder.singleValueContainer()
    if let number = try? value.decode(Int64.self) {
      form = .number(number)
    } else {
      form = .text(ExactName(try value.decode(String.self)))
    }
  }

  /// Writes a string, a number, or a temporary id's object.
  public func encode(to encoder: any Encoder) throws {
    switch form {
    case .text(let name):
      var value = encoder.singleValueContainer()
      try value.encode(name.text)
    case .number(let number):
      var value = encoder.singleValueContainer()
      try value.encode(number)
    case .temporary(let name):
      var object = encoder.container(keyedBy: Key.self)
      try object.encode(name, forKey: .reference)
    }
  }

  package static func isTemporaryName(_ name: String) -> Bool { name.utf8.starts(with: "t:".utf8) }
}

/// Unique names.
package enum RandomName {
  /// Returns 128 random bits in letters and digits.
  package static func make() -> String {
    let digits = [UInt64.random(in: .min ... .max), .random(in: .min ... .max)].map {
      let text = String($0, radix: 36)
      return String(repeating: "0", count: 13 - text.count) + text
    }
    return digits.joined()
  }
}
