import OTCore
import ParleyOTWorkloads
import Testing

/// The laws of all operations, checked with random operations and against the reference.
@Suite("Laws of the algebra")
struct LawTests {
  private static let rounds = 60

  private func each(
    _ seed: UInt64, _ body: (inout SplitMix64, String, Int) throws -> Void
  ) throws {
    var random = SplitMix64(seed: seed)
    for round in 0..<Self.rounds {
      let wide = round % 3 != 0
      let text = RandomTexts.text(
        scalars: random.below(round % 7 == 0 ? 200 : 12), wide: wide, using: &random)
      try body(&random, text, round)
    }
  }

  @Test(arguments: Seeds.smoke)
  func `applying agrees with the reference`(seed: UInt64) throws {
    try each(seed) { random, text, _ in
      let length = text.unicodeScalars.count
      let a = TextOperation.random(length: length, using: &random)
      let reference = ReferenceOperation(a)
      #expect(a.baseLength == length)
      #expect(a.targetLength == reference.targetLength)
      let after = try a.applied(to: text)
      #expect(scalars(after) == reference.applied(to: scalars(text)))
      #expect(reference.packed == a)
      #expect(reference.packed.hashValue == a.hashValue)
      #expect(
        a.insertedBytes
          == a.components.reduce(0) {
            if case .insert(let t) = $1 { $0 + t.utf8.count } else { $0 }
          })
    }
  }

  @Test(arguments: Seeds.smoke)
  func `composing agrees with the reference and with applying one by one`(seed: UInt64) throws {
    try each(seed) { random, text, _ in
      let a = TextOperation.random(length: text.unicodeScalars.count, using: &random)
      let b = TextOperation.random(length: a.targetLength, using: &random)
      let both = try a.composed(with: b)
      #expect(both == ReferenceOperation(a).composed(with: ReferenceOperation(b)).packed)
      #expect(
        scalars(try both.applied(to: text)) == scalars(try b.applied(to: a.applied(to: text))))
      let c = TextOperation.random(length: b.targetLength, using: &random)
      let leftFirst = try both.composed(with: c)
      let rightFirst = try a.composed(with: b.composed(with: c))
      #expect(scalars(try leftFirst.applied(to: text)) == scalars(try rightFirst.applied(to: text)))
    }
  }

  @Test(arguments: Seeds.smoke)
  func `transforming agrees with the reference, and both orders agree`(seed: UInt64) throws {
    try each(seed) { random, text, _ in
      let length = text.unicodeScalars.count
      let a = TextOperation.random(length: length, using: &random)
      let b = TextOperation.random(length: length, using: &random)
      let (aAfterB, bAfterA) = try TextOperation.transform(a, b)
      let reference = ReferenceOperation.transform(ReferenceOperation(a), ReferenceOperation(b))
      #expect(aAfterB == reference.aAfterB.packed)
      #expect(bAfterA == reference.bAfterA.packed)
      #expect(try a.transformed(over: b, side: .left) == aAfterB)
      #expect(try b.transformed(over: a, side: .right) == bAfterA)
      let one = try bAfterA.applied(to: a.applied(to: text))
      let other = try aAfterB.applied(to: b.applied(to: text))
      #expect(scalars(one) == scalars(other))
    }
  }

  @Test(arguments: Seeds.smoke)
  func `the inverse restores the text`(seed: UInt64) throws {
    try each(seed) { random, text, _ in
      let a = TextOperation.random(length: text.unicodeScalars.count, using: &random)
      let back = try a.inverted(on: Document(text))
      #expect(back == ReferenceOperation(a).inverted(on: scalars(text)).packed)
      #expect(scalars(try back.applied(to: a.applied(to: text))) == scalars(text))
    }
  }

  @Test(arguments: Seeds.smoke)
  func `a cursor moves as in the reference`(seed: UInt64) throws {
    try each(seed) { random, text, _ in
      let length = text.unicodeScalars.count
      let a = TextOperation.random(length: length, using: &random)
      let reference = ReferenceOperation(a)
      for own in [false, true] {
        for cursor in 0...length {
          #expect(
            Cursor.transformed(cursor, over: a, own: own) == reference.moved(cursor, own: own))
        }
      }
    }
  }

  @Test(arguments: Seeds.smoke)
  func `written operations are read back unchanged`(seed: UInt64) throws {
    try each(seed) { random, text, _ in
      let a = TextOperation.random(length: text.unicodeScalars.count, using: &random)
      let again = try read(json(a))
      #expect(again == a)
    }
  }

  @Test(arguments: Seeds.smoke)
  func `long histories give the same results as single steps`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for round in 0..<20 {
      let text = RandomTexts.text(scalars: random.below(60), using: &random)
      let length = text.unicodeScalars.count
      var history: [TextOperation] = []
      var now = length
      var place = 0
      for _ in 0..<random.between(1, 60) {
        var operation = TextOperation()
        if round % 4 == 0, random.chance(20) {
          operation = .random(length: now, using: &random)
        } else {
          if random.chance(20) { place = random.below(now + 1) }
          place = min(place, now)
          operation.retain(place)
          let deleted = random.chance(40) ? min(now - place, random.between(0, 5)) : 0
          let isFirst = random.chance(50)
          if isFirst { operation.delete(deleted) }
          if random.chance(70) {
            operation.insert(RandomTexts.text(scalars: random.between(1, 3), using: &random))
          }
          if !isFirst { operation.delete(deleted) }
          operation.retain(now - place - deleted)
          place += operation.targetLength - (now - deleted)
          if random.chance(30) { place = max(0, place - 1) }
        }
        history.append(operation)
        now = operation.targetLength
      }
      for side in [Side.left, .right] {
        for edits in [1, 3, 20] {
          let own = TextOperation.random(length: length, edits: edits, using: &random)
          var expected = own
          for operation in history {
            expected = try expected.transformed(over: operation, side: side)
          }
          let rebased = try own.rebased(over: history[...], side: side)
          #expect(rebased == expected)
        }
      }
      var composer = OperationComposer(baseLength: length)
      var expected = text
      for operation in history {
        try composer.append(operation)
        expected = try operation.applied(to: expected)
        #expect(composer.targetLength == operation.targetLength)
      }
      let composed = try composer.finished().applied(to: text)
      #expect(scalars(composed) == scalars(expected))
      for own in [false, true] {
        var cursors = Array(0...length)
        var one = cursors
        Cursor.transform(&cursors, over: history[...], own: own)
        for operation in history {
          one = one.map { Cursor.transformed($0, over: operation, own: own) }
        }
        #expect(cursors == one)
      }
    }
  }

  @Test func `operations of mismatched lengths are refused`() throws {
    #expect(throws: OperationError.self) { try op("=3").composed(with: op("=4")) }
    #expect(throws: OperationError.self) { try TextOperation.transform(op("=3"), op("=4")) }
    #expect(throws: OperationError.self) { try op("=3").applied(to: "ab") }
    #expect(throws: OperationError.self) { try op("=3").inverted(on: Document("ab")) }
    var document = Document("ab")
    #expect(throws: OperationError.lengthMismatch(expected: 2, found: 3)) {
      try document.apply(op("=1 +x -2"))
    }
    #expect(document == Document("ab"))
  }
}
