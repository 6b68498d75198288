import ParleyJSON
import OTCore
import ParleyOTWorkloads
import SocketMessages
import Testing

@Suite("Escapes in texts")
struct EscapeTests {
  /// Scalars of which texts are made: some to be escaped, some that begin with bytes near those.
  private static let scalars: [Unicode.Scalar] = [
    "\0", "\u{1}", "\t", "\n", "\r", "\u{1f}", " ", "!", "\"", "#", "[", "\\", "]", "a", "\u{7f}",
    "é", "漢", "🙂",
  ]

  /// The same by the book, scalar by scalar (RFC 8259, section 7).
  private static func reference(_ text: String) -> String {
    var json = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": json += #"\n"#
      case "\r": json += #"\r"#
      case "\t": json += #"\t"#
      case "\"": json += #"\""#
      case "\\": json += #"\\"#
      case ..<" ":
        let digits = String(scalar.value, radix: 16)
        json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: json.unicodeScalars.append(scalar)
      }
    }
    return json + "\""
  }

  /// Texts are escaped piece by piece: lengths are about those of a piece, two, and of a long text.
  @Test(
    "a text is escaped as in RFC 8259, alone and in a document", arguments: 0..<40 as Range<UInt64>)
  func writing(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for length in [0, 1, 158, 159, 160, 161, 319, 320, 321, 20_000] {
      // Many escapes, or few.
      let plainShare = [0, 1, 30].randomElement(using: &random) ?? 0
      var text = ""
      for _ in 0..<length {
        let isPlain = Int.random(in: 0...30, using: &random) < plainShare
        text.unicodeScalars.append(
          isPlain ? "a" : Self.scalars.randomElement(using: &random) ?? "a")
      }
      let expected = Array(Self.reference(text).utf8)
      var bytes: [UInt8] = []
      JSONWriter.string(text, &bytes)
      #expect(bytes == expected)
      var documentBytes: [UInt8] = []
      JSONWriter.string(Document(text), &documentBytes)
      #expect(documentBytes == expected)
    }
  }
}
