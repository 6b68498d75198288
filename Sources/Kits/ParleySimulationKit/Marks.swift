import OTCore

/// Unique scalars in almost every insertion, by which typed text is found in a log or a text.
struct Marks {
  /// Private-use scalars of plane 15, many more than a run needs.
  private static let first: UInt32 = 0xf0000
  private static let countMax = 0xfffe

  /// Marks that a user has deleted while they were visible.
  private(set) var deleted: Set<Int> = []
  /// The number of each mark's author.
  private(set) var seats: [Int] = []

  /// Returns an unused mark; an empty string if all are used.
  mutating func next(for seat: Int) -> String {
    guard seats.count < Self.countMax, let scalar = Unicode.Scalar(Self.first + UInt32(seats.count))
    else { return "" }
    seats.append(seat)
    return String(Character(scalar))
  }

  /// Discards the newest marks, whose edit was not applied.
  mutating func takeBack(to count: Int) { seats.removeSubrange(count...) }

  /// Records the marks that an edit deletes from a text.
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

  /// Returns the marks in a text, in order.
  static func marks(in text: String) -> [Int] {
    text.unicodeScalars.compactMap { scalar in
      (first..<(first + UInt32(countMax))).contains(scalar.value)
        ? Int(scalar.value - first) : nil
    }
  }

  /// Returns the marks that an operation inserts.
  static func marks(in operation: TextOperation) -> [Int] {
    operation.components.flatMap { component in
      if case .insert(let text) = component { marks(in: text) } else { [Int]() }
    }
  }
}
