/// The text format of values in settings.
enum ValueText {
  /// Parses `true`, `yes`, `on`, `1` and their opposites.
  static func bool(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "true", "yes", "on", "1": true
    case "false", "no", "off", "0": false
    default: nil
    }
  }

  /// Parses a whole number; `_` may group its digits.
  static func number(_ text: String) -> Int? {
    guard text.utf8.first != UInt8(ascii: "_"), text.utf8.last != UInt8(ascii: "_") else {
      return nil
    }
    return Int(text.filter { $0 != "_" })
  }

  /// Parses a number of bytes with its unit: `4 MiB`, `64KiB`, `1024`.
  static func bytes(_ text: String) -> Int? {
    let (number, unit) = split(text)
    guard let number else { return nil }
    let factor: Int
    switch unit.lowercased() {
    case "", "b": factor = 1
    case "kib": factor = 1 << 10
    case "mib": factor = 1 << 20
    case "gib": factor = 1 << 30
    default: return nil
    }
    let (product, overflow) = number.multipliedReportingOverflow(by: factor)
    return overflow ? nil : product
  }

  /// Parses a duration with its unit: `500ms`, `20 s`, `5m`, `1h`. A number without a unit is
  /// rejected, except 0, since people disagree about its unit.
  static func duration(_ text: String) -> Duration? {
    let (number, unit) = split(text)
    guard let number, (0...1_000_000_000).contains(number) else { return nil }
    switch unit {
    case "ms": return .milliseconds(number)
    case "s": return .seconds(number)
    case "m", "min": return .seconds(number * 60)
    case "h": return .seconds(number * 3600)
    case "" where number == 0: return .zero
    default: return nil
    }
  }

  /// Splits a list into items, without surrounding blanks; empty items are dropped.
  static func list(_ text: String, separator: Character = ",") -> [String] {
    text.split(separator: separator).map { trimmed($0) }.filter { !$0.isEmpty }
  }

  /// Whether a text is `*`, or a scheme and a host with an optional port.
  static func isOrigin(_ text: String) -> Bool {
    if text == "*" { return true }
    let lowered = text.lowercased()
    guard let scheme = ["http://", "https://"].first(where: lowered.hasPrefix) else {
      return false
    }
    var authority = lowered.dropFirst(scheme.count)
    if authority.utf8.last == UInt8(ascii: "/") { authority.removeLast() }
    return !authority.isEmpty
      && authority.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
          UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "["),
          UInt8(ascii: "]"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }

  /// Returns the shortest exact form of a number of bytes, such as `4 MiB`.
  static func text(bytes: Int) -> String {
    for (factor, unit) in [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
    where bytes >= factor && bytes % factor == 0 {
      return "\(bytes / factor) \(unit)"
    }
    return "\(bytes) B"
  }

  /// Returns the shortest exact form of a duration, such as `25s`.
  static func text(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    guard attoseconds == 0 else {
      return "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)ms"
    }
    if seconds > 0, seconds % 3600 == 0 { return "\(seconds / 3600)h" }
    if seconds > 0, seconds % 60 == 0 { return "\(seconds / 60)m" }
    return "\(seconds)s"
  }

  /// Returns the text without surrounding blanks.
  static func trimmed(_ text: some StringProtocol) -> String {
    let isBlank = { (character: Character) in character == " " || character == "\t" }
    let tail = text.drop(while: isBlank)
    guard let last = tail.lastIndex(where: { !isBlank($0) }) else { return "" }
    return String(tail[...last])
  }

  /// Splits `kid=path`; `id` is `nil` for a path alone.
  static func named(_ text: String) -> (id: String?, path: String) {
    guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
      return (nil, text)
    }
    return (String(text[..<equals]), String(text[text.index(after: equals)...]))
  }

  /// Returns a URL without a slash at its end.
  static func withoutSlash(_ text: String) -> String {
    text.hasSuffix("/") ? String(text.dropLast()) : text
  }

  private static func split(_ text: String) -> (number: Int?, unit: String) {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == "_") }
    return (number(String(digits)), trimmed(text.dropFirst(digits.count)))
  }
}
