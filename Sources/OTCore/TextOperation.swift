/// A change to a text, from its first scalar to its last.
///
/// It consists of components: retain scalars, insert a text, delete scalars. Lengths count Unicode
/// scalars. The order of an insert and a delete at one position is preserved; adjacent components
/// of one kind merge.
///
///     var operation = TextOperation()
///     operation.retain(1)
///     operation.insert("tag")
///     operation.delete(2)
///
/// An operation that changes one position, with at most 8 bytes of new text, is stored in the value
/// itself, which has 32 bytes. Any other is in one block of memory, copied on write: packed words
/// for the components, then all inserted text.
public struct TextOperation: @unchecked Sendable {
  // Unchecked: only the owner of a block's single reference writes it.

  /// The kind of a component.
  public enum Kind: UInt64, Sendable {
    case retain = 0
    case insert = 1
    case delete = 2
  }

  /// A component of an operation.
  public enum Component: Sendable, Hashable {
    /// Retain scalars.
    case retain(Int)
    /// Insert a text.
    case insert(String)
    /// Delete scalars.
    case delete(Int)
  }

  /// A packed component: `scalars << 34 | kind`; an insert has its bytes from bit 2 on.
  struct Word: Equatable {
    var bits: UInt64

    @inline(__always)
    init(bits: UInt64) { self.bits = bits }
    @inline(__always)
    init(_ kind: Kind, scalars: Int, bytes: Int = 0) {
      bits = UInt64(scalars) << 34 | UInt64(bytes) << 2 | kind.rawValue
    }

    /// Returns the bits of a length, to be added to a word or subtracted from it.
    @inline(__always)
    static func size(scalars: Int, bytes: Int = 0) -> UInt64 {
      UInt64(truncatingIfNeeded: scalars) << 34 | UInt64(truncatingIfNeeded: bytes) << 2
    }

    @inline(__always)
    func isSameKind(as other: Word) -> Bool { (bits ^ other.bits) & 3 == 0 }
    @inline(__always)
    var kind: Kind { isRetain ? .retain : isInsert ? .insert : .delete }
    /// The retain component over an insert's text.
    @inline(__always)
    var retaining: Word { Word(bits: (bits >> 34) << 34) }
    @inline(__always)
    var isRetain: Bool { bits & 3 == 0 }
    @inline(__always)
    var isInsert: Bool { bits & 3 == 1 }
    @inline(__always)
    var isDelete: Bool { bits & 3 == 2 }
    @inline(__always)
    var scalars: Int { Int(truncatingIfNeeded: bits >> 34) }
    @inline(__always)
    var bytes: Int { Int(truncatingIfNeeded: bits >> 2 & 0xffff_ffff) }
  }

  /// Maximum length of the text before and after an operation: 2^30 - 1 scalars.
  public static let lengthMax = 1 << 30 - 1

  /// The components; `nil` if ``edit`` contains them. A short edit may also be in a block.
  var block: OperationBlock?
  /// An edit at one position; meaningless if there is a block.
  var edit = InlineEdit()

  /// Creates an operation on the empty text, without components.
  public init() {}

  /// Creates an operation on the empty text, with memory reserved for components and bytes of
  /// inserted text.
  ///
  /// An operation with one edit of at most 8 bytes needs no block.
  public init(reservingComponents components: Int = 0, textBytes: Int = 0) {
    if components > 4 || textBytes > InlineEdit.textCapacity {
      block = OperationBlock.empty(words: max(1, components), text: max(0, textBytes))
    }
  }

  /// Returns the operation that does not change a text of this length.
  public static func identity(length: Int) -> TextOperation {
    var operation = TextOperation()
    operation.retain(length)
    return operation
  }

  /// The length of the text to which the operation applies, in Unicode scalars.
  public var baseLength: Int { block?.top.pointee.base ?? edit.baseLength }

  /// The length of the resulting text, in Unicode scalars.
  public var targetLength: Int { block?.top.pointee.target ?? edit.targetLength }

  /// The number of components.
  public var componentCount: Int { block?.wordCount ?? edit.wordCount }

  /// The bytes of inserted text, as UTF-8.
  public var insertedBytes: Int { block?.textCount ?? Int(edit.bytes) }

  /// Whether the operation changes nothing: it only retains.
  public var isIdentity: Bool {
    withPacked { words, _ in words.isEmpty || (words.count == 1 && words[0].isRetain) }
  }

  /// Retains the next scalars. A count of 0 adds no component.
  ///
  /// - Precondition: `count` is not negative, and the base length does not exceed ``lengthMax``.
  public mutating func retain(_ count: Int) {
    precondition(count >= 0, "retain \(count) scalars")
    guard count > 0 else { return }
    if block == nil {
      precondition(
        edit.baseLength + count <= Self.lengthMax,
        "an operation on \(edit.baseLength) scalars cannot grow by \(count): \(Self.lengthMax) at most"
      )
      edit.retain(UInt32(count))
      return
    }
    append(Word(.retain, scalars: count))
  }

  /// Deletes the next scalars. A count of 0 adds no component.
  ///
  /// - Precondition: `count` is not negative, and the base length does not exceed ``lengthMax``.
  public mutating func delete(_ count: Int) {
    precondition(count >= 0, "delete \(count) scalars")
    guard count > 0 else { return }
    if block == nil {
      precondition(
        edit.baseLength + count <= Self.lengthMax,
        "an operation on \(edit.baseLength) scalars cannot grow by \(count): \(Self.lengthMax) at most"
      )
      if edit.delete(UInt32(count)) { return }
    }
    append(Word(.delete, scalars: count))
  }

  /// Inserts a text. An empty one adds no component.
  ///
  /// - Precondition: The target length does not exceed ``lengthMax``.
  /// - Complexity: O(bytes).
  public mutating func insert(_ text: String) {
    var text = text
    text.withUTF8 { insertValid($0) }
  }

  /// Inserts a text, given as UTF-8.
  ///
  /// - Throws: `invalidUTF8`, or `tooLong` beyond ``lengthMax``. The operation is unchanged then.
  /// - Complexity: O(bytes).
  public mutating func insert(utf8 bytes: UnsafeBufferPointer<UInt8>) throws(OperationError) {
    if let offset = UTF8Check.firstInvalid(bytes) { throw .invalidUTF8(offset: offset) }
    guard
      targetLength + bytes.count <= Self.lengthMax
        || targetLength + UTF8Check.scalarCount(bytes) <= Self.lengthMax
    else { throw .tooLong }
    insertValid(bytes)
  }

  mutating func insertValid(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard !bytes.isEmpty else { return }
    let scalars = UTF8Check.scalarCount(bytes)
    precondition(
      scalars <= Self.lengthMax - targetLength,
      "a text of \(targetLength) scalars cannot get \(scalars) more: \(Self.lengthMax) at most")
    if block == nil, edit.insert(bytes, scalars: scalars) { return }
    append(Word(.insert, scalars: scalars, bytes: bytes.count), text: bytes)
  }

  private mutating func append(
    _ word: Word, text: UnsafeBufferPointer<UInt8> = UnsafeBufferPointer(start: nil, count: 0)
  ) {
    let block = ownBlock(words: 1, text: text.count)
    let top = block.top
    if !word.isInsert { top.pointee.base += word.scalars }
    if !word.isDelete { top.pointee.target += word.scalars }
    precondition(
      top.pointee.base <= Self.lengthMax,
      "an operation on \(top.pointee.base) scalars is too long: \(Self.lengthMax) at most")
    let words = block.words
    let count = block.wordCount
    if count > 0, words[count - 1].bits & 3 == word.bits & 3 {
      words[count - 1].bits += word.bits & ~3
    } else {
      words[count] = word
      top.pointee.wordCount += 1
    }
    if let source = text.baseAddress {
      (block.text + block.textCount).update(from: source, count: text.count)
      top.pointee.textCount += Int32(text.count)
    }
  }

  /// Returns the block, unshared and with room; creates it from the inline edit if necessary.
  private mutating func ownBlock(words: Int, text: Int) -> OperationBlock {
    // Check this before anything else refers to the block: a second reference, even in a local
    // constant, would make it shared, and each component would copy all earlier ones.
    let isUnshared = isKnownUniquelyReferenced(&block)
    if let block {
      if isUnshared, block.hasRoom(words: words, text: text) { return block }
      let larger = OperationBlock.empty(
        words: max(8, block.wordCount * 2 + words), text: max(32, block.textCount * 2 + text))
      larger.take(block.packedWords, block.packedText, base: baseLength, target: targetLength)
      self.block = larger
      return larger
    }
    let made = OperationBlock.empty(words: 8, text: max(32, 2 * text + Int(edit.bytes)))
    withPacked { words, text in
      made.take(words, text, base: edit.baseLength, target: edit.targetLength)
    }
    block = made
    edit = InlineEdit()
    return made
  }

  /// Releases reserved memory, for an operation that is retained for long.
  ///
  /// - Complexity: O(*components*), plus the text copied; O(1) if nothing is reserved.
  package mutating func pack() {
    guard let block, block.isSlack else { return }
    self = withPacked { words, text in
      TextOperation(packing: words, text: text, base: baseLength, target: targetLength)
    }
  }

  /// The bytes of the block's memory, outside the value itself.
  package var blockBytes: Int { block?.bytes ?? 0 }

  /// Packs written words: into the value if they are one short edit, else into a block of the exact
  /// size.
  @inline(__always)
  init(
    packing words: UnsafeBufferPointer<Word>, text: UnsafeBufferPointer<UInt8>, base: Int,
    target: Int
  ) {
    if words.count <= 4, text.count <= InlineEdit.textCapacity,
      let small = InlineEdit(packing: words, text: text)
    {
      edit = small
      return
    }
    let made = OperationBlock.empty(words: words.count, text: text.count)
    made.take(words, text, base: base, target: target)
    block = made
  }

  /// Calls `body` with the packed words and all inserted text.
  @inline(__always)
  func withPacked<Result>(
    _ body: (UnsafeBufferPointer<Word>, UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    #if hasFeature(Embedded)
      // One call, so that the compiler can inline it.
      var text = edit.text
      var words = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
      return withUnsafeMutableBytes(of: &words) { raw in
        let words = raw.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: Word.self)
        return withUnsafeBytes(of: &text) { text in
          let bytes = text.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self)
          var packed = UnsafeBufferPointer(start: UnsafePointer(words), count: 0)
          var inserted = UnsafeBufferPointer(start: bytes, count: Int(edit.bytes))
          if let block {
            packed = block.packedWords
            inserted = block.packedText
          } else {
            packed = UnsafeBufferPointer(start: words, count: edit.unpack(to: words))
          }
          return withExtendedLifetime(block) { body(packed, inserted) }
        }
      }
    #else
      if let block {
        // `self` retains the block for the call, so no further reference is counted.
        return withExtendedLifetime(self) {
          Unmanaged.passUnretained(block)._withUnsafeGuaranteedRef {
            body($0.packedWords, $0.packedText)
          }
        }
      }
      var text = edit.text
      var words = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
      return withUnsafeMutableBytes(of: &words) { raw in
        let words = raw.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: Word.self)
        let count = edit.unpack(to: words)
        return withUnsafeBytes(of: &text) { text in
          body(
            UnsafeBufferPointer(start: words, count: count),
            UnsafeBufferPointer(
              start: text.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self),
              count: Int(edit.bytes)))
        }
      }
    #endif
  }

  /// Calls `body` with each component: its kind, its length in scalars, and an insert's UTF-8.
  public func forEachPacked(_ body: (Kind, Int, UnsafeBufferPointer<UInt8>) -> Void) {
    withPacked { words, text in
      var offset = 0
      for word in words {
        body(
          word.kind, word.scalars, UnsafeBufferPointer(rebasing: text[offset..<offset + word.bytes])
        )
        offset += word.bytes
      }
    }
  }

  /// The components, in order.
  public var components: [Component] {
    var result: [Component] = []
    result.reserveCapacity(componentCount)
    forEachPacked { kind, length, text in
      switch kind {
      case .retain: result.append(.retain(length))
      case .delete: result.append(.delete(length))
      case .insert: result.append(.insert(String(decoding: text, as: UTF8.self)))
      }
    }
    return result
  }
}

extension TextOperation: Hashable {
  /// Whether two operations have the same components, with texts compared by bytes.
  public static func == (left: Self, right: Self) -> Bool {
    if left.block == nil, right.block == nil { return left.edit == right.edit }
    if let a = left.block, let b = right.block, a === b { return true }
    return left.withPacked { words, text in
      right.withPacked { otherWords, otherText in
        words.elementsEqual(otherWords) && text.elementsEqual(otherText)
      }
    }
  }

  /// Hashes the components.
  public func hash(into hasher: inout Hasher) {
    withPacked { words, text in
      for word in words { hasher.combine(word.bits) }
      hasher.combine(bytes: UnsafeRawBufferPointer(text))
    }
  }
}

extension TextOperation: ExpressibleByArrayLiteral {
  /// Creates an operation from its components: `[.retain(1), .insert("tag"), .delete(2)]`.
  public init(arrayLiteral components: Component...) {
    for component in components {
      switch component {
      case .retain(let count): retain(count)
      case .insert(let text): insert(text)
      case .delete(let count): delete(count)
      }
    }
  }
}
