import Foundation
import ParleyMail
import ParleyOTWorkloads
import Testing

/// Laws of every message, checked by a reader that follows the specifications alone.
@Suite("Laws of mail messages")
struct MailLawTests {
  /// A message taken apart: headers after unfolding, and the lines of the body.
  private struct Parts {
    var headers: [(name: String, value: String)] = []
    var body: [String] = []

    init(_ bytes: [UInt8]) throws {
      var lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
      while let line = lines.first, !line.isEmpty {
        lines.removeFirst()
        if line.hasPrefix(" ") {
          let last = try #require(headers.indices.last)
          headers[last].value += line
        } else {
          let colon = try #require(line.firstIndex(of: ":"))
          headers.append((String(line[..<colon]), String(line[colon...].dropFirst(2))))
        }
      }
      body = Array(lines.dropFirst())
    }

    subscript(name: String) -> String? { headers.first { $0.name == name }?.value }
  }

  private func decodedWords(_ text: String) throws -> String {
    guard text.contains("=?") else { return text }
    var bytes: [UInt8] = []
    for word in text.split(separator: " ") {
      #expect(word.utf8.count <= 75)
      let base64 = String(word.dropFirst("=?UTF-8?B?".count).dropLast(2))
      let data = try #require(Data(base64Encoded: base64))
      // Each word alone is valid UTF-8.
      _ = try #require(String(data: data, encoding: .utf8))
      bytes += data
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func decodedLines(_ lines: [String]) throws -> String {
    var bytes: [UInt8] = []
    for line in lines {
      #expect(line.utf8.count <= 76)
      #expect(!line.hasSuffix(" ") && !line.hasSuffix("\t") && !line.hasPrefix("."))
      var rest = Array(line.utf8)[...]
      var isSoft = false
      while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "=") else {
          bytes.append(byte)
          continue
        }
        if rest.isEmpty {
          isSoft = true
          break
        }
        bytes.append(
          try #require(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)))
        rest = rest.dropFirst(2)
      }
      if !isSoft { bytes.append(10) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func normalized(_ text: String) -> String {
    var lines: [[UInt8]] = [[]]
    let bytes = Array(text.utf8)
    for (place, byte) in bytes.enumerated() {
      if byte == 10, place > 0, bytes[place - 1] == 13 { continue }
      if byte == 10 || byte == 13 { lines.append([]) } else { lines[lines.count - 1].append(byte) }
    }
    if lines.count > 1, lines.last?.isEmpty ?? false { lines.removeLast() }
    return String(decoding: Array(lines.joined(separator: [10])), as: UTF8.self) + "\n"
  }

  @Test("what was written is read back, in lines of ASCII", arguments: 0..<200 as Range<UInt64>)
  func readBack(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    func text(_ scalars: Int) -> String {
      RandomTexts.text(scalars: random.below(scalars), wide: random.chance(70), using: &random)
    }
    let line = { (text: String) in
      String(
        String.UnicodeScalarView(
          text.unicodeScalars.filter {
            $0.properties.generalCategory != .control && $0.value != 0x2028
          }))
    }
    let (subject, name, body) = (line(text(60)), line(text(20)), text(300))
    let message = MailMessage(
      from: try MailAddress("parley@example.org"),
      to: try MailAddress("ada@example.org", name: String(name.prefix(10))), subject: subject,
      text: body, html: random.chance(50) ? text(100) : nil, id: "m\(seed)", milliseconds: 0)
    let bytes = try message.bytes()
    #expect(bytes.allSatisfy { $0 < 0x80 && $0 != 0 }, "seed \(seed)")
    #expect(try message.bytes() == bytes)
    let parts = try Parts(bytes)
    let names = parts.headers.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(try decodedWords(try #require(parts["Subject"])).utf8.elementsEqual(subject.utf8))
    #expect(try #require(parts["To"]).hasSuffix("<ada@example.org>") || name.isEmpty)
    guard let html = message.html else {
      #expect(try decodedLines(parts.body.dropLast()).utf8.elementsEqual(normalized(body).utf8))
      return
    }
    let delimiter = "--=_m\(seed)"
    let pieces = parts.body.split(omittingEmptySubsequences: false) {
      $0 == delimiter || $0 == delimiter + "--"
    }
    #expect(pieces.count == 4, "seed \(seed)")
    for (piece, text) in zip(pieces.dropFirst(), [body, html]) {
      // Two headers, an empty line; and the line break before the delimiter belongs to it.
      let lines = Array(piece.dropFirst(3).dropLast())
      #expect(try decodedLines(lines).utf8.elementsEqual(normalized(text).utf8), "seed \(seed)")
    }
  }

  @Test("dates are those of the calendar", arguments: 0..<200 as Range<UInt64>)
  func dates(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let seconds = Int64(random.below(253_402_300_799))
    let message = MailMessage(
      from: try MailAddress("a@example.org"), to: try MailAddress("b@example.org"), subject: "",
      text: "", id: "m", milliseconds: seconds * 1_000 + 999)
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.calendar = Calendar(identifier: .iso8601)
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss '+0000'"
    let expected = formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds)))
    #expect(try Parts(message.bytes())["Date"] == expected, "seed \(seed)")
  }
}
