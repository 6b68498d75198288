/// Unique attribute sets, numbered from 1; 0 is the empty set.
struct SetTable: Sendable {
  private(set) var sets: [AttributeSet]
  /// A hash table of set numbers; empty while a linear search is fast.
  private var slots: [UInt32] = []
  private static let linearSearchMax = 12

  init(_ sets: [AttributeSet] = []) { self.sets = sets }

  subscript(number: UInt32) -> AttributeSet {
    number == 0 ? AttributeSet() : sets[Int(number) - 1]
  }

  /// Returns a set's number, and adds the set if it is new.
  ///
  /// - Complexity: O(bytes) amortised.
  mutating func number(of set: AttributeSet) -> UInt32 {
    if set.isEmpty { return 0 }
    if sets.count <= Self.linearSearchMax {
      for index in sets.indices where sets[index] == set { return UInt32(index) + 1 }
      sets.append(set)
      return UInt32(sets.count)
    }
    if slots.count < 2 * sets.count { makeSlots() }
    var slot = Self.hash(set) & (slots.count - 1)
    while slots[slot] != 0 {
      if self[slots[slot]] == set { return slots[slot] }
      slot = (slot + 1) & (slots.count - 1)
    }
    sets.append(set)
    slots[slot] = UInt32(sets.count)
    return UInt32(sets.count)
  }

  /// Takes the sets out of the table, which is empty then.
  @inline(__always)
  mutating func takeSets() -> [AttributeSet] {
    slots = []
    let taken = sets
    sets = []
    return taken
  }

  private mutating func makeSlots() {
    var count = 64
    while count < 4 * sets.count { count *= 2 }
    slots = [UInt32](repeating: 0, count: count)
    for index in sets.indices {
      var slot = Self.hash(sets[index]) & (count - 1)
      while slots[slot] != 0 { slot = (slot + 1) & (count - 1) }
      slots[slot] = UInt32(index) + 1
    }
  }

  private static func hash(_ set: AttributeSet) -> Int {
    var hash: UInt32 = 2_166_136_261
    for byte in set.bytes { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    return Int(truncatingIfNeeded: (hash ^ hash >> 15) & 0x7fff_ffff)
  }
}

/// Merges the numbered sets of two operations into numbers of one table.
///
/// Results are cached: neighbouring spans usually repeat a pair.
struct SetMerger: ~Copyable {
  private(set) var table: SetTable
  /// The sets of the other operation. While they are viewed, no reference to them is counted.
  private let others: [AttributeSet]
  private let viewed: UnsafePointer<[AttributeSet]>?
  private var lastKey = UInt64.max
  private var lastResult: UInt32 = 0
  /// Created for the second pair. The first half contains keys, the second half their results.
  private var cache: [UInt64] = []
  private static let cacheCount = 64

  /// - Parameters:
  ///   - sets: The sets of the operation whose numbers remain valid.
  ///   - others: The sets of the other operation.
  init(_ sets: [AttributeSet], _ others: [AttributeSet]) {
    self.init(SetTable(sets), others)
  }

  init(_ table: SetTable, _ others: [AttributeSet]) {
    self.table = table
    self.others = others
    viewed = nil
  }

  /// - Parameter others: The sets of the other operation, whose view is valid while the merger is
  ///   used.
  @inline(__always)
  init(_ sets: UnsafePointer<[AttributeSet]>?, viewing others: UnsafePointer<[AttributeSet]>?) {
    table = SetTable(sets?.pointee ?? [])
    self.others = []
    viewed = others
  }

  /// Takes the table's sets out of the merger.
  @inline(__always)
  mutating func takeSets() -> [AttributeSet] { table.takeSets() }

  /// Returns the number in this table of a set of the other operation.
  @inline(__always)
  mutating func adopt(_ other: UInt32) -> UInt32 {
    other == 0 ? 0 : cached(.overlay, 0, other, isOther: true)
  }

  /// Merges a set of the table with a set of the other operation.
  @inline(__always)
  mutating func merge(
    _ rule: AttributeSet.Rule, _ left: UInt32, other right: UInt32
  ) -> UInt32 {
    switch rule {
    case .overlay, .settle, .subtract: if right == 0 { return left }
    case .common, .invert, .difference: break
    }
    if left == 0, rule != .overlay, rule != .settle, rule != .difference { return 0 }
    if left == 0, right == 0 { return 0 }
    return cached(rule, left, right, isOther: true)
  }

  /// Merges two sets of the table.
  @inline(__always)
  mutating func merge(_ rule: AttributeSet.Rule, _ left: UInt32, _ right: UInt32) -> UInt32 {
    switch rule {
    case .common:
      if left == right { return left }
      if left == 0 || right == 0 { return 0 }
    case .overlay, .settle, .subtract: if right == 0 { return left }
    case .invert, .difference: break
    }
    return cached(rule, left, right, isOther: false)
  }

  private func otherSet(_ number: UInt32) -> AttributeSet {
    if let viewed { return viewed.pointee[Int(number) - 1] }
    return others[Int(number) - 1]
  }

  /// Returns the number, in this table, of the common entries of two sets of the other operation.
  @inline(__always)
  mutating func common(_ before: UInt32, _ behind: UInt32) -> UInt32 {
    if before == 0 || behind == 0 { return 0 }
    let adopted = adopt(before)
    return before == behind ? adopted : merge(.common, adopted, adopt(behind))
  }

  @inline(never)
  private mutating func cached(
    _ rule: AttributeSet.Rule, _ left: UInt32, _ right: UInt32, isOther: Bool
  ) -> UInt32 {
    let key =
      rule.rawValue << 61 | (isOther ? 1 << 60 : 0) | UInt64(left) << 30 | UInt64(right)
    if key == lastKey { return lastResult }
    let slot = Int(truncatingIfNeeded: (key &* 0x9e37_79b9_7f4a_7c15) >> 58)
    if cache.isEmpty {
      if lastKey != .max { cache = [UInt64](repeating: .max, count: 2 * Self.cacheCount) }
    } else if cache[slot] == key {
      lastKey = key
      lastResult = UInt32(truncatingIfNeeded: cache[slot + Self.cacheCount])
      return lastResult
    }
    let other = isOther && right > 0 ? otherSet(right) : table[right]
    let result: UInt32
    if left == 0, rule == .overlay {
      result = table.number(of: other)
    } else {
      let merged = AttributeSet.merged(rule, table[left], other)
      result = merged == table[left] ? left : table.number(of: merged)
    }
    lastKey = key
    lastResult = result
    if !cache.isEmpty {
      cache[slot] = key
      cache[slot + Self.cacheCount] = UInt64(result)
    }
    return result
  }
}
