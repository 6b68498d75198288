import OTCore
import ParleyOTWorkloads
import ParleyRichForms

/// Returns a document from a Delta.
func note(_ delta: String) throws(DeltaError) -> RichDocument {
  try RichDocument(delta: Array(delta.utf8))
}

func string(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// Notes with formatting of all kinds, drawn from a seed.
enum RandomNotes {
  /// Texts that mean something in Markdown, HTML or JSON, at the start of a line or within it.
  private static let words = [
    "a", "word", "two words", "été", "漢字", "🙂", "€", "“quoted”", "  ", " ", "\t", "\u{a0}",
    "\u{3000}",
    "*", "**", "***", "_", "__", "a_b", "_a", "~", "~~", "~~~", "`", "``", "```", "\\", "\\\\",
    "\\a",
    "#", "# a", "#######", "a #", ">", "> q", "- ", "-", "---", "- - -", "+ a", "* a", "1.", "1. a",
    "12) b", "999999999. c", "1234567890. d", "=", "===", "[", "]", "[ ]", "[y] x", "[a](b)",
    "![i](j)",
    "[r]: /u", "[^1]", "<", "<b>", "</p>", "<!--", "<?", "a < b", "&", "&amp;", "&#97;", "&lt",
    "AT&T;",
    "!", "a!", "(", ")", "|", "| a | b |", "|---|", "$", "$x$", ".", ",", ":", "http:", "\"", "'",
    "{", "}",
    "\u{2028}", "\u{85}", "\u{feff}", "\u{200b}", "e\u{301}", "\u{0}", "\u{1b}", "\u{7f}",
    "\u{fffc}",
  ]

  private static let marks = [
    #""bold":true"#, #""italic":true"#, #""strike":true"#, #""code":true"#,
    #""link":"https://a.example/(b)?c=1&d;2""#, #""link":"notes/x y""#, #""underline":true"#,
    ##""color":"#ff0000""##, #""script":"sub""#,
    #""link":"javascript:alert(1)""#, #""mention":"ann""#, #""unknown-key":-12"#, #""size":"huge""#,
  ]

  private static let lines = [
    "", "", "", "", #""block":"h1""#, #""block":"h3""#, #""block":"bullet""#, #""block":"bullet""#,
    #""block":"bullet","indent":1"#, #""block":"bullet","indent":3"#, #""block":"ordered""#,
    #""block":"ordered""#, #""block":"ordered","indent":1"#, #""block":"task""#, #""block":"done""#,
    #""block":"done","indent":2"#, #""block":"quote""#, #""block":"quote""#, #""block":"code""#,
    #""block":"code","language":"swift""#, #""block":"row""#,
    #""align":"center","direction":"rtl""#,
  ]

  static let hash = String(repeating: "0123456789abcdef", count: 4)

  private static let embeds = [
    #""embed":{"image":"\#(hash)/plan b.png"},"alt":"a [b] *c*","width":200"#,
    #""embed":{"file":"\#(hash)/x.pdf"}"#, #""embed":{"rule":true}"#, #""embed":{"other":3}"#,
  ]

  /// - Parameter embeds: Whether the note has embeds.
  static func note(seed: UInt64, embeds: Bool = true) throws -> RichDocument {
    var random = SplitMix64(seed: seed)
    var builder = RichDocumentBuilder()
    func append(_ text: String, _ attributes: String) throws {
      let number = builder.number(of: try AttributeSet(json: "{\(attributes)}"))
      var text = text
      text.withUTF8 { builder.append($0, with: number) }
    }
    for _ in 0..<random.below(9) {
      var pieces: [String] = []
      for _ in 0..<random.below(6) {
        if random.chance(45) {
          pieces = (0..<random.below(3)).map { _ in marks[random.below(marks.count)] }
        }
        if embeds, random.chance(6) {
          try append("\u{fffc}", Self.embeds[random.below(Self.embeds.count)])
          continue
        }
        let attributes = Dictionary(pieces.map { ($0.split(separator: ":")[0], $0) }) { $1 }
        try append(
          words[random.below(words.count)], attributes.values.sorted().joined(separator: ","))
      }
      if random.chance(4) { try append("\r", "") }
      try append("\n", lines[random.below(lines.count)])
    }
    if random.chance(50) { try append(words[random.below(words.count)], "") }
    return try builder.finished()
  }
}
