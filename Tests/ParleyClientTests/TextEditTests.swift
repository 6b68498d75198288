import OTCore
import ParleyOTWorkloads
import ParleyClient
import Testing

@Suite("Edits in UTF-16 units")
struct TextEditTests {
  @Test("the edits of an operation, one after the other, make its text", arguments: 1...200)
  func replay(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var document = Document(RandomTexts.text(scalars: 40, using: &random))
    var units = Array(document.text.utf16)
    for _ in 0..<10 {
      let operation = TextOperation.random(length: document.scalarCount, using: &random)
      for edit in TextEdit.edits(of: operation, on: document) {
        units.replaceSubrange(edit.range, with: Array(edit.text.utf16))
      }
      try document.apply(operation)
      #expect(units == Array(document.text.utf16))
    }
  }

  @Test("a deletion and an insertion at the same place become one edit")
  func neighbours() {
    let operation: TextOperation = [.retain(1), .delete(2), .insert("x"), .retain(1)]
    #expect(
      TextEdit.edits(of: operation, on: Document("a😀bc")) == [
        TextEdit(range: 1..<4, text: "x")
      ])
  }

  @Test("a range of UTF-16 units becomes the scalars it touches", arguments: 1...100)
  func ranges(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let text = RandomTexts.text(scalars: 20, using: &random)
    let document = Document(text)
    let start = random.below(text.utf16.count + 1)
    let end = start + random.below(text.utf16.count - start + 1)
    let range = try document.scalars(ofUTF16: start..<end)
    var expected: [Unicode.Scalar] = []
    var place = 0
    for scalar in text.unicodeScalars {
      let width = scalar.utf16.count
      if place < end, place + width > start, start < end { expected.append(scalar) }
      place += width
    }
    #expect(Array(document.text(in: range).unicodeScalars) == expected)
  }

  @Test("a range beyond the text is refused with its numbers", arguments: [-1..<0, 0..<5, 4..<4])
  func beyond(range: Range<Int>) {
    #expect(throws: NoteError.outOfRange(range, length: 3)) {
      try Document("abc").scalars(ofUTF16: range)
    }
  }
}
