package import OTCore

/// Operations drawn from a seed.
extension TextOperation {
  /// An operation on a text of this length. Insert and delete come in both orders.
  ///
  /// - Parameter edits: About how many places it changes.
  package static func random(
    length: Int, edits: Int = 3, wide: Bool = true, using random: inout SplitMix64
  ) -> TextOperation {
    var operation = TextOperation()
    var left = length
    let stride = max(1, 2 * length / max(1, edits))
    while true {
      // Zero often, so that neighbours touch and positions meet.
      let kept = min(left, random.chance(25) ? 0 : random.below(stride + 1))
      operation.retain(kept)
      left -= kept
      switch random.below(6) {
      case 0, 1: operation.insert(insertion(wide, &random))
      case 2: operation.delete(take(&left, &random))
      case 3:
        operation.insert(insertion(wide, &random))
        operation.delete(take(&left, &random))
      case 4:
        operation.delete(take(&left, &random))
        operation.insert(insertion(wide, &random))
      default: break
      }
      if left == 0 || random.below(edits + 1) == 0 { break }
    }
    operation.retain(left)
    return operation
  }

  private static func insertion(_ wide: Bool, _ random: inout SplitMix64) -> String {
    // Mostly short; now and then longer than what an operation holds without a block of its own.
    RandomTexts.text(
      scalars: random.chance(10) ? random.between(10, 40) : random.between(1, 4), wide: wide,
      using: &random)
  }

  private static func take(_ left: inout Int, _ random: inout SplitMix64) -> Int {
    let count = min(left, random.chance(10) ? random.between(1, 30) : random.between(1, 4))
    left -= count
    return count
  }

  /// Builds an operation from `=3 +text -2`; a text ends at the next space.
  package init(notation: String) {
    self.init()
    for part in notation.split(separator: " ") {
      let rest = part.dropFirst()
      switch part.unicodeScalars.first {
      case "=": retain(Int(rest) ?? 0)
      case "-": delete(Int(rest) ?? 0)
      default: insert(String(rest))
      }
    }
  }

  /// The operation as ``init(notation:)`` reads it.
  package var notation: String {
    var parts: [String] = []
    for component in components {
      switch component {
      case .retain(let count): parts.append("=\(count)")
      case .delete(let count): parts.append("-\(count)")
      case .insert(let text): parts.append("+\(text)")
      }
    }
    return parts.joined(separator: " ")
  }
}
