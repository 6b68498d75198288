package import OTCore

/// A random test case for every function of OTCore, with the results of the reference.
///
/// The same seed gives the same case on every machine, so a failure only reports its seed.
package struct OracleCase {
  /// A difference between OTCore and the reference.
  package struct Disagreement: Error, CustomStringConvertible {
    package let seed: UInt64
    package let function: String
    /// The length of the text in scalars; the seed determines the rest.
    package let size: Int

    package var description: String {
      "\(function) disagrees with the reference: case \(seed), a text of \(size) scalars"
    }
  }

  package let seed: UInt64
  private let text: [Unicode.Scalar]
  private let string: String
  private let a: TextOperation
  private let b: TextOperation
  /// An operation on the text after `a`.
  private let next: TextOperation
  /// Consecutive operations, the first on the text.
  private let history: [TextOperation]
  private let cursors: [Int]

  package init(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    self.seed = seed
    let size = random.chance(5) ? random.below(300) : random.below(16)
    string = RandomTexts.text(scalars: size, wide: random.chance(60), using: &random)
    text = Array(string.unicodeScalars)
    let edits = random.chance(70) ? random.between(0, 3) : random.between(4, 12)
    let wide = random.chance(60)
    a = .random(length: text.count, edits: edits, wide: wide, using: &random)
    b = .random(length: text.count, edits: random.between(0, 4), wide: wide, using: &random)
    next = .random(length: a.targetLength, edits: edits, wide: wide, using: &random)
    var history: [TextOperation] = []
    var length = text.count
    for _ in 0..<random.below(6) {
      let edits = random.chance(80) ? 1 : 4
      history.append(.random(length: length, edits: edits, wide: wide, using: &random))
      length = history[history.count - 1].targetLength
    }
    self.history = history
    let count = text.count
    cursors = (0..<random.between(1, 20)).map { _ in random.below(count + 1) }
  }

  /// Creates a case from another source, without a seed.
  ///
  /// - Parameters:
  ///   - a: An operation on the text.
  ///   - b: Another operation on the text.
  ///   - next: An operation on the text after `a`.
  ///   - history: Consecutive operations, the first on the text.
  ///   - cursors: Positions in the text.
  package init(
    text: String, a: TextOperation, b: TextOperation, next: TextOperation,
    history: [TextOperation], cursors: [Int]
  ) {
    seed = 0
    string = text
    self.text = Array(text.unicodeScalars)
    self.a = a
    self.b = b
    self.next = next
    self.history = history
    self.cursors = cursors
  }

  /// Compares the results of OTCore with those of the reference.
  ///
  /// - Throws: `Disagreement`, or an error of OTCore.
  package func check() throws {
    try checkApply()
    try checkCompose()
    try checkTransform()
    try checkRebase()
    try checkInvert()
    try checkCursors()
  }

  private func require(_ isRight: Bool, _ function: String) throws(Disagreement) {
    guard isRight else { throw Disagreement(seed: seed, function: function, size: text.count) }
  }

  private func checkApply() throws {
    let plain = ReferenceOperation(a)
    let after = plain.applied(to: text)
    try require(plain.packed == a, "building")
    try require(a.baseLength == plain.baseLength, "baseLength")
    try require(a.targetLength == plain.targetLength, "targetLength")
    try require(Array(try a.applied(to: string).unicodeScalars) == after, "applied(to:)")
    var document = Document(string)
    let before = document
    try document.apply(a)
    document.checkInvariants()
    try require(Array(document.text.unicodeScalars) == after, "Document.apply")
    try require(Array(before.text.unicodeScalars) == text, "a copy of a document")
  }

  private func checkCompose() throws {
    let both = ReferenceOperation(a).composed(with: ReferenceOperation(next))
    try require(try a.composed(with: next) == both.packed, "composed(with:)")
    var composer = OperationComposer(baseLength: text.count)
    var document = Document(string)
    for operation in history {
      try composer.append(operation)
      try document.apply(operation)
    }
    // A composer may order an insert and a delete at one position differently.
    var whole = Document(string)
    try whole.apply(composer.finished())
    try require(whole == document, "OperationComposer")
  }

  private func checkTransform() throws {
    let (aAfterB, bAfterA) = ReferenceOperation.transform(
      ReferenceOperation(a), ReferenceOperation(b))
    let result = try TextOperation.transform(a, b)
    try require(result.aAfterB == aAfterB.packed, "transform: aAfterB")
    try require(result.bAfterA == bAfterA.packed, "transform: bAfterA")
    try require(
      try a.transformed(over: b, side: .left) == result.aAfterB, "transformed(over:side: .left)")
    try require(
      try b.transformed(over: a, side: .right) == result.bAfterA, "transformed(over:side: .right)")
    let one = bAfterA.applied(to: ReferenceOperation(a).applied(to: text))
    let other = aAfterB.applied(to: ReferenceOperation(b).applied(to: text))
    try require(one == other, "the diamond")
  }

  private func checkRebase() throws {
    for side in [Side.left, .right] {
      var plain = ReferenceOperation(b)
      for operation in history {
        let other = ReferenceOperation(operation)
        switch side {
        case .left: plain = ReferenceOperation.transform(plain, other).aAfterB
        case .right: plain = ReferenceOperation.transform(other, plain).bAfterA
        }
      }
      try require(
        try b.rebased(over: history[...], side: side) == plain.packed,
        "rebased(over:side: .\(side))")
    }
  }

  private func checkInvert() throws {
    let plain = ReferenceOperation(a)
    let back = try a.inverted(on: Document(string))
    try require(back == plain.inverted(on: text).packed, "inverted(on:)")
    try require(ReferenceOperation(back).applied(to: plain.applied(to: text)) == text, "undoing")
  }

  private func checkCursors() throws {
    for own in [false, true] {
      let plain = ReferenceOperation(a)
      for cursor in cursors {
        try require(
          Cursor.transformed(cursor, over: a, own: own) == plain.moved(cursor, own: own),
          "Cursor.transformed, own: \(own)")
      }
      var moved = cursors
      Cursor.transform(&moved, over: history[...], own: own)
      let expected = cursors.map { cursor in
        history.reduce(cursor) { ReferenceOperation($1).moved($0, own: own) }
      }
      try require(moved == expected, "Cursor.transform over a history, own: \(own)")
    }
  }
}
