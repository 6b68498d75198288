import OTCore
import ParleyOTWorkloads
import Testing

@Suite("A document")
struct DocumentTests {
  /// Node sizes: the default (`nil`), and small ones, whose nodes often split and join.
  private static let sizes = [
    nil, RopeSizes(leafCapacity: 32, fanOut: 6), RopeSizes(leafCapacity: 32, fanOut: 32),
    RopeSizes(leafCapacity: 64, fanOut: 7), RopeSizes(leafCapacity: 200, fanOut: 8),
  ]

  private static func document(_ text: String, _ sizes: RopeSizes?) -> Document {
    if let sizes { Document(text, sizes: sizes) } else { Document(text) }
  }

  /// Each edit is repeated on an array of scalars. Copies made in between must not change.
  @Test(arguments: Seeds.smoke, sizes)
  func `stays equal to a plain text`(seed: UInt64, sizes: RopeSizes?) throws {
    var random = SplitMix64(seed: seed)
    let wide = seed % 3 != 0
    let first = RandomTexts.text(
      scalars: seed % 4 == 0 ? 0 : random.below(sizes == nil ? 12_000 : 3_000), wide: wide,
      using: &random)
    var oracle = scalars(first)
    var document = Self.document(first, sizes)
    var snapshots: [(Document, [Unicode.Scalar])] = []
    for step in 0..<120 {
      if step % 20 == 0 { snapshots.append((document, oracle)) }
      switch random.below(8) {
      case 0:
        let operation = TextOperation.random(
          length: oracle.count, edits: random.between(1, 60), wide: wide, using: &random)
        try document.apply(operation)
        oracle = ReferenceOperation(operation).applied(to: oracle)
      case 1:
        let start = random.below(oracle.count + 1)
        let end = random.between(start, min(oracle.count, start + random.below(6_000)))
        try document.replace(start..<end, with: "")
        oracle.removeSubrange(start..<end)
      case 2:
        let text = RandomTexts.text(
          scalars: random.below(sizes == nil ? 5_000 : 500), wide: wide, using: &random)
        let start = random.below(oracle.count + 1)
        let end = random.chance(50) ? start : random.between(start, oracle.count)
        try document.replace(start..<end, with: text)
        oracle.replaceSubrange(start..<end, with: scalars(text))
      default:
        var place = random.below(oracle.count + 1)
        for _ in 0..<random.between(1, 30) {
          if random.chance(75) {
            let text = RandomTexts.text(scalars: 1, wide: wide, using: &random)
            try document.replace(place..<place, with: text)
            oracle.insert(contentsOf: scalars(text), at: place)
            place += scalars(text).count
          } else if place > 0 {
            place -= 1
            try document.replace(place..<(place + 1), with: "")
            oracle.remove(at: place)
          }
        }
      }
      document.checkInvariants()
      #expect(document.scalarCount == oracle.count)
    }
    snapshots.append((document, oracle))
    for (snapshot, expected) in snapshots {
      snapshot.checkInvariants()
      let text = string(expected)
      #expect(scalars(snapshot.text) == expected)
      #expect(snapshot.utf8Count == text.utf8.count)
      #expect(snapshot.utf16Count == text.utf16.count)
      #expect(snapshot.lineCount == expected.count { $0 == "\n" } + 1)
      #expect(snapshot == Document(text))
    }
  }

  @Test(arguments: Seeds.smoke)
  func `offsets convert between units`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let text = RandomTexts.text(scalars: random.below(9_000), using: &random)
    let document = Document(text)
    var utf16 = 0
    var utf8 = 0
    var line = 0
    for (index, scalar) in text.unicodeScalars.enumerated() {
      if index % 97 == 0 || index < 8 {
        #expect(document.utf16Offset(ofScalar: index) == utf16)
        #expect(document.utf8Offset(ofScalar: index) == utf8)
        #expect(document.line(ofScalar: index) == line)
        #expect(document.scalarOffset(ofUTF16: utf16) == index)
        #expect(document.scalarOffset(ofUTF8: utf8) == index)
        if UTF16.width(scalar) == 2 {
          #expect(document.scalarOffset(ofUTF16: utf16 + 1) == index)
        }
        #expect(scalars(document.text(in: index..<(index + 1))) == [scalar])
      }
      utf16 += UTF16.width(scalar)
      utf8 += UTF8.width(scalar)
      if scalar == "\n" {
        line += 1
        #expect(document.scalarOffset(ofLine: line) == index + 1)
      }
    }
    #expect(document.scalarOffset(ofLine: 0) == 0)
    #expect(document.utf16Offset(ofScalar: document.scalarCount) == document.utf16Count)
    #expect(document.scalarOffset(ofUTF16: document.utf16Count) == document.scalarCount)
  }

  @Test(
    arguments: [1, 1_791, 1_792, 1_793, 3_584, 3_585, 5_377, 57_345, 100_003, 1_000_000, 1_003_520])
  func `a text of any length fits into its leaves`(length: Int) {
    let ascii = String(repeating: "x", count: length)
    let wide = String(repeating: "漢𝄞é\n", count: length / 10)
    for text in [ascii, wide] {
      let document = Document(text)
      document.checkInvariants()
      #expect(document.text.utf8.elementsEqual(text.utf8))
    }
  }

  @Test func `replacements of any range leave a sound rope`() throws {
    let text = String(repeating: "abcdefghijklmnopqrstuvwxyz", count: 40)
    let whole = Document(text, sizes: RopeSizes(leafCapacity: 32, fanOut: 6))
    let bytes = Array(text.utf8)
    for low in stride(from: 0, through: bytes.count, by: 13) {
      for high in stride(from: low, through: bytes.count, by: 11) {
        for inserted in ["", "é", String(repeating: "中", count: 30)] {
          var document = whole
          try document.replace(low..<high, with: inserted)
          document.checkInvariants()
          #expect(
            document.text.utf8.elementsEqual(bytes[..<low] + Array(inserted.utf8) + bytes[high...]))
        }
      }
    }
    whole.checkInvariants()
  }

  @Test(arguments: [2_048, 57_345, 300_001])
  func `a paste of any length leaves a sound rope`(length: Int) throws {
    var document = Document(String(repeating: "a", count: 5_000))
    var expected = Array(repeating: UInt8(ascii: "a"), count: 5_000)
    let paste = String(repeating: "b", count: length)
    for position in [0, 2_500, document.scalarCount] {
      try document.replace(position..<position, with: paste)
      expected.insert(contentsOf: Array(paste.utf8), at: position)
      document.checkInvariants()
    }
    #expect(document.text.utf8.elementsEqual(expected))
  }

  @Test("A4: places of graphemes are converted to scalars and UTF-16 units, and back")
  func graphemes() {
    let text = "é👍🏽e\u{301}\r\n\u{e000}👨‍👩‍👧x"
    let document = Document(text)
    #expect(text.count == 7 && document.scalarCount == 14 && document.utf16Count == 19)
    for index in text.indices + [text.endIndex] {
      let scalar = text.unicodeScalars.distance(from: text.startIndex, to: index)
      let unit = document.utf16Offset(ofScalar: scalar)
      #expect(text.utf16.index(text.startIndex, offsetBy: unit) == index)
      #expect(document.scalarOffset(ofUTF16: unit) == scalar)
      #expect(document.text(in: 0..<scalar).utf8.elementsEqual(text[..<index].utf8))
    }
  }

  @Test func `an empty document has one line`() {
    let document = Document()
    #expect(document.scalarCount == 0)
    #expect(document.lineCount == 1)
    #expect(document.text.isEmpty)
  }
}
