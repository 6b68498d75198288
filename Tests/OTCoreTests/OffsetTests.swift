import OTCore
import ParleyOTWorkloads
import Testing

/// Offsets in all units, compared with a plain walk over the scalars.
@Suite("Offsets in all units")
struct OffsetTests {
  /// The lengths of the text before a scalar, or before the end.
  private struct Place {
    var utf16 = 0
    var utf8 = 0
    var line = 0
  }

  private func places(_ text: String) -> [Place] {
    var places = [Place()]
    for scalar in text.unicodeScalars {
      var next = places[places.count - 1]
      next.utf16 += UTF16.width(scalar)
      next.utf8 += UTF8.width(scalar)
      next.line += scalar == "\n" ? 1 : 0
      places.append(next)
    }
    return places
  }

  private func check(_ document: Document, _ text: String) {
    let places = places(text)
    let end = places[places.count - 1]
    #expect(document.scalarCount == places.count - 1)
    var scalarOfUTF16 = Array(repeating: 0, count: end.utf16 + 1)
    var scalarOfUTF8 = Array(repeating: 0, count: end.utf8 + 1)
    var wrong: [Int] = []
    for (scalar, place) in places.enumerated() {
      // An offset inside a scalar maps to the start of the scalar.
      for offset in place.utf16..<min(place.utf16 + 2, scalarOfUTF16.count) {
        scalarOfUTF16[offset] = scalar
      }
      for offset in place.utf8..<min(place.utf8 + 4, scalarOfUTF8.count) {
        scalarOfUTF8[offset] = scalar
      }
      if document.utf16Offset(ofScalar: scalar) != place.utf16
        || document.utf8Offset(ofScalar: scalar) != place.utf8
        || document.line(ofScalar: scalar) != place.line
      {
        wrong.append(scalar)
      }
      if scalar == 0 || places[scalar - 1].line < place.line,
        document.scalarOffset(ofLine: place.line) != scalar
      {
        wrong.append(scalar)
      }
    }
    #expect(wrong.isEmpty)
    #expect(
      scalarOfUTF16.indices.filter {
        document.scalarOffset(ofUTF16: $0) != scalarOfUTF16[$0]
      }.isEmpty)
    #expect(
      scalarOfUTF8.indices.filter { document.scalarOffset(ofUTF8: $0) != scalarOfUTF8[$0] }.isEmpty)
    #expect(document.scalarOffset(ofUTF16: .max) == places.count - 1)
    #expect(document.scalarOffset(ofUTF8: -1) == 0)
  }

  @Test(arguments: Seeds.smoke)
  func `every offset of a text with a gap anywhere`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for round in 0..<6 {
      var text = RandomTexts.text(
        scalars: random.below(60), wide: round % 3 != 0, using: &random)
      var document = Document(text)
      check(document, text)
      // An edit leaves the gap of its leaf at its position, between any two scalars.
      for _ in 0..<3 {
        let operation = TextOperation.random(
          length: document.scalarCount, edits: 1, wide: round % 3 != 0, using: &random)
        try document.apply(operation)
        text = document.text
        check(document, text)
      }
    }
  }

  @Test(
    "every offset where leaves meet",
    arguments: ["a", "é", "\r\n", "e\u{301}", "中", "😀", "a😀\n", "ab中\r\n", "👨‍👩‍👧‍👦é"])
  func leaves(piece: String) {
    // Shifts the pieces against the leaf boundaries, by one scalar at a time.
    for lead in 0..<2 {
      let text =
        String(repeating: "x", count: lead)
        + String(repeating: piece, count: 2_300 / piece.utf8.count)
      check(Document(text), text)
    }
  }
}
