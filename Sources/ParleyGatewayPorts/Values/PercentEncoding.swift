/// Percent-encoding (RFC 3986), used in URLs and in lines of files.
package enum PercentEncoding {
  /// Returns a text in which all bytes except unreserved characters are encoded.
  package static func encoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: "."), UInt8(ascii: "~"):
        bytes.append(byte)
      default:
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Decodes a name or a value of a query, in which `+` encodes a space; `nil` as ``decoded(_:)``.
  package static func decoded(inQuery text: Substring) -> String? {
    decoded(text, plus: UInt8(ascii: " "))
  }

  /// Decodes a text; `nil` if an escape is malformed or the result is not UTF-8.
  ///
  /// - Complexity: O(*n*) bytes.
  package static func decoded(_ text: Substring) -> String? {
    decoded(text, plus: UInt8(ascii: "+"))
  }

  private static func decoded(_ text: Substring, plus: UInt8) -> String? {
    var text = text
    return text.withUTF8 { bytes(in: $0, plus: plus) }.flatMap {
      String(validating: $0, as: UTF8.self)
    }
  }

  /// Decodes a value of a form, in which `+` encodes a space; `nil` if an escape is malformed.
  package static func bytes(inForm value: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    bytes(in: value, plus: UInt8(ascii: " "))
  }

  /// Decodes bytes in one pass.
  private static func bytes(in text: UnsafeBufferPointer<UInt8>, plus: UInt8) -> [UInt8]? {
    // All empty arrays share one buffer, whose count must not be written.
    guard !text.isEmpty else { return [] }
    var isBroken = false
    let bytes = [UInt8](unsafeUninitializedCapacity: text.count) { target, count in
      var index = 0
      while index < text.count {
        let byte = text[index]
        index += 1
        switch byte {
        case UInt8(ascii: "%"):
          guard index + 1 < text.count, let high = digit(text[index]),
            let low = digit(text[index + 1])
          else {
            isBroken = true
            return
          }
          target[count] = high << 4 | low
          index += 2
        case UInt8(ascii: "+"): target[count] = plus
        default: target[count] = byte
        }
        count += 1
      }
    }
    return isBroken ? nil : bytes
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
