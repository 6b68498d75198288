package import OTCore

/// The algebra in its simplest form: arrays of scalars, one step at a time.
///
/// It is the reference with which the fast implementation is compared, so it must be obviously
/// correct. An operation is a list of steps of one scalar each. Steps are not merged, and nothing
/// is counted in bytes.
package struct ReferenceOperation: Equatable {
  /// A step of an operation: for one scalar of the text, or for one added scalar.
  package enum Step: Equatable {
    case keep
    case remove
    case add(Unicode.Scalar)
  }

  package var steps: [Step]

  package init(steps: [Step]) { self.steps = steps }

  /// Converts an operation to steps.
  package init(_ operation: TextOperation) {
    steps = []
    for component in operation.components {
      switch component {
      case .retain(let count): for _ in 0..<count { steps.append(.keep) }
      case .delete(let count): for _ in 0..<count { steps.append(.remove) }
      case .insert(let text): for scalar in text.unicodeScalars { steps.append(.add(scalar)) }
      }
    }
  }

  /// The same operation as a `TextOperation`.
  package var packed: TextOperation {
    var operation = TextOperation()
    for step in steps {
      switch step {
      case .keep: operation.retain(1)
      case .remove: operation.delete(1)
      case .add(let scalar): operation.insert(String(Character(scalar)))
      }
    }
    return operation
  }

  package var baseLength: Int {
    steps.count { if case .add = $0 { false } else { true } }
  }

  package var targetLength: Int { steps.count { $0 != .remove } }

  /// Applies the operation: `keep` copies a scalar, `remove` skips one, `add` adds one.
  package func applied(to text: [Unicode.Scalar]) -> [Unicode.Scalar] {
    var rest = text[...]
    var result: [Unicode.Scalar] = []
    for step in steps {
      switch step {
      case .keep: result.append(rest.removeFirst())
      case .remove: rest.removeFirst()
      case .add(let scalar): result.append(scalar)
      }
    }
    precondition(rest.isEmpty)
    return result
  }

  /// Composes two operations. A scalar that the first removes does not exist for the second, and a
  /// scalar that the second adds does not exist for the first. All other steps form pairs for the
  /// same scalar of the text between them.
  package func composed(with next: ReferenceOperation) -> ReferenceOperation {
    var first = steps[...]
    var second = next.steps[...]
    var result: [Step] = []
    while true {
      if first.first == .remove {
        result.append(.remove)
        first.removeFirst()
        continue
      }
      if case .add(let scalar)? = second.first {
        result.append(.add(scalar))
        second.removeFirst()
        continue
      }
      guard let before = first.first, let after = second.first else { break }
      first.removeFirst()
      second.removeFirst()
      switch (before, after) {
      case (.keep, .keep): result.append(.keep)
      case (.keep, .remove): result.append(.remove)
      case (.add(let scalar), .keep): result.append(.add(scalar))
      case (.add, .remove): break
      default: preconditionFailure()
      }
    }
    precondition(first.isEmpty && second.isEmpty)
    return ReferenceOperation(steps: result)
  }

  /// Transforms two operations. Scalars that `a` adds precede those that `b` adds. All other steps
  /// form pairs for the same scalar of the common text, which is removed if either operation
  /// removes it.
  package static func transform(
    _ a: ReferenceOperation, _ b: ReferenceOperation
  ) -> (aAfterB: ReferenceOperation, bAfterA: ReferenceOperation) {
    var left = a.steps[...]
    var right = b.steps[...]
    var aAfterB: [Step] = []
    var bAfterA: [Step] = []
    while true {
      if case .add(let scalar)? = left.first {
        aAfterB.append(.add(scalar))
        bAfterA.append(.keep)
        left.removeFirst()
        continue
      }
      if case .add(let scalar)? = right.first {
        aAfterB.append(.keep)
        bAfterA.append(.add(scalar))
        right.removeFirst()
        continue
      }
      guard let own = left.first, let other = right.first else { break }
      left.removeFirst()
      right.removeFirst()
      switch (own, other) {
      case (.keep, .keep):
        aAfterB.append(.keep)
        bAfterA.append(.keep)
      case (.remove, .keep): aAfterB.append(.remove)
      case (.keep, .remove): bAfterA.append(.remove)
      case (.remove, .remove): break
      default: preconditionFailure()
      }
    }
    precondition(left.isEmpty && right.isEmpty)
    return (ReferenceOperation(steps: aAfterB), ReferenceOperation(steps: bAfterA))
  }

  /// Inverts the operation: removes added scalars, and adds removed scalars at the same positions.
  package func inverted(on text: [Unicode.Scalar]) -> ReferenceOperation {
    var rest = text[...]
    var result: [Step] = []
    for step in steps {
      switch step {
      case .keep:
        result.append(.keep)
        rest.removeFirst()
      case .remove: result.append(.add(rest.removeFirst()))
      case .add: result.append(.remove)
      }
    }
    return ReferenceOperation(steps: result)
  }

  /// Moves a cursor. It remains before its scalar, or moves to the next one if that is removed. Own
  /// additions at its position move it; those of other users do not.
  package func moved(_ cursor: Int, own: Bool) -> Int {
    var cursor = cursor
    var position = 0
    var result = 0
    for step in steps {
      switch step {
      case .keep:
        if position == cursor { return result }
        position += 1
        result += 1
      case .remove:
        if position == cursor { cursor += 1 }
        position += 1
      case .add:
        if position == cursor, !own { return result }
        result += 1
      }
    }
    return result
  }
}
