import ParleyGatewayPorts
import OTCore
import Testing

@Suite("Contents of notes")
struct NoteContentTests {
  @Test(
    "the change to another content makes them equal",
    arguments: [("", ""), ("", "a"), ("ab", ""), ("The fox", "The quick 🦊"), ("e\u{301}", "é")])
  func change(from old: String, to new: String) throws {
    var content = NoteContent(old)
    let change = content.change(to: NoteContent(new))
    #expect(change == RichOperation(content.change(toText: new)))
    try content.apply(change.text)
    #expect(content == NoteContent(new))
    #expect(content.utf8.elementsEqual(new.utf8))
  }

  @Test("an operation of another length changes nothing")
  func length() {
    var content = NoteContent("abc")
    #expect(throws: OperationError.lengthMismatch(expected: 3, found: 1)) {
      try content.apply([.retain(1)])
    }
    #expect(content == NoteContent("abc"))
  }
}
