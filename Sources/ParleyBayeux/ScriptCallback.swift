/// The name of the function that receives a response, in JSON-P.
///
/// The name becomes code in the requesting page, so it consists only of identifiers with full stops
/// between them.
public struct ScriptCallback: Sendable, Hashable {
  /// The name; only ASCII.
  public let name: String

  /// Maximum bytes of a name.
  public static let bytesMax = 128

  /// The default name if a request has none, as in Faye's servers.
  public static let standard = ScriptCallback(checked: "jsonpcallback")

  private init(checked name: String) { self.name = name }

  /// Reads a name; `nil` if it is invalid.
  public init?(_ name: String) {
    let bytes = Array(name.utf8)
    guard bytes.count <= Self.bytesMax else { return nil }
    for identifier in bytes.split(
      separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    {
      guard let first = identifier.first, Self.isLetter(first),
        identifier.allSatisfy({ Self.isLetter($0) || Self.isDigit($0) })
      else { return nil }
    }
    self.name = name
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "_"), UInt8(ascii: "$"):
      true
    default: false
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  /// Returns a script that calls the function with JSON.
  ///
  /// The leading comment prevents the requester from choosing the response's first bytes by the
  /// name, which could make it look like a file of another type.
  ///
  /// - Complexity: O(*n*) bytes.
  public func script(_ json: [UInt8]) -> [UInt8] {
    var script = Array("/**/\(name)(".utf8)
    script.reserveCapacity(script.count + json.count + 2)
    var index = 0
    while index < json.count {
      // U+2028 and U+2029 are line ends in scripts of old browsers, but not in JSON.
      if json[index] == 0xe2, index + 2 < json.count, json[index + 1] == 0x80,
        json[index + 2] | 1 == 0xa9
      {
        script.append(contentsOf: (json[index + 2] == 0xa8 ? "\\u2028" : "\\u2029").utf8)
        index += 3
      } else {
        script.append(json[index])
        index += 1
      }
    }
    script.append(contentsOf: ");".utf8)
    return script
  }
}
