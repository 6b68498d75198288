import OTCore

/// A scalar of its own in almost every insertion, so that typed text can be found again: in the
/// log, in the text, or nowhere.
struct Marks {
  /// Private-use scalars of plane 15; far more than a run types.
  private static let first: UInt32 = 0xf0000
  private static let countMax = 0xfffe

  /// Marks that a user has deleted, each on a screen that showed it.
  private(set) var deleted: Set<Int> = []
  /// The author of each mark.
  private(set) var seats: [Int] = []

  /// An unused mark.
  mutating func next(for seat: Int) -> String {
    guard seats.count < Self.countMax, let scalar = Unicode.Scalar(Self.first + UInt32(seats.count))
    else { return "" }
    seats.append(seat)
    return String(Character(scalar))
  }

  /// Unmakes the newest marks, which were not typed after all.
  mutating func takeBack(to count: Int) { seats.removeSubrange(count...) }

  /// Notes an edit that an author applies to this text.
  mutating func note(_ operation: TextOperation, on document: Document) {
    var position = 0
    for component in operation.components {
      switch component {
      case .retain(let count): position += count
      case .insert: break
      case .delete(let count):
        deleted.formUnion(Self.marks(in: document.text(in: position..<(position + count))))
        position += count
      }
    }
  }

  /// The marks in a text, in their order.
  static func marks(in text: String) -> [Int] {
    text.unicodeScalars.compactMap { scalar in
      (first..<(first + UInt32(countMax))).contains(scalar.value)
        ? Int(scalar.value - first) : nil
    }
  }

  /// The marks that an operation inserts.
  static func marks(in operation: TextOperation) -> [Int] {
    operation.components.flatMap { component in
      if case .insert(let text) = component { marks(in: text) } else { [Int]() }
    }
  }
}
