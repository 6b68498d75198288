/// Random texts from a seed.
package enum RandomTexts {
  /// Texts that break code which counts anything but scalars.
  private static let pieces: [String] = [
    "a", "b", "c", " ", "\n", "\r\n", "é", "e\u{301}", "ß", "Ж", "中", "語", "한", "\u{1112}\u{1161}",
    "😀", "👍🏽", "👨‍👩‍👧‍👦", "🇩🇪", "𝄞", "\u{200d}", "\u{fe0f}", "\u{0}", "\u{feff}", "\u{10ffff}",
    "\"", "\\", "\u{1f}", "\u{7f}", "\u{2028}",
  ]

  /// Returns a text of about `scalars` scalars; only lowercase letters unless `wide`.
  package static func text(
    scalars: Int, wide: Bool = true, using random: inout SplitMix64
  ) -> String {
    var result = ""
    for _ in 0..<scalars {
      if wide, random.chance(60) {
        result += pieces[random.below(pieces.count)]
      } else {
        result.unicodeScalars.append(
          Unicode.Scalar(UInt8(ascii: "a") + UInt8(random.below(random.chance(50) ? 3 : 26))))
      }
    }
    return result
  }
}
