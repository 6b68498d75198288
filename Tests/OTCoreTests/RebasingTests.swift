import ParleyGrowthKit
import OTCore
import ParleyOTWorkloads
import Testing

/// A change, and the long history that it is rebased over.
private struct Lag {
  var change = TextOperation()
  var history: [TextOperation] = []
  /// The distance between edits, in scalars of the original text.
  private static let stride = 4

  /// Returns an operation of `components` components, with edits all over a text.
  static func scattered(_ components: Int) -> TextOperation {
    var operation = TextOperation()
    for index in 0..<components / 4 {
      operation.retain(1)
      operation.insert("é")
      operation.delete(index % 3 == 0 ? 2 : 1)
      operation.retain(index % 3 == 0 ? stride - 3 : stride - 2)
    }
    return operation
  }

  /// - Parameter jumps: Whether each edit is far from the previous one, instead of close to it.
  init(components: Int, revisions: Int, jumps: Bool) {
    change = Self.scattered(components)
    var length = change.baseLength
    let size = length
    for index in 0..<revisions {
      // Alternately near the start and near the end.
      let offset = index * 7 % (size / 2)
      let place = jumps && index % 2 == 0 ? length - offset - 4 : offset
      var edit = TextOperation()
      edit.retain(place)
      edit.insert("x")
      edit.delete(index % 5 == 0 ? 3 : 1)
      edit.retain(length - place - (index % 5 == 0 ? 3 : 1))
      history.append(edit)
      length = edit.targetLength
    }
  }
}

@Suite("Rebasing over a history")
struct RebasingTests {
  /// Returns a history of random operations for a text of `length` scalars.
  private static func history(
    length: Int, revisions: Int, edits: Int, using random: inout SplitMix64
  ) -> [TextOperation] {
    var history: [TextOperation] = []
    var length = length
    for _ in 0..<revisions {
      let operation = TextOperation.random(
        length: length, edits: random.chance(30) ? edits : 1, using: &random)
      history.append(operation)
      length = operation.targetLength
    }
    return history
  }

  @Test(arguments: Seeds.smoke)
  func `any block size gives what one transform after the other gives`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for round in 0..<12 {
      let length = random.below(round % 3 == 0 ? 12 : 400)
      let edits = random.between(1, round % 2 == 0 ? 120 : 4)
      let change = TextOperation.random(length: length, edits: edits, using: &random)
      let history = Self.history(
        length: length, revisions: random.between(1, 40), edits: edits, using: &random)
      for side in [Side.left, .right] {
        for blockWordsMax in [8, 9, 16, 512] {
          var buffer = RebaseBuffer(change, side: side, blockWordsMax: blockWordsMax)
          var expected = change
          for (index, operation) in history.enumerated() {
            try buffer.pass(operation)
            expected = try expected.transformed(over: operation, side: side)
            // Intermediate results must not disturb later ones.
            if index % 4 == 0 { #expect(buffer.rebased() == expected) }
          }
          #expect(buffer.rebased() == expected, "blocks of \(blockWordsMax), \(side)")
        }
        var expected = change
        for operation in history {
          expected = try expected.transformed(over: operation, side: side)
        }
        #expect(try change.rebased(over: history[...], side: side) == expected)
      }
    }
  }

  /// Returns single edits near a few positions, as people type and delete, with rare long
  /// insertions.
  static func typing(
    length: Int, revisions: Int, using random: inout SplitMix64
  ) -> [TextOperation] {
    var history: [TextOperation] = []
    var length = length
    var places = (0..<random.between(1, 6)).map { _ in random.below(length + 1) }
    for _ in 0..<revisions {
      let person = random.below(places.count)
      if random.chance(3) { places[person] = random.below(length + 1) }
      let place = min(places[person], length)
      let deleted = random.chance(30) ? min(random.between(1, 4), length - place) : 0
      let inserted = String(repeating: "é", count: random.chance(5) ? 12 : random.below(3))
      var edit = TextOperation()
      edit.retain(place)
      if random.chance(50) {
        edit.insert(inserted)
        edit.delete(deleted)
      } else {
        edit.delete(deleted)
        edit.insert(inserted)
      }
      edit.retain(length - place - deleted)
      history.append(edit)
      length = edit.targetLength
      places[person] = random.chance(20) ? max(place - 1, 0) : place + inserted.unicodeScalars.count
    }
    return history
  }

  @Test(arguments: Seeds.smoke)
  func `a few edits pass people who type beside them and into them`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for round in 0..<20 {
      let length = random.below(round % 2 == 0 ? 30 : 2_000)
      let change = TextOperation.random(
        length: length, edits: random.between(1, 5), using: &random)
      let history = Self.typing(
        length: length, revisions: random.between(8, 200), using: &random)
      for side in [Side.left, .right] {
        var expected = change
        for operation in history {
          expected = try expected.transformed(over: operation, side: side)
        }
        #expect(try change.rebased(over: history[...], side: side) == expected)
      }
    }
  }

  @Test(arguments: Seeds.smoke)
  func `cursors pass people who type between and over them`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for round in 0..<20 {
      let length = random.below(round % 2 == 0 ? 30 : 2_000)
      let history = Self.typing(
        length: length, revisions: random.between(8, 200), using: &random)
      let start = (0..<random.between(1, 30)).map { _ in random.below(length + 1) }
      for own in [false, true] {
        var cursors = start
        Cursor.transform(&cursors, over: history[...], own: own)
        var expected = start
        for operation in history {
          expected = expected.map { Cursor.transformed($0, over: operation, own: own) }
        }
        #expect(cursors == expected)
      }
    }
  }

  @Test func `cursors outlast a history that does not fit`() {
    let operations = (0..<40).map { index in
      var operation = TextOperation()
      operation.retain(index % 3 * (TextOperation.lengthMax / 2 - 2_000_009))
      operation.delete(index % 5 * 1_000_000)
      operation.insert(String(repeating: "x", count: index % 12))
      return operation
    }
    var cursors = [Int.max, -5, 0, 7, TextOperation.lengthMax]
    Cursor.transform(&cursors, over: operations[...], own: false)
    #expect(cursors.count == 5)
  }

  @Test(
    "inserts at one place have the same order for all block sizes",
    arguments: [
      ("+a -1 +b -1 +c -1 +d -1 +e -1 +f", ["=3 +x =2", "-3 +y =3", "+z -4"]),
      ("-2 +a -2 +b -2 +c -2 +d -2 +e", ["=2 +x =8", "=3 -4 +y =4", "=3 +z -5"]),
      ("+a -4 +b -4 +c", ["+v -4 +w -4 +x", "=1 +y =2"]),
      ("=1 +a =1 +b =1 +c =1 +d =1 +e", ["-5", "+x"]),
    ])
  func ties(change: String, history: [String]) throws {
    for side in [Side.left, .right] {
      var buffer = RebaseBuffer(op(change), side: side, blockWordsMax: 8)
      var expected = op(change)
      for operation in history.map(op) {
        try buffer.pass(operation)
        expected = try expected.transformed(over: operation, side: side)
      }
      #expect(buffer.rebased() == expected)
    }
  }

  @Test func `a refused operation does not change the buffer`() throws {
    let change = Lag.scattered(2_000)
    var buffer = RebaseBuffer(change, side: .right)
    #expect(throws: OperationError.lengthMismatch(expected: change.baseLength, found: 3)) {
      try buffer.pass(op("=3"))
    }
    #expect(buffer.rebased() == change)
    var long = TextOperation()
    long.retain(TextOperation.lengthMax - 10)
    var history = [long]
    long.insert("0123456789")
    history.append(long)
    var own = TextOperation()
    for _ in 0..<6 {
      own.insert("é")
      own.delete(1)
    }
    own.retain(long.baseLength - 6)
    var far = RebaseBuffer(own, side: .right)
    try far.pass(history[0])
    #expect(throws: OperationError.tooLong) { try far.pass(history[1]) }
    #expect(throws: OperationError.tooLong) { try own.rebased(over: history[...], side: .right) }
    #expect(far.rebased() == own)
  }

  private static let laws = [
    GrowthLaw(
      "rebase over edits near each other", size: 3_200,
      prepare: { Lag(components: $0, revisions: $0 / 4, jumps: false) }
    ) { lag in
      _ = try? lag.change.rebased(over: lag.history[...], side: .right)
    },
    GrowthLaw(
      "rebase over edits far from each other", size: 3_200,
      prepare: { Lag(components: $0, revisions: $0 / 4, jumps: true) }
    ) { lag in
      _ = try? lag.change.rebased(over: lag.history[...], side: .right)
    },
    GrowthLaw(
      "rebase over changes as large", size: 2_000,
      prepare: { size -> Lag in
        var lag = Lag(components: size, revisions: 0, jumps: false)
        var length = lag.change.baseLength
        for _ in 0..<4 {
          var operation = TextOperation()
          for _ in 0..<length / 4 {
            operation.retain(2)
            operation.insert("ab")
            operation.delete(2)
          }
          operation.retain(length % 4)
          lag.history.append(operation)
          length = operation.targetLength
        }
        return lag
      }
    ) { lag in
      _ = try? lag.change.rebased(over: lag.history[...], side: .right)
    },
  ]

  @Test("eight times as much costs at most sixteen times as much", arguments: laws)
  func growth(law: GrowthLaw) {
    let finding = law.check()
    #expect(finding.holds, "\(finding)")
  }
}
