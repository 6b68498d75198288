import ParleyJSON
import ParleyOTWorkloads
import Testing

@Suite("Runs of scalars in JSON")
struct StringRunTests {
  /// Scalars of each width, at the edges of what their bytes may be.
  private static let scalars: [[String]] = [
    ["a", "~", " "], ["\u{80}", "é", "\u{7ff}"],
    ["\u{800}", "\u{fff}", "\u{1000}", "日", "\u{d7ff}", "\u{e000}", "\u{ffff}"],
    ["\u{10000}", "\u{1f600}", "\u{3ffff}", "\u{40000}", "\u{fffff}", "\u{10ffff}"],
  ]
  private static let bytes: [UInt8] = [
    0x61, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xef, 0xf0,
    0xf3, 0xf4, 0xf5, 0xff,
  ]

  @Test(
    "a string is accepted if it is valid UTF-8, and read unchanged",
    arguments: 0..<20 as Range<UInt64>)
  func strings(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var accepted = 0
    var refused = 0
    for _ in 0..<2_000 {
      let widths = Self.scalars.randomElement(using: &random)!
      var text: [UInt8] = []
      for _ in 0..<Int.random(in: 1...12, using: &random) {
        let isOther = UInt8.random(in: 0..<8, using: &random) == 0
        let scalars = isOther ? Self.scalars.randomElement(using: &random)! : widths
        text += Array(scalars.randomElement(using: &random)!.utf8)
      }
      if Bool.random(using: &random) {
        text[Int.random(in: text.indices, using: &random)] = Self.bytes.randomElement(
          using: &random)!
      }
      let value = JSONValue([UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")])
      let expected = String(validating: text, as: UTF8.self)
      #expect(value?.string.map { Array($0.utf8) } == expected.map { Array($0.utf8) }, "\(text)")
      if expected == nil { refused += 1 } else { accepted += 1 }
    }
    #expect(accepted > 500 && refused > 200)
  }
}
