/// A change to a text, from its first scalar to its last.
///
/// A run of components: retain so many scalars, insert this text, delete so many. Lengths count
/// Unicode scalars. The order of an insert and a delete at one place is kept as given.
///
/// Stored as packed words (length and kind) beside one slab with all inserted text, so that a walk
/// touches two blocks of memory however many components there are.
public struct TextOperation: Sendable, Hashable {
  /// What a component does.
  public enum Kind: UInt64, Sendable {
    case retain = 0
    case insert = 1
    case delete = 2
  }

  /// One step of an operation.
  public enum Component: Sendable, Hashable {
    /// Keep so many scalars.
    case retain(Int)
    /// Put this text here.
    case insert(String)
    /// Take so many scalars away.
    case delete(Int)
  }

  /// An inserted text's word also holds its bytes: `scalars << 34 | bytes << 2 | kind`; others
  /// hold `scalars << 34 | kind`.
  package struct Word: Sendable, Hashable {
    package var bits: UInt64

    package init(_ kind: Kind, scalars: Int, bytes: Int = 0) {
      bits = UInt64(scalars) << 34 | UInt64(bytes) << 2 | kind.rawValue
    }

    package var kind: Kind { Kind(rawValue: bits & 3) ?? .retain }
    package var scalars: Int { Int(bits >> 34) }
    package var bytes: Int { Int(bits >> 2 & 0xffff_ffff) }
  }

  /// The longest text that an operation can start from, end at or insert: 2^30 - 1 scalars.
  public static let lengthMax = 1 << 30 - 1

  package internal(set) var words: [Word] = []
  package internal(set) var slab: [UInt8] = []
  /// The length that the operation applies to, in Unicode scalars.
  public internal(set) var baseLength = 0
  /// The length that it leaves, in Unicode scalars.
  public internal(set) var targetLength = 0

  /// An operation on the empty text that does nothing yet.
  public init() {}

  /// An operation with room for so many components and bytes of inserted text.
  public init(reservingComponents components: Int = 0, textBytes: Int = 0) {
    words.reserveCapacity(components)
    slab.reserveCapacity(textBytes)
  }

  /// The operation that leaves a text of this length as it is.
  public static func identity(length: Int) -> TextOperation {
    var operation = TextOperation()
    operation.retain(length)
    return operation
  }

  /// Keeps the next scalars.
  public mutating func retain(_ count: Int) {
    precondition(count >= 0, "retain \(count) scalars")
    guard count > 0 else { return }
    baseLength += count
    targetLength += count
    append(.retain, scalars: count)
  }

  /// Takes the next scalars away.
  public mutating func delete(_ count: Int) {
    precondition(count >= 0, "delete \(count) scalars")
    guard count > 0 else { return }
    baseLength += count
    append(.delete, scalars: count)
  }

  /// Puts a text here.
  public mutating func insert(_ text: String) {
    var text = text
    text.withUTF8 { insertValid($0) }
  }

  /// Puts a text here, given as UTF-8.
  ///
  /// - Throws: `invalidUTF8`; the operation is unchanged then.
  public mutating func insert(utf8 bytes: UnsafeBufferPointer<UInt8>) throws(OperationError) {
    if let offset = UTF8Check.firstInvalid(bytes) { throw .invalidUTF8(offset: offset) }
    insertValid(bytes)
  }

  mutating func insertValid(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard !bytes.isEmpty else { return }
    let scalars = UTF8Check.scalarCount(bytes)
    slab.append(contentsOf: bytes)
    targetLength += scalars
    append(.insert, scalars: scalars, bytes: bytes.count)
  }

  private mutating func append(_ kind: Kind, scalars: Int, bytes: Int = 0) {
    if let last = words.last, last.kind == kind {
      words[words.count - 1] = Word(
        kind, scalars: last.scalars + scalars, bytes: last.bytes + bytes)
    } else {
      words.append(Word(kind, scalars: scalars, bytes: bytes))
    }
  }

  /// Whether applying it changes nothing.
  public var isIdentity: Bool { words.allSatisfy { $0.kind == .retain } }

  /// How many components it has.
  public var componentCount: Int { words.count }

  /// Bytes of inserted text.
  public var insertedBytes: Int { slab.count }

  /// The components in order.
  public var components: [Component] {
    var result: [Component] = []
    forEachPacked { kind, length, text in
      switch kind {
      case .retain: result.append(.retain(length))
      case .delete: result.append(.delete(length))
      case .insert: result.append(.insert(String(decoding: text, as: UTF8.self)))
      }
    }
    return result
  }

  /// Calls `body` with each component: its kind, its length in scalars, an insert's UTF-8.
  public func forEachPacked(_ body: (Kind, Int, UnsafeBufferPointer<UInt8>) -> Void) {
    slab.withUnsafeBufferPointer { slab in
      var offset = 0
      for word in words {
        body(
          word.kind, word.scalars, UnsafeBufferPointer(rebasing: slab[offset..<offset + word.bytes])
        )
        offset += word.bytes
      }
    }
  }
}

enum UTF8Check {
  static func scalarCount(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var count = 0
    for byte in bytes where byte & 0xc0 != 0x80 { count += 1 }
    return count
  }

  /// The offset of the first byte that is no UTF-8 (RFC 3629); `nil` if all is well.
  static func firstInvalid(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    var index = 0
    let count = bytes.count
    while index < count {
      let first = bytes[index]
      if first < 0x80 {
        index += 1
        continue
      }
      let length: Int
      var low: UInt8 = 0x80
      var high: UInt8 = 0xbf
      switch first {
      case 0xc2...0xdf: length = 2
      case 0xe0: (length, low) = (3, 0xa0)
      case 0xe1...0xec, 0xee...0xef: length = 3
      case 0xed: (length, high) = (3, 0x9f)
      case 0xf0: (length, low) = (4, 0x90)
      case 0xf1...0xf3: length = 4
      case 0xf4: (length, high) = (4, 0x8f)
      default: return index
      }
      guard index + length <= count, (low...high).contains(bytes[index + 1]) else { return index }
      for step in 2..<max(length, 2) where bytes[index + step] & 0xc0 != 0x80 { return index }
      index += length
    }
    return nil
  }
}
