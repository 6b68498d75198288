import ParleyGrowthKit
import OTCore
import Testing

@Suite("Growth of building operations", .serialized)
struct BuildingGrowthTests {
  /// Returns an operation of `count` components that never merge.
  private static func alternating(_ count: Int) -> TextOperation {
    var operation = TextOperation()
    for index in 0..<count / 2 {
      operation.insert(index % 2 == 0 ? "a" : "é")
      operation.delete(1)
    }
    return operation
  }

  private static func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    alternating(count).appendJSON(to: &bytes)
    return bytes
  }

  private static let laws = [
    GrowthLaw("build an operation", size: 12_500, prepare: { $0 }) { size in
      let operation = alternating(size)
      precondition(operation.componentCount == size)
    },
    GrowthLaw("build of retains and deletions", size: 12_500, prepare: { $0 }) { size in
      var operation = TextOperation()
      for _ in 0..<size / 2 {
        operation.retain(1)
        operation.delete(1)
      }
    },
    GrowthLaw("build one long text", size: 12_500, prepare: { $0 }) { size in
      var operation = TextOperation()
      for _ in 0..<size { operation.insert("x") }
    },
    GrowthLaw("read the JSON form", size: 12_500, prepare: bytes) { bytes in
      bytes.withUnsafeBufferPointer { bytes in
        guard let operation = try? TextOperation(json: bytes) else {
          preconditionFailure("not read")
        }
        precondition(operation.componentCount > 0)
      }
    },
    GrowthLaw("write the JSON form", size: 12_500, prepare: alternating) { operation in
      var bytes: [UInt8] = []
      operation.appendJSON(to: &bytes)
    },
    // Above a size threshold, a list's memory is returned to the system and its pages are mapped
    // again each time. Both sizes stay below the threshold.
    GrowthLaw("list the components", size: 2_500, prepare: alternating) { operation in
      precondition(operation.components.count == operation.componentCount)
    },
    GrowthLaw(
      "build on a shared operation", size: 12_500, prepare: { ($0, alternating($0)) }
    ) { size, shared in
      var own = shared
      for _ in 0..<size {
        own.retain(1)
        own.insert("x")
      }
    },
  ]

  @Test("eight times as many components cost at most sixteen times as much", arguments: laws)
  func growth(law: GrowthLaw) {
    let finding = law.check()
    #expect(finding.holds, "\(finding)")
  }

  @Test("a copy stays the same while the original grows")
  func copies() {
    var operation: TextOperation = [.insert("0123456789"), .retain(1), .delete(1)]
    var copies: [TextOperation] = []
    for _ in 0..<20 {
      copies.append(operation)
      operation.retain(1)
      operation.insert("x")
    }
    for (index, copy) in copies.enumerated() {
      #expect(copy.componentCount == 3 + 2 * index)
      #expect(copy.targetLength == 11 + 2 * index)
    }
  }
}
