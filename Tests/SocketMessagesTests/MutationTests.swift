import OTCore
import ParleyOTWorkloads
import SocketMessages
import Testing

/// Bytes that are nearly messages: each decoder gives a value or a `MessageError`, whatever comes.
///
/// A trap ends the whole run, so reaching the end is half of what is shown here. The other half:
/// accepted messages can be encoded and decoded again, to the same bytes.
@Suite("Mutated messages")
struct MutationTests {
  private static let seeds: [UInt64] = Array(1...40)

  @Test(arguments: Dialect.all)
  func `any bytes are decoded or refused, and encoding is stable`(dialect: Dialect) throws {
    for seed in Self.seeds {
      var random = SplitMix64(seed: seed &* 0x1_0001)
      for message in random.encoded(dialect) {
        for _ in 0..<40 {
          let bytes = random.mutated(message)
          do throws(MessageError) {
            let first = try dialect.decode(bytes)
            guard first.isKnown else { continue }
            let second = try dialect.decode(first.bytes)
            #expect(second.bytes == first.bytes, "seed \(seed): \(bytes)")
          } catch {
            #expect(error.code == .badMessage || error.code == .badOperation)
            #expect(!error.description.isEmpty)
          }
        }
      }
    }
  }

  /// Every string and every key of a message is the sender's; none may appear in an error, which
  /// goes to logs.
  @Test("errors never contain text of the sender", arguments: Dialect.all)
  func errorsSayNothing(dialect: Dialect) throws {
    let secret = "Geheimnis"
    var errors = 0
    for seed in Self.seeds {
      var random = SplitMix64(seed: seed &* 0x2_0003)
      for message in random.encoded(dialect) {
        for _ in 0..<20 {
          // A secret in place of any run of letters, as a text, as a key or as no JSON at all.
          var bytes = random.mutated(message)
          let start = random.number(0...bytes.count)
          let piece = random.element([
            secret, "\"\(secret)\"", "\"\(secret)\":", "\"\(secret)\":{}", ",\"\(secret)\":1",
            "{\"\(secret)\":1}",
          ])
          bytes.replaceSubrange(
            start..<min(bytes.count, start + random.number(0...12)), with: Array(piece.utf8))
          do throws(MessageError) {
            _ = try dialect.decode(bytes)
          } catch {
            errors += 1
            #expect(!error.description.contains(secret), "seed \(seed)")
          }
        }
      }
    }
    #expect(errors > 100)
  }

  @Test("a long type or id is accepted, and an error about a long field is short")
  func longTexts() throws {
    let long = String(repeating: "ä", count: 1 << 20)
    let decoded = try Dialect.client.decode(
      Array(#"{"messageId":"\#(long)","type":"\#(long)"}"#.utf8))
    #expect(!decoded.isKnown)
    #expect(decoded.messageID.utf8.count == 2 << 20)
    let error = try #require(
      Dialect.client.error(#"{"messageId":"m","type":"leave","data":{"\#(long)":1}}"#))
    #expect(error.description.utf8.count < 200)
  }
}

extension SplitMix64 {
  /// Pieces that a JSON parser has to look at.
  private static let tokens: [[UInt8]] =
    [
      "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud83d", "\\udc4d", "null", "true",
      "false",
      "-", "0", "00", "1e9", "9007199254740993", "-1073741824", "1073741823", "\u{0}", "\u{feff}",
      "\"data\":", "\"type\":", "\"messageId\":", "\"operation\":[", "\"n\":[", "\"s\":[",
      "[[[[[[[[",
      "]]]]]]]]", "{\"a\":{\"a\":", "}}", "\"\"", " ",
    ].map { Array($0.utf8) } + [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf0, 0x9f], [0x80]]

  /// Bytes with one to four things done to them.
  mutating func mutated(_ message: [UInt8]) -> [UInt8] {
    var bytes = message
    for _ in 0...number(0...3) {
      let start = number(0...bytes.count)
      let end = min(bytes.count, start + number(0...8))
      switch number(0...7) {
      case 0: bytes.removeSubrange(start..<end)
      case 1: bytes.removeSubrange(start...)
      case 2: bytes.insert(UInt8(number(0...255)), at: start)
      case 3:
        if start < bytes.count { bytes[start] ^= 1 << UInt8(number(0...7)) }
      case 4: bytes.insert(contentsOf: element(Self.tokens), at: start)
      case 5: bytes.replaceSubrange(start..<end, with: element(Self.tokens))
      case 6:
        // A part twice.
        bytes.insert(contentsOf: Array(bytes[start..<end]), at: number(0...bytes.count))
      default:
        // Two parts of one length change places.
        let other = number(0...bytes.count)
        for offset in 0..<number(0...8)
        where start + offset < bytes.count && other + offset < bytes.count {
          bytes.swapAt(start + offset, other + offset)
        }
      }
    }
    return bytes
  }
}
