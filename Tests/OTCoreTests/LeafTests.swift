import OTCore
import ParleyOTWorkloads
import Testing

/// The leaf that a document caches outside its tree while edits stay close to it.
@Suite("The leaf of the last edit")
struct LeafTests {
  /// A copy of a document, and the text that it must have.
  private struct Copy {
    var document: Document
    var text: [Unicode.Scalar]
    var caret: Int

    /// Makes a short edit: types, deletes to the left or to the right, or jumps elsewhere.
    mutating func edit(using random: inout SplitMix64, wide: Bool) throws {
      if random.chance(5) { caret = random.below(text.count + 1) }
      var inserted: [Unicode.Scalar] = []
      var deleted = 0
      switch random.below(8) {
      case 0 where caret > 0:
        caret -= 1
        deleted = 1
      case 1: deleted = min(random.below(4), text.count - caret)
      case 2:
        deleted = min(random.below(3), text.count - caret)
        inserted = scalars(RandomTexts.text(scalars: 2, wide: wide, using: &random))
      default: inserted = scalars(RandomTexts.text(scalars: 1, wide: wide, using: &random))
      }
      var operation = TextOperation()
      operation.retain(caret)
      if random.chance(50) { operation.delete(deleted) }
      operation.insert(string(inserted))
      if operation.baseLength == caret { operation.delete(deleted) }
      operation.retain(text.count - caret - deleted)
      try document.apply(operation)
      text.replaceSubrange(caret..<(caret + deleted), with: inserted)
      caret += inserted.count
    }

    /// Reads the document in all ways, while the leaf is outside the tree.
    func check(using random: inout SplitMix64) {
      document.checkInvariants()
      let whole = string(text)
      #expect(scalars(document.text) == text)
      #expect(document == Document(whole))
      #expect(document.scalarCount == text.count)
      #expect(document.utf8Count == whole.utf8.count)
      #expect(document.utf16Count == whole.utf16.count)
      #expect(document.lineCount == text.count { $0 == "\n" } + 1)
      for place in [0, caret, random.below(text.count + 1), text.count] {
        let before = string(Array(text[..<place]))
        let line = before.unicodeScalars.count { $0 == "\n" }
        #expect(document.utf16Offset(ofScalar: place) == before.utf16.count)
        #expect(document.utf8Offset(ofScalar: place) == before.utf8.count)
        #expect(document.scalarOffset(ofUTF16: before.utf16.count) == place)
        #expect(document.scalarOffset(ofUTF8: before.utf8.count) == place)
        #expect(document.line(ofScalar: place) == line)
        let start = (text[..<place].lastIndex(of: "\n") ?? -1) + 1
        #expect(document.scalarOffset(ofLine: line) == start)
        let end = min(text.count, place + random.below(200))
        #expect(scalars(document.text(in: place..<end)) == Array(text[place..<end]))
        let first = max(0, place - random.below(200))
        #expect(scalars(document.text(in: first..<end)) == Array(text[first..<end]))
      }
    }
  }

  /// Copies are taken during typing, and typing continues in both documents.
  @Test(
    "copies type apart from each other", arguments: Seeds.smoke,
    [
      nil, RopeSizes(leafCapacity: 32, fanOut: 6), RopeSizes(leafCapacity: 32, fanOut: 32),
      RopeSizes(leafCapacity: 64, fanOut: 7),
    ])
  func copiesTypeApart(seed: UInt64, sizes: RopeSizes?) throws {
    var random = SplitMix64(seed: seed)
    let wide = seed % 3 == 0
    let length = seed % 5 == 0 ? 0 : random.below(sizes == nil ? 6_000 : 600)
    let first = RandomTexts.text(scalars: length, wide: wide, using: &random)
    var copies = [
      Copy(
        document: sizes.map { Document(first, sizes: $0) } ?? Document(first), text: scalars(first),
        caret: random.below(length + 1))
    ]
    for _ in 0..<24 {
      let which = random.below(copies.count)
      switch random.below(4) {
      case 0 where copies.count < 4: copies.append(copies[which])
      case 1 where copies.count > 1: copies.remove(at: which)
      default:
        for _ in 0..<random.between(1, 12) {
          try copies[which].edit(using: &random, wide: wide)
        }
      }
      for copy in copies { #expect(scalars(copy.document.text) == copy.text) }
    }
    for copy in copies { copy.check(using: &random) }
  }

  @Test func `an operation on another length changes nothing`() throws {
    var document = Document("abc")
    #expect(throws: OperationError.lengthMismatch(expected: 3, found: 2)) {
      try document.apply(op("=1 +x =1"))
    }
    #expect(document.text == "abc")
  }
}
