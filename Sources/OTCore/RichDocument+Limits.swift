/// The limits of a document's formatting.
public struct FormatLimits: Sendable, Hashable {
  /// Maximum different attribute sets.
  public let setsMax: Int
  /// Maximum runs.
  public let runsMax: Int

  /// Creates limits.
  public init(setsMax: Int = 10_000, runsMax: Int = 200_000) {
    self.setsMax = setsMax
    self.runsMax = runsMax
  }

  /// No limits, for changes that were accepted already.
  public static let unlimited = FormatLimits(setsMax: .max, runsMax: .max)
}

extension RichDocument {
  /// Applies an operation unless its attributes exceed the limits.
  ///
  /// Operations without attribute values always apply, so that formatting can be removed and text
  /// typed at the limits. An operation that does not add runs or sets applies, too.
  ///
  /// - Throws: `tooManyRuns`, `tooManySets`, `tooManyKeys`, and as ``apply(_:)-(RichOperation)``. Nothing changes
  ///   then.
  /// - Complexity: As for ``apply(_:)-(RichOperation)``; near the limits, O(*runs*) more.
  public mutating func apply(
    _ operation: RichOperation, within limits: FormatLimits
  ) throws(OperationError) {
    if limits == .unlimited || fitsSurely(after: operation, limits)
      || !operation.format.setsValues
    {
      return try apply(operation)
    }
    var changed = self
    try changed.apply(operation)
    if changed.runCount > limits.runsMax, changed.runCount > runCount {
      throw .tooManyRuns(max: limits.runsMax)
    }
    let keysMax = AttributeSet.keysMax
    if changed.sets.count > limits.setsMax || changed.keysMax > keysMax {
      changed.dropUnusedSets()
      var former = self
      former.dropUnusedSets()
      if changed.sets.count > max(limits.setsMax, former.sets.count) {
        throw .tooManySets(max: limits.setsMax)
      }
      if changed.keysMax > max(keysMax, former.keysMax) { throw .tooManyKeys(max: keysMax) }
    }
    self = changed
  }

  /// Whether an operation cannot exceed the limits, judged by upper bounds.
  private func fitsSurely(after operation: RichOperation, _ limits: FormatLimits) -> Bool {
    let changes = operation.format.sets.count
    // Each set of the document can be merged with each set of the operation.
    guard sets.count + (sets.count + 1) * changes <= limits.setsMax,
      keysMax + operation.format.sets.keysMax <= AttributeSet.keysMax
    else { return false }
    // A component splits at most two runs.
    return runCountMax + 3 * operation.componentCount <= limits.runsMax
  }
}

extension Format? {
  /// Whether the format sets attributes, and does not only remove them.
  fileprivate var setsValues: Bool {
    let sets = sets
    return withWords { spans, runs in
      runs.count > 0
        || spans.contains { $0.value > 0 && !sets[Int($0.value) - 1].isRemoval }
    }
  }
}

extension Sequence<AttributeSet> {
  /// The most keys of one of the sets.
  var keysMax: Int { reduce(0) { Swift.max($0, $1.keyCount) } }
}

extension AttributeSet {
  /// The number of keys.
  fileprivate var keyCount: Int {
    var count = 0
    forEach { _, _ in count += 1 }
    return count
  }

  /// Whether all entries remove their keys.
  fileprivate var isRemoval: Bool {
    var isRemoval = true
    forEach { _, value in isRemoval = isRemoval && Entry.isRemoval(value) }
    return isRemoval
  }
}
