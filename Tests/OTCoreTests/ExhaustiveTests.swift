import OTCore
import ParleyOTWorkloads
import Testing

/// Every operation on a text of up to three scalars, inserting two letters, and every pair.
///
/// An operation inserts at most one letter at each position. Around a deleted scalar it may insert
/// on both sides, so insert and delete occur in both orders.
@Suite("All small cases")
struct ExhaustiveTests {
  private static let letters: [Unicode.Scalar] = ["a", "b"]

  /// An operation, as a reference operation and as a packed one.
  private struct Case {
    var plain: ReferenceOperation
    var packed: TextOperation
  }

  /// Returns all operations on a text of this length.
  private static func operations(length: Int) -> [Case] {
    var lists: [[ReferenceOperation.Step]] = [[]]
    func withAdditions(_ lists: [[ReferenceOperation.Step]]) -> [[ReferenceOperation.Step]] {
      lists + letters.flatMap { letter in lists.map { $0 + [.add(letter)] } }
    }
    for _ in 0..<length {
      lists = withAdditions(lists)
      lists = lists.map { $0 + [.keep] } + lists.map { $0 + [.remove] }
    }
    return withAdditions(lists).map { steps in
      let plain = ReferenceOperation(steps: steps)
      return Case(plain: plain, packed: plain.packed)
    }
  }

  /// Returns all texts of this length.
  private static func texts(length: Int) -> [[Unicode.Scalar]] {
    var texts: [[Unicode.Scalar]] = [[]]
    for _ in 0..<length { texts = texts.flatMap { text in letters.map { text + [$0] } } }
    return texts
  }

  private static let all = (0...3).map(operations(length:))

  @Test func `the number of generated operations is as calculated`() {
    // Three choices at each position, two for each letter.
    #expect(Self.all.map(\.count) == [3, 18, 108, 648])
  }

  @Test(arguments: 0...3)
  func `all operations apply and invert as in the reference`(length: Int) throws {
    for text in Self.texts(length: length) {
      for one in Self.all[length] {
        let after = one.plain.applied(to: text)
        let back = one.plain.inverted(on: text)
        var document = Document(string(text))
        let applied = scalars(try one.packed.applied(to: string(text)))
        let inverse = try one.packed.inverted(on: document)
        let isRight =
          applied == after && inverse == back.packed && back.applied(to: after) == text
        try document.apply(one.packed)
        guard isRight, scalars(document.text) == after else {
          Issue.record("\(one.packed.notation) on \(string(text))")
          return
        }
      }
    }
  }

  @Test(arguments: 0...3)
  func `all operations move every cursor as in the reference`(length: Int) {
    for one in Self.all[length] {
      for own in [false, true] {
        for cursor in 0...length {
          let expected = one.plain.moved(cursor, own: own)
          guard Cursor.transformed(cursor, over: one.packed, own: own) == expected else {
            Issue.record("cursor \(cursor) over \(one.packed.notation), own: \(own)")
            return
          }
        }
      }
    }
  }

  /// The longest texts have 419,904 pairs, which are divided among several test cases.
  @Test(arguments: [(0, 0, 1), (1, 0, 1), (2, 0, 1), (3, 0, 4), (3, 1, 4), (3, 2, 4), (3, 3, 4)])
  func `all pairs transform as in the reference, to the same text`(
    length: Int, part: Int, parts: Int
  ) throws {
    let text = scalars(String("xyz".prefix(length)))
    let all = Self.all[length]
    let afterEach = all.map { $0.plain.applied(to: text) }
    for (index, left) in all.enumerated() where index % parts == part {
      for (other, right) in all.enumerated() {
        let result = try TextOperation.transform(left.packed, right.packed)
        let expected = ReferenceOperation.transform(left.plain, right.plain)
        let meet = expected.bAfterA.applied(to: afterEach[index])
        guard result.aAfterB == expected.aAfterB.packed, result.bAfterA == expected.bAfterA.packed,
          try left.packed.transformed(over: right.packed, side: .left) == result.aAfterB,
          try right.packed.transformed(over: left.packed, side: .right) == result.bAfterA,
          meet == expected.aAfterB.applied(to: afterEach[other])
        else {
          Issue.record("transform(\(left.packed.notation), \(right.packed.notation))")
          return
        }
      }
    }
  }

  /// Each first operation that leaves at most three letters, with each second operation.
  @Test(arguments: 0...3)
  func `all pairs compose as in the reference`(length: Int) throws {
    let text = scalars(String("xyz".prefix(length)))
    for first in Self.all[length] where first.plain.targetLength <= 3 {
      let between = first.plain.applied(to: text)
      for second in Self.all[between.count] {
        let both = first.plain.composed(with: second.plain)
        guard try first.packed.composed(with: second.packed) == both.packed,
          both.applied(to: text) == second.plain.applied(to: between)
        else {
          Issue.record("\(first.packed.notation) then \(second.packed.notation)")
          return
        }
      }
    }
  }
}
