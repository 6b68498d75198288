/// Attributes of a piece of text, such as bold or a link. In a change, the set also contains
/// removed keys.
///
/// The set is immutable. Its entries are in one byte array, sorted by key, so equal sets have equal
/// bytes:
///
///     bytes of the key (1) · bytes of the value (2) · key · value as JSON
///
/// A value is `true`, an integer or a string, or `null` for a removal. The value of the key `embed`
/// is an object with one key.
public struct AttributeSet: Sendable, Hashable {
  /// Maximum keys of a set.
  public static let keysMax = 16
  /// Maximum bytes of a key.
  public static let keyBytesMax = 40
  /// Maximum bytes of a value as JSON.
  public static let valueBytesMax = 2_048
  /// Maximum bytes of an embed as JSON.
  public static let embedBytesMax = 8_192

  let bytes: [UInt8]

  /// Creates a set without entries.
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

  /// Whether the set contains a key. Removals count.
  func contains(_ key: StaticString) -> Bool {
    var isFound = false
    forEach { found, _ in
      isFound = isFound || found.elementsEqual(UnsafeBufferPointer(key))
    }
    return isFound
  }

  /// Returns the value of a key as JSON; `nil` if the set does not contain it.
  func json(of key: StaticString) -> [UInt8]? {
    var value: [UInt8]?
    forEach { found, json in
      if found.elementsEqual(UnsafeBufferPointer(key)) { value = Array(json) }
    }
    return value
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
  /// A rule that merges two sets into one.
  enum Rule: UInt64 {
    /// Composes two changes of retained text: the later value counts, and removals remain.
    case overlay
    /// Applies a change to attributes of text: the later value counts, and a removal deletes the
    /// key.
    case settle
    /// The left set without the keys of the right set.
    case subtract
    /// The entries that both sets contain.
    case common
    /// The change that undoes the left change on text with the right attributes.
    case invert
    /// The change that turns the left attributes into the right ones.
    case difference
  }

  /// The current entry of an iteration.
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

    /// Compares by key: negative if this key comes first, positive if the other one does.
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

  /// Merges two sets by a rule.
  ///
  /// - Complexity: O(bytes).
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

  /// Appends the result of a rule for the entries of one key.
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
