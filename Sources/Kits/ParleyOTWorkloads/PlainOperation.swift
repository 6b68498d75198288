package import OTCore

/// An operation as a list of parts, for generating workloads. It is a separate implementation, so
/// that the expected results in the files do not come from OTCore.
///
/// An insert precedes a deletion at the same position.
package struct PlainOperation {
  package enum Part {
    case keep(Int)
    case add([Unicode.Scalar])
    case remove(Int)
  }

  package private(set) var parts: [Part] = []

  package init() {}

  package mutating func append(_ part: Part) {
    switch (part, parts.last) {
    case (.keep(0), _), (.remove(0), _): return
    case (.add(let text), _) where text.isEmpty: return
    case (.keep(let more), .keep(let count)?): parts[parts.count - 1] = .keep(count + more)
    case (.remove(let more), .remove(let count)?): parts[parts.count - 1] = .remove(count + more)
    case (.add(let more), .add(let text)?): parts[parts.count - 1] = .add(text + more)
    case (.add(let more), .remove?):
      // Insert before the deletion, and merge with an insert that precedes it.
      if parts.count > 1, case .add(let text) = parts[parts.count - 2] {
        parts[parts.count - 2] = .add(text + more)
      } else {
        parts.insert(part, at: parts.count - 1)
      }
    default: parts.append(part)
    }
  }

  /// The length of the text before the operation, in scalars.
  package var baseLength: Int {
    parts.reduce(0) { if case .add = $1 { $0 } else { $0 + $1.length } }
  }

  /// The same operation as a `TextOperation`.
  package var packed: TextOperation {
    var operation = TextOperation()
    for part in parts {
      switch part {
      case .keep(let count): operation.retain(count)
      case .remove(let count): operation.delete(count)
      case .add(let text): operation.insert(String(String.UnicodeScalarView(text)))
      }
    }
    return operation
  }

  /// Applies the operation from a text's end to its beginning, so that positions remain valid.
  package func apply(to text: inout [Unicode.Scalar]) {
    var place = baseLength
    precondition(place == text.count, "an operation on \(place) scalars meets \(text.count)")
    for part in parts.reversed() {
      switch part {
      case .keep(let count): place -= count
      case .remove(let count):
        place -= count
        text.removeSubrange(place..<place + count)
      case .add(let new): text.insert(contentsOf: new, at: place)
      }
    }
  }

  /// Transforms both operations. At one position, the insert of `a` precedes the insert of `b`.
  package static func transform(
    _ a: PlainOperation, _ b: PlainOperation
  ) -> (aAfterB: PlainOperation, bAfterA: PlainOperation) {
    var left = a.parts[...]
    var right = b.parts[...]
    var aAfterB = PlainOperation()
    var bAfterA = PlainOperation()
    while true {
      if case .add(let text)? = left.first {
        aAfterB.append(.add(text))
        bAfterA.append(.keep(text.count))
        left.removeFirst()
        continue
      }
      if case .add(let text)? = right.first {
        aAfterB.append(.keep(text.count))
        bAfterA.append(.add(text))
        right.removeFirst()
        continue
      }
      guard let own = left.first, let other = right.first else { break }
      let count = min(own.length, other.length)
      switch (own.isKeep, other.isKeep) {
      case (true, true):
        aAfterB.append(.keep(count))
        bAfterA.append(.keep(count))
      case (false, true): aAfterB.append(.remove(count))
      case (true, false): bAfterA.append(.remove(count))
      case (false, false): break
      }
      left.shortenFirst(by: count)
      right.shortenFirst(by: count)
    }
    precondition(left.isEmpty && right.isEmpty)
    return (aAfterB, bAfterA)
  }

  /// Returns a cursor's new position: before the same scalar, or before the next one that remains.
  package func moved(_ cursor: Int, insertMovesIt: Bool) -> Int {
    var before = cursor
    var result = 0
    for part in parts {
      switch part {
      case .keep(let count):
        if before < count { return result + before }
        before -= count
        result += count
      case .add(let text):
        if before == 0, !insertMovesIt { return result }
        result += text.count
      case .remove(let count): before = max(0, before - count)
      }
    }
    return result
  }
}

extension PlainOperation.Part {
  fileprivate var length: Int {
    switch self {
    case .keep(let count), .remove(let count): count
    case .add(let text): text.count
    }
  }

  fileprivate var isKeep: Bool { if case .keep = self { true } else { false } }
}

extension ArraySlice<PlainOperation.Part> {
  fileprivate mutating func shortenFirst(by count: Int) {
    switch self[startIndex] {
    case .keep(let length) where length > count: self[startIndex] = .keep(length - count)
    case .remove(let length) where length > count: self[startIndex] = .remove(length - count)
    default: removeFirst()
    }
  }
}
