/// Attributes of a piece of text, such as bold or a link; in a change, also the keys that it removes.
///
/// Immutable. The entries lie in one byte array, sorted by key, so that equal sets have equal bytes:
///
///     bytes of the key (1) · bytes of the value (2) · key · value as JSON
///
/// A value is `true`, a whole number or a string, and `null` for a removal; under the key `embed` an
/// object with one key.
public struct AttributeSet: Sendable, Hashable {
  /// Keys of a set, at most.
  public static let keysMax = 16
  /// Bytes of a key, at most.
  public static let keyBytesMax = 40
  /// Bytes of a value as JSON, at most.
  public static let valueBytesMax = 2_048
  /// Bytes of an embed as JSON, at most.
  public static let embedBytesMax = 8_192

  let bytes: [UInt8]

  /// A set without entries.
  public init() { bytes = [] }

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// Whether the set has no entries.
  public var isEmpty: Bool { bytes.isEmpty }

  /// Calls `body` with each key and its value as JSON, sorted by key.
  public func forEach(
    _ body: (_ key: UnsafeBufferPointer<UInt8>, _ json: UnsafeBufferPointer<UInt8>) -> Void
  ) {
    bytes.withUnsafeBufferPointer { bytes in
      var entry = Entry(bytes)
      while !entry.isAtEnd {
        body(entry.key, entry.value)
        entry.advance()
      }
    }
  }

  /// Whether a key is among the entries; a removal counts.
  func contains(_ key: StaticString) -> Bool {
    var isFound = false
    forEach { found, _ in
      isFound = isFound || found.elementsEqual(UnsafeBufferPointer(key))
    }
    return isFound
  }

  /// Whether an entry removes its key.
  var hasRemovals: Bool {
    var isFound = false
    forEach { _, value in isFound = isFound || Entry.isRemoval(value) }
    return isFound
  }
}

extension UnsafeBufferPointer<UInt8> {
  fileprivate init(_ text: StaticString) {
    self.init(start: text.utf8Start, count: text.utf8CodeUnitCount)
  }
}

// MARK: Merging

extension AttributeSet {
  /// A rule that makes one set of two.
  enum Rule: UInt64 {
    /// A change of kept text, then another: the later value, and removals remain.
    case overlay
    /// Attributes of text, then a change: the later value, and removals take the key out.
    case settle
    /// The left set without the keys of the right one.
    case subtract
    /// The entries that are in both.
    case common
    /// The change that takes the left one back, on text with the right attributes.
    case invert
    /// The change of the left attributes into the right ones.
    case difference
  }

  /// The entry that a walk has reached.
  struct Entry {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var start = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { start == bytes.count }
    private var keyCount: Int { Int(bytes[start]) }
    private var valueCount: Int { Int(bytes[start + 1]) | Int(bytes[start + 2]) << 8 }
    private var end: Int { start + 3 + keyCount + valueCount }
    var whole: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: bytes[start..<end]) }
    var key: UnsafeBufferPointer<UInt8> {
      UnsafeBufferPointer(rebasing: bytes[start + 3..<start + 3 + keyCount])
    }
    var value: UnsafeBufferPointer<UInt8> {
      UnsafeBufferPointer(rebasing: bytes[start + 3 + keyCount..<end])
    }
    var isRemoval: Bool { Self.isRemoval(value) }

    static func isRemoval(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
      value.first == UInt8(ascii: "n")
    }

    mutating func advance() { start = end }

    /// Below zero when this key is the first one, above when the other one is.
    func order(_ other: Entry) -> Int {
      if isAtEnd || other.isAtEnd { return isAtEnd ? 1 : -1 }
      let (left, right) = (key, other.key)
      for index in 0..<min(left.count, right.count) where left[index] != right[index] {
        return left[index] < right[index] ? -1 : 1
      }
      return left.count - right.count
    }
  }

  /// Appends an entry's bytes.
  static func append(
    _ key: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>,
    to bytes: inout [UInt8]
  ) {
    bytes.append(UInt8(key.count))
    bytes.append(UInt8(truncatingIfNeeded: value.count))
    bytes.append(UInt8(value.count >> 8))
    bytes.append(contentsOf: key)
    bytes.append(contentsOf: value)
  }

  /// Returns one set of two, after a rule.
  ///
  /// - Complexity: O(*bytes*).
  static func merged(_ rule: Rule, _ left: AttributeSet, _ right: AttributeSet) -> AttributeSet {
    var result: [UInt8] = []
    left.bytes.withUnsafeBufferPointer { leftBytes in
      right.bytes.withUnsafeBufferPointer { rightBytes in
        var one = Entry(leftBytes)
        var two = Entry(rightBytes)
        while !one.isAtEnd || !two.isAtEnd {
          let order = one.order(two)
          put(rule, order <= 0 ? one : nil, order >= 0 ? two : nil, to: &result)
          if order <= 0 { one.advance() }
          if order >= 0 { two.advance() }
        }
      }
    }
    return AttributeSet(bytes: result)
  }

  /// Appends what a rule makes of the entries of one key.
  private static func put(
    _ rule: Rule, _ left: Entry?, _ right: Entry?, to result: inout [UInt8]
  ) {
    func remove(_ entry: Entry) {
      let null: StaticString = "null"
      append(entry.key, UnsafeBufferPointer(null), to: &result)
    }
    switch rule {
    case .overlay:
      if let entry = right ?? left { result.append(contentsOf: entry.whole) }
    case .settle:
      if let entry = right ?? left, !entry.isRemoval { result.append(contentsOf: entry.whole) }
    case .subtract:
      if let left, right == nil { result.append(contentsOf: left.whole) }
    case .common:
      if let left, let right, left.value.elementsEqual(right.value) {
        result.append(contentsOf: left.whole)
      }
    case .invert:
      guard let left else { return }
      if let right {
        if !left.value.elementsEqual(right.value) { result.append(contentsOf: right.whole) }
      } else if !left.isRemoval {
        remove(left)
      }
    case .difference:
      if let right {
        if let left, left.value.elementsEqual(right.value) { return }
        result.append(contentsOf: right.whole)
      } else if let left {
        remove(left)
      }
    }
  }
}
