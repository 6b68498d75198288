package import OTCore

/// Formatted texts and operations drawn from a seed.
extension ReferenceRich {
  /// Returns random attributes of few keys and values, so that operations often change the same
  /// attribute; with removals if requested.
  package static func attributes(
    removals: Bool, using random: inout SplitMix64
  ) -> ReferenceAttributes {
    if random.chance(40) { return [:] }
    var result = ReferenceAttributes()
    for _ in 0..<random.between(1, 2) {
      let key = ["bold", "color", "link"][random.below(3)]
      let values = ["true", "\"red\"", "3"] + (removals ? ["null"] : [])
      result[key] = values[random.below(values.count)]
    }
    return result
  }

  package static func text(scalars: Int, using random: inout SplitMix64) -> [Unit] {
    var attributes = ReferenceAttributes()
    return RandomTexts.text(scalars: scalars, wide: random.chance(40), using: &random)
      .unicodeScalars.map {
        if random.chance(30) { attributes = Self.attributes(removals: false, using: &random) }
        return Unit($0, attributes)
      }
  }

  /// Creates a text operation with random formatting of its retained and inserted text; in a fifth
  /// of the cases without.
  package init(formatting text: TextOperation, using random: inout SplitMix64) {
    let isPlain = random.chance(20)
    var change = ReferenceAttributes()
    var attributes = ReferenceAttributes()
    steps = ReferenceOperation(text).steps.map { step in
      if !isPlain, random.chance(35) {
        change = Self.attributes(removals: true, using: &random)
        attributes = Self.attributes(removals: false, using: &random)
      }
      return switch step {
      case .keep: .keep(change)
      case .remove: .remove
      case .add(let scalar): .add(scalar, attributes)
      }
    }
  }

  package static func random(length: Int, using random: inout SplitMix64) -> ReferenceRich {
    ReferenceRich(
      formatting: .random(length: length, edits: random.between(0, 3), wide: false, using: &random),
      using: &random)
  }

  /// The length of the text after the operation, in scalars.
  package var targetLength: Int { steps.count { $0 != .remove } }
}

/// A test case for every function of rich operations, drawn from a seed, with the reference's
/// results.
package struct RichOracleCase {
  package let seed: UInt64
  private let units: [ReferenceRich.Unit]
  private let document: RichDocument
  private let a: ReferenceRich
  private let b: ReferenceRich
  private let next: ReferenceRich
  private let history: [ReferenceRich]

  package init(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    self.seed = seed
    units = ReferenceRich.text(
      scalars: random.chance(5) ? random.below(100) : random.below(12), using: &random)
    document = ReferenceRich.document(units)
    a = .random(length: units.count, using: &random)
    b = .random(length: units.count, using: &random)
    next = .random(length: a.targetLength, using: &random)
    var history: [ReferenceRich] = []
    var length = units.count
    for _ in 0..<random.below(6) {
      history.append(.random(length: length, using: &random))
      length = history[history.count - 1].targetLength
    }
    self.history = history
  }

  private func require(_ isRight: Bool, _ function: String) throws(OracleCase.Disagreement) {
    guard isRight else {
      throw OracleCase.Disagreement(seed: seed, function: function, size: units.count)
    }
  }

  /// Compares the results of OTCore with those of the reference. A packed operation is in normal
  /// form, so the comparison also verifies that OTCore's results are.
  package func check() throws {
    let (one, two, three) = (a.packed, b.packed, next.packed)
    try checkApply(one)
    let both = try one.composed(with: three)
    try require(both == a.composed(with: next).packed, "composed(with:)")
    try require(both.text == one.text.composed(with: three.text), "the text of a composition")
    try checkTransform(one, two)
    try checkRebase(two)
    let back = try one.inverted(on: document)
    try require(back == a.inverted(on: units).packed, "inverted(on:)")
    var taken = ReferenceRich.document(a.applied(to: units))
    try taken.apply(back)
    try require(taken == document, "undoing")
    try checkForms(one)
  }

  private func checkApply(_ operation: RichOperation) throws {
    var changed = document
    try changed.apply(operation)
    changed.checkInvariants()
    let units = a.applied(to: units)
    try require(ReferenceRich.units(of: changed) == units, "RichDocument.apply")
    try require(changed == ReferenceRich.document(units), "RichDocument ==")
    var text = document.text
    try text.apply(operation.text)
    try require(text == changed.text, "the text of a document")
    var other = document
    try other.apply(RichOperation(changing: document, into: changed))
    try require(other == changed, "the difference of two documents")
  }

  private func checkTransform(_ one: RichOperation, _ two: RichOperation) throws {
    for growth in [RichOperation.Growth.grows, .stays] {
      let result = try RichOperation.transform(one, two, growth: growth)
      let model = ReferenceRich.transform(a, b, growth: growth)
      try require(result.aAfterB == model.aAfterB.packed, "transform: aAfterB, \(growth)")
      try require(result.bAfterA == model.bAfterA.packed, "transform: bAfterA, \(growth)")
      let text = try TextOperation.transform(one.text, two.text)
      try require(
        text.aAfterB == result.aAfterB.text && text.bAfterA == result.bAfterA.text,
        "the texts of a transformation")
      try require(
        try one.transformed(over: two, side: .left, growth: growth) == result.aAfterB,
        "transformed(over:side: .left), \(growth)")
      try require(
        try two.transformed(over: one, side: .right, growth: growth) == result.bAfterA,
        "transformed(over:side: .right), \(growth)")
      let (left, right) = (
        model.bAfterA.applied(to: a.applied(to: units)),
        model.aAfterB.applied(to: b.applied(to: units))
      )
      try require(left == right, "the diamond, \(growth)")
    }
  }

  private func checkRebase(_ operation: RichOperation) throws {
    let packed = history.map(\.packed)
    let formats = packed.map(\.format)
    for growth in [RichOperation.Growth.grows, .stays] {
      for side in [Side.left, .right] {
        var step = operation
        for other in packed { try step = step.transformed(over: other, side: side, growth: growth) }
        var rebased = operation
        try rebased.rebase(
          over: packed.map(\.text)[...], formats: formats[...], side: side, growth: growth)
        try require(rebased == step, "rebase, .\(side), \(growth)")
        // A history without formats, as clients that do not support formats send it.
        var plain = operation
        try plain.rebase(over: packed.map(\.text)[...], side: side, growth: growth)
        step = operation
        for other in packed {
          try step = step.transformed(
            over: RichOperation(other.text), side: side, growth: growth)
        }
        try require(plain == step, "rebase over texts, .\(side), \(growth)")
      }
    }
  }

  private func checkForms(_ operation: RichOperation) throws {
    if let format = operation.format {
      var json: [UInt8] = []
      format.appendJSON(to: &json)
      try require(
        try RichOperation(text: operation.text, formatJSON: json) == operation, "JSON")
    }
    var json: [UInt8] = []
    document.appendFormatJSON(to: &json)
    try require(try RichDocument(document.text, formatJSON: json) == document, "a document's JSON")
    for limits in [
      OperationLimits(componentsMax: 4), OperationLimits(componentsMax: 7, jsonBytesMax: 120),
    ] {
      var changed = document
      let parts = operation.split(within: limits)
      for part in parts { try changed.apply(part) }
      var whole = document
      try whole.apply(operation)
      try require(changed == whole, "split(within:)")
    }
  }
}
