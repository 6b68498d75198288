import OTCore
import ParleyOTWorkloads
import Testing

/// The memory of long-lived values, compared with the memory that they need.
@Suite("Memory of kept operations")
struct RetainedMemoryTests {
  /// Returns an operation that inserts a letter at `count` positions.
  private static func scattered(_ count: Int) -> TextOperation {
    var operation = TextOperation()
    for _ in 0..<count {
      operation.insert("é")
      operation.retain(1)
    }
    return operation
  }

  /// Returns the bytes of the words and the text, rounded up to multiples of eight.
  private static func bytesNeeded(_ operation: TextOperation) -> Int {
    operation.componentCount * 8 + (operation.insertedBytes + 7) / 8 * 8
  }

  @Test(arguments: [3, 5, 13, 100, 1_000])
  func `a committed operation keeps no room for more`(count: Int) throws {
    let built = Self.scattered(count)
    #expect(built.blockBytes > Self.bytesNeeded(built))
    var sequencer = ServerSequencer(
      document: Document(String(repeating: "x", count: count)), revision: 0)
    let stored = try sequencer.submit(built, at: 0)
    #expect(stored == built)
    #expect(stored.blockBytes == Self.bytesNeeded(stored))
    for operation in sequencer.operations(after: 0) {
      #expect(operation.blockBytes == Self.bytesNeeded(operation))
    }
    #expect(try read(json(built)).blockBytes == Self.bytesNeeded(built))
  }

  @Test(arguments: [(5, 0), (0, 9), (40, 200), (1_000, 3)])
  func `memory that was reserved suffices`(components: Int, textBytes: Int) {
    var operation = TextOperation(reservingComponents: components, textBytes: textBytes)
    let reserved = operation.blockBytes
    #expect(reserved >= components * 8 + textBytes)
    var left = textBytes
    for index in 0..<components {
      if index % 2 == 0 {
        operation.retain(1)
      } else if left > 0 {
        let count = index + 2 >= components ? left : 1
        operation.insert(String(repeating: "x", count: count))
        left -= count
      } else {
        operation.delete(1)
      }
    }
    #expect(operation.componentCount == components)
    #expect(operation.blockBytes == reserved)
  }

  @Test func `an operation with reserved memory equals one without`() throws {
    var reserved = TextOperation(reservingComponents: 100, textBytes: 100)
    #expect(reserved == TextOperation())
    #expect(reserved.isIdentity)
    reserved.retain(2)
    reserved.insert("é")
    reserved.delete(1)
    #expect(reserved == op("=2 +é -1"))
    #expect(op("=2 +é -1") == reserved)
    #expect(reserved.hashValue == op("=2 +é -1").hashValue)
    #expect(try reserved.applied(to: "abc") == "abé")
    #expect(
      try reserved.transformed(over: op("+x =3"), side: .right) == op("=3 +é -1"))
    var plain = TextOperation(reservingComponents: 4, textBytes: 8)
    #expect(plain.blockBytes == 0)
    plain.insert("12345678")
    #expect(plain.blockBytes == 0)
  }

  @Test(arguments: Seeds.smoke)
  func `trimming forgets only the oldest operations`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var sequencer = ServerSequencer(document: Document(), revision: 0)
    var all: [TextOperation] = []
    var oldest = 0
    for _ in 0..<60 {
      switch random.below(8) {
      case 0:
        let kept = random.below(12)
        let tentative = sequencer.revision - sequencer.durableRevision
        oldest = max(oldest, all.count - max(kept, tentative))
        sequencer.trim(keeping: kept)
      case 1:
        sequencer.markDurable(
          through: random.between(sequencer.durableRevision, sequencer.revision))
      case 2:
        sequencer.rollBack()
        all.removeLast(all.count - sequencer.revision)
      case 3 where oldest > 0:
        let count = random.between(1, oldest)
        sequencer.prepend(Array(all[(oldest - count)..<oldest]))
        oldest -= count
      default:
        let base = random.between(oldest, all.count)
        var document = Document()
        for operation in all[..<base] { try document.apply(operation) }
        let change = TextOperation.random(length: document.scalarCount, using: &random)
        var expected = change
        for operation in all[base...] {
          expected = try expected.transformed(over: operation, side: .right)
        }
        #expect(try sequencer.submit(change, at: base) == expected)
        all.append(expected)
      }
      #expect(sequencer.oldestBase == oldest)
      #expect(sequencer.revision == all.count)
      #expect(Array(sequencer.operations(after: oldest)) == Array(all[oldest...]))
      var durable = Document()
      for operation in all[..<sequencer.durableRevision] { try durable.apply(operation) }
      #expect(sequencer.durableDocument == durable)
      if oldest > 0 {
        #expect(throws: SequencerError.historyGone(oldestBase: oldest)) {
          try sequencer.submit(TextOperation(), at: oldest - 1)
        }
      }
    }
  }
}
