import ParleyGatewayPorts
import Testing

/// Names that are equal only if they have the same bytes.
@Suite("Names compared by their bytes")
struct ExactNameTests {
  @Test("two names are equal if all their bytes are equal, at every length", arguments: 0...40)
  func lengths(length: Int) {
    let bytes = (0..<length).map { UInt8(97 + $0 % 26) }
    let name = ExactName(String(decoding: bytes, as: UTF8.self))
    #expect(name == ExactName(String(decoding: bytes, as: UTF8.self)))
    #expect(name != ExactName(String(decoding: bytes + [97], as: UTF8.self)))
    for place in 0..<length {
      var other = bytes
      other[place] ^= 1
      #expect(name != ExactName(String(decoding: other, as: UTF8.self)))
    }
  }

  @Test("é differs from e with a combining accent, although the strings are equal")
  func letters() {
    #expect("caf\u{e9} of many a name" == "cafe\u{301} of many a name")
    #expect(ExactName("caf\u{e9} of many a name") != ExactName("cafe\u{301} of many a name"))
    // The same number of bytes, with the combining marks in another order.
    let (one, other) = ("q\u{323}\u{307}", "q\u{307}\u{323}")
    #expect(one == other)
    #expect(ExactName(one) != ExactName(other))
  }
}
