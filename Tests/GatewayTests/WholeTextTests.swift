import ParleyGatewayPorts
import OTCore
import ParleySimulationKit
import Testing

/// Whole texts are normalised to LF; operations are committed as sent.
@Suite("Whole texts")
struct WholeTextTests {
  private let rig = GatewayRig(isDemo: true)

  init() { rig.make("n1") }

  private var text: String? { rig.store.document("n1")?.text }

  @discardableResult
  private func replace(_ body: String, query: String = "") -> String? {
    rig.answer(rig.begin("PUT", "/api/notes/n1/text" + query, headers: [:], body))?.body
  }

  private static let texts = [
    ("a\r\nb\rc\nd", "a\nb\nc\nd"), ("\r\r\n\n\r", "\n\n\n\n"), ("\u{feff}a", "a"),
    ("\u{feff}\u{feff}a\r\n", "\u{feff}a\n"), ("a\u{feff}", "a\u{feff}"), ("\u{feff}", ""),
    ("a\u{85}b\u{2028}c\u{2029}d\u{0c}e\u{0b}f\0g", "a\u{85}b\u{2028}c\u{2029}d\u{0c}e\u{0b}f\0g"),
  ]

  @Test("a replaced text has LF and no byte order mark", arguments: texts)
  func put(sent: String, stored: String) throws {
    replace(sent)
    #expect(Array(text?.utf8 ?? "".utf8) == Array(stored.utf8))
    #expect(WholeText.normalized(sent).utf8.elementsEqual(stored.utf8))
  }

  @Test("a text that differs only in line ends makes no revision")
  func sameText() {
    #expect(replace("a\nb\n") == #"{"revision":1}"#)
    for query in ["", "?base=1"] {
      #expect(replace("\u{feff}a\r\nb\r\n", query: query) == #"{"revision":1}"#)
    }
    #expect(rig.store.log(of: "n1")?.count == 1)
  }

  @Test("an operation is committed as sent, and read back as committed")
  func operations() {
    let change = rig.begin(
      "POST", "/api/notes/n1/changes", headers: [:],
      #"{"revision":0,"operation":["\ufeffa\r\nb\r"]}"#)
    #expect(rig.answer(change)?.status == 200)
    #expect(Array(text?.utf8 ?? "".utf8) == Array("\u{feff}a\r\nb\r".utf8))
    // A text that was read and is written back gets LF; changes by others are retained.
    let other = rig.begin(
      "POST", "/api/notes/n1/changes", headers: [:], #"{"revision":1,"operation":[6,"end"]}"#)
    #expect(rig.answer(other)?.status == 200)
    #expect(replace("\u{feff}a\r\nB\r", query: "?base=1") == #"{"revision":3}"#)
    #expect(text == "a\nB\nend")
    // A restored text is the same as it was committed.
    let restored = rig.begin("POST", "/api/notes/n1/restore", headers: [:], #"{"revision":1}"#)
    #expect(rig.answer(restored)?.status == 200)
    #expect(Array(text?.utf8 ?? "".utf8) == Array("\u{feff}a\r\nb\r".utf8))
  }

  @Test("half a surrogate pair is refused in an operation, and invalid UTF-8 in a text")
  func invalid() {
    let half = rig.begin(
      "POST", "/api/notes/n1/changes", headers: [:], #"{"revision":0,"operation":["\ud800"]}"#)
    #expect(rig.answer(half)?.status == 400)
    for bytes in [[0xff, 0xfe, 0x61, 0x00], [0x47, 0x72, 0xf6, 0xdf], [0xed, 0xa0, 0x80]]
      as [[UInt8]]
    {
      #expect(
        rig.answer(rig.begin("PUT", "/api/notes/n1/text", headers: [:], bytes: bytes))?.status
          == 400)
    }
    #expect(rig.store.log(of: "n1")?.isEmpty == true)
  }
}
