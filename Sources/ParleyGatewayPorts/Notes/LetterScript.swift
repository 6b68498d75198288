/// A script whose letters a ``ReadableName`` may contain. The scripts of East Asia count as one,
/// because they are written together.
///
/// The standard library has no property for scripts. The table contains the blocks of scripts in
/// everyday use (UAX 31, table 5), and for Latin the letters of living languages.
enum LetterScript: UInt8, Sendable {
  case latin, greek, cyrillic, armenian, hebrew, arabic, georgian, ethiopic, eastAsian
  case devanagari, bengali, gurmukhi, gujarati, oriya, tamil, telugu, kannada, malayalam, sinhala
  case thai, lao, tibetan, myanmar, khmer

  /// Creates the script of a lower-case or caseless letter or a vowel sign; otherwise `nil`.
  init?(of scalar: Unicode.Scalar) {
    guard let script = Self.blocks.first(where: { $0.range.contains(scalar.value) })?.script else {
      return nil
    }
    switch scalar.properties.generalCategory {
    case .lowercaseLetter, .otherLetter: break
    // Allow the iteration and length marks of Chinese and Japanese, and of Thai and Lao.
    case .modifierLetter:
      guard [.eastAsian, .thai, .lao].contains(script) else { return nil }
    // From Devanagari on, vowels are written as marks. In other scripts, NFC composes a mark with
    // its letter, or the mark does not belong there.
    case .nonspacingMark, .spacingMark:
      guard script.rawValue >= Self.devanagari.rawValue else { return nil }
    default: return nil
    }
    // Some letters are invisible.
    guard !scalar.properties.isDefaultIgnorableCodePoint else { return nil }
    self = script
  }

  /// Whether a letter of this script looks like a Latin one (UTS 39); `false` for Latin letters.
  func looksLatin(_ scalar: Unicode.Scalar) -> Bool {
    let letters: String.UnicodeScalarView =
      switch self {
      case .cyrillic:
        "\u{430}\u{435}\u{43e}\u{440}\u{441}\u{443}\u{445}\u{455}\u{456}\u{458}\u{475}\u{4bb}\u{4cf}\u{501}\u{51b}\u{51d}"
          .unicodeScalars
      case .greek: "\u{3b1}\u{3b3}\u{3b9}\u{3bd}\u{3bf}\u{3c1}\u{3c3}\u{3c5}".unicodeScalars
      case .armenian: "\u{566}\u{570}\u{575}\u{578}\u{57d}\u{581}\u{585}".unicodeScalars
      default: "".unicodeScalars
      }
    return letters.contains(scalar)
  }

  private static let blocks: [(range: ClosedRange<UInt32>, script: LetterScript)] = [
    (0x61...0x7a, .latin), (0xdf...0xf6, .latin), (0xf8...0xff, .latin), (0x100...0x137, .latin),
    (0x139...0x148, .latin), (0x14a...0x17e, .latin), (0x1a1...0x1a1, .latin),
    (0x1b0...0x1b0, .latin), (0x1cd...0x1dc, .latin), (0x1e6...0x1e7, .latin),
    (0x218...0x21b, .latin), (0x1e00...0x1e99, .latin), (0x1ea0...0x1ef9, .latin),
    (0x370...0x3ce, .greek), (0x1f00...0x1fff, .greek), (0x430...0x52f, .cyrillic),
    (0x561...0x587, .armenian), (0x5d0...0x5ea, .hebrew), (0x620...0x6d3, .arabic),
    (0x900...0x97f, .devanagari), (0x980...0x9ff, .bengali), (0xa00...0xa7f, .gurmukhi),
    (0xa80...0xaff, .gujarati), (0xb00...0xb7f, .oriya), (0xb80...0xbff, .tamil),
    (0xc00...0xc7f, .telugu), (0xc80...0xcff, .kannada), (0xd00...0xd7f, .malayalam),
    (0xd80...0xdff, .sinhala), (0xe00...0xe7f, .thai), (0xe80...0xeff, .lao),
    (0xf00...0xfff, .tibetan), (0x1000...0x109f, .myanmar), (0x10d0...0x10fa, .georgian),
    (0x1200...0x137f, .ethiopic), (0x1780...0x17ff, .khmer), (0x3005...0x3007, .eastAsian),
    (0x3041...0x3096, .eastAsian), (0x309d...0x309e, .eastAsian), (0x30a1...0x30fa, .eastAsian),
    (0x30fc...0x30fe, .eastAsian), (0x3105...0x312f, .eastAsian), (0x3400...0x4dbf, .eastAsian),
    (0x4e00...0x9fff, .eastAsian), (0xac00...0xd7a3, .eastAsian), (0x20000...0x323af, .eastAsian),
  ]
}
