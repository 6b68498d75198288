package import OTCore

/// Random operations from a seed.
extension TextOperation {
  /// Returns an operation on a text of this length. Inserts and deletes occur in both orders.
  ///
  /// - Parameter edits: The approximate number of edited positions.
  package static func random(
    length: Int, edits: Int = 3, wide: Bool = true, using random: inout SplitMix64
  ) -> TextOperation {
    var operation = TextOperation()
    var left = length
    let stride = max(1, 2 * length / max(1, edits))
    while true {
      // Often zero, so that edits are adjacent and positions coincide.
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
    // Mostly short; sometimes too long to be stored inline in an operation.
    RandomTexts.text(
      scalars: random.chance(10) ? random.between(10, 40) : random.between(1, 4), wide: wide,
      using: &random)
  }

  private static func take(_ left: inout Int, _ random: inout SplitMix64) -> Int {
    let count = min(left, random.chance(10) ? random.between(1, 30) : random.between(1, 4))
    left -= count
    return count
  }

  /// Parses an operation such as `=3 +text -2`. A text ends at the next space.
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

  /// The operation in the form that ``init(notation:)`` parses.
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
