package import OTCore

/// The attributes of a scalar, or a change of them, as a dictionary: values as JSON, `null`
/// removes.
package typealias ReferenceAttributes = [String: String]

/// The algebra of formatted text in its simplest form: texts as arrays of scalars with
/// dictionaries, operations as one step for each scalar.
package struct ReferenceRich: Equatable {
  /// A step of an operation, at or before one scalar of the text.
  package enum Step: Equatable {
    case keep(ReferenceAttributes)
    case remove
    case add(Unicode.Scalar, ReferenceAttributes)
  }

  /// A scalar with its attributes.
  package struct Unit: Equatable {
    package var scalar: Unicode.Scalar
    package var attributes: ReferenceAttributes

    package init(_ scalar: Unicode.Scalar, _ attributes: ReferenceAttributes) {
      self.scalar = scalar
      self.attributes = attributes
    }
  }

  package var steps: [Step]

  package init(steps: [Step]) { self.steps = steps }

  /// The operation that inserts all of a text.
  package init(inserting units: [Unit]) {
    steps = units.map { .add($0.scalar, $0.attributes) }
  }

  /// The same operation, packed.
  package var packed: RichOperation {
    var builder = RichOperationBuilder()
    for step in steps {
      switch step {
      case .keep(let change): builder.retain(1, setting: Self.set(change))
      case .remove: builder.delete(1)
      case .add(let scalar, let attributes):
        builder.insert(String(Character(scalar)), with: Self.set(attributes))
      }
    }
    return builder.finished()
  }

  private static func set(_ attributes: ReferenceAttributes) -> AttributeSet {
    let fields = attributes.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
    do {
      return try AttributeSet(json: "{\(fields)}")
    } catch {
      preconditionFailure("no attributes: \(fields)")
    }
  }

  /// Returns a change's effect on attributes.
  package static func apply(
    _ change: ReferenceAttributes, to attributes: ReferenceAttributes
  ) -> ReferenceAttributes {
    attributes.merging(change) { $1 }.filter { $0.value != "null" }
  }

  package func applied(to text: [Unit]) -> [Unit] {
    var rest = text[...]
    var result: [Unit] = []
    for step in steps {
      switch step {
      case .keep(let change):
        let unit = rest.removeFirst()
        result.append(Unit(unit.scalar, Self.apply(change, to: unit.attributes)))
      case .remove: rest.removeFirst()
      case .add(let scalar, let attributes): result.append(Unit(scalar, attributes))
      }
    }
    precondition(rest.isEmpty)
    return result
  }

  package func composed(with next: ReferenceRich) -> ReferenceRich {
    var first = steps[...]
    var second = next.steps[...]
    var result: [Step] = []
    while true {
      if first.first == .remove {
        result.append(first.removeFirst())
        continue
      }
      if case .add? = second.first {
        result.append(second.removeFirst())
        continue
      }
      guard let before = first.popFirst(), let after = second.popFirst() else { break }
      switch (before, after) {
      case (.keep(let one), .keep(let two)): result.append(.keep(one.merging(two) { $1 }))
      case (.keep, .remove): result.append(.remove)
      case (.add(let scalar, let one), .keep(let two)):
        result.append(.add(scalar, Self.apply(two, to: one)))
      case (.add, .remove): break
      default: preconditionFailure()
      }
    }
    return ReferenceRich(steps: result)
  }

  package func inverted(on text: [Unit]) -> ReferenceRich {
    var rest = text[...]
    return ReferenceRich(
      steps: steps.map { step in
        switch step {
        case .keep(let change):
          let old = rest.removeFirst().attributes
          var back = ReferenceAttributes()
          for (key, value) in change where (old[key] ?? "null") != value {
            back[key] = old[key] ?? "null"
          }
          return .keep(back)
        case .remove:
          let unit = rest.removeFirst()
          return .add(unit.scalar, unit.attributes)
        case .add: return .remove
        }
      })
  }

  // MARK: Transforming

  /// The change of each scalar of the base text; empty for a removed scalar.
  private var changes: [ReferenceAttributes] {
    steps.compactMap { step in
      switch step {
      case .keep(let change): change
      case .remove: [:]
      case .add: nil
      }
    }
  }

  /// Returns the formatting that each added scalar takes from another operation.
  private func grown(
    by other: ReferenceRich, isCommitted: Bool, _ growth: RichOperation.Growth
  ) -> [ReferenceAttributes] {
    let (own, others) = (changes, other.changes)
    var result: [ReferenceAttributes] = []
    var place = 0
    var start: Int?
    for step in steps {
      switch step {
      case .keep:
        place += 1
        start = nil
      case .remove:
        start = start ?? place
        place += 1
      case .add:
        let begin = start ?? place
        start = begin
        guard growth == .grows, begin > 0, begin < others.count else {
          result.append([:])
          continue
        }
        result.append(
          others[begin].filter { key, value in
            others[begin - 1][key] == value
              && !(isCommitted && (own[begin - 1][key] != nil || own[begin][key] != nil))
          })
      }
    }
    return result
  }

  /// Transforms both operations over each other; `a` is committed.
  package static func transform(
    _ a: ReferenceRich, _ b: ReferenceRich, growth: RichOperation.Growth
  ) -> (aAfterB: ReferenceRich, bAfterA: ReferenceRich) {
    var left = a.steps[...]
    var right = b.steps[...]
    var aGrown = a.grown(by: b, isCommitted: true, growth)[...]
    var bGrown = b.grown(by: a, isCommitted: false, growth)[...]
    var aAfterB: [Step] = []
    var bAfterA: [Step] = []
    while true {
      if case .add(let scalar, let attributes)? = left.first {
        let grown = aGrown.removeFirst()
        aAfterB.append(.add(scalar, apply(grown, to: attributes)))
        bAfterA.append(.keep(grown))
        left.removeFirst()
        continue
      }
      if case .add(let scalar, let attributes)? = right.first {
        let grown = bGrown.removeFirst()
        aAfterB.append(.keep(grown))
        bAfterA.append(.add(scalar, apply(grown, to: attributes)))
        right.removeFirst()
        continue
      }
      guard let own = left.popFirst(), let other = right.popFirst() else { break }
      switch (own, other) {
      case (.keep(let one), .keep(let two)):
        aAfterB.append(.keep(one))
        bAfterA.append(.keep(two.filter { one[$0.key] == nil }))
      case (.remove, .keep): aAfterB.append(.remove)
      case (.keep, .remove): bAfterA.append(.remove)
      case (.remove, .remove): break
      default: preconditionFailure()
      }
    }
    return (ReferenceRich(steps: aAfterB), ReferenceRich(steps: bAfterA))
  }
}

extension ReferenceRich {
  /// The units of a document.
  package static func units(of document: RichDocument) -> [Unit] {
    var rest = Array(document.text.text.unicodeScalars)[...]
    var units: [Unit] = []
    document.forEachRun { count, set in
      let attributes = attributes(of: set)
      for _ in 0..<count { units.append(Unit(rest.removeFirst(), attributes)) }
    }
    precondition(rest.isEmpty)
    return units
  }

  private static func attributes(of set: AttributeSet) -> ReferenceAttributes {
    var attributes = ReferenceAttributes()
    set.forEach { key, json in
      attributes[String(decoding: key, as: UTF8.self)] = String(decoding: json, as: UTF8.self)
    }
    return attributes
  }

  /// A document of these units.
  package static func document(_ units: [Unit]) -> RichDocument {
    var document = RichDocument()
    do {
      try document.apply(ReferenceRich(inserting: units).packed)
    } catch {
      preconditionFailure("an insertion of everything must fit")
    }
    return document
  }
}
