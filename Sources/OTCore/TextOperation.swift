/// A change to a text, from its first scalar to its last.
///
/// A run of components: retain so many scalars, insert this text, delete so many. Lengths count
/// Unicode scalars. The order of an insert and a delete at one place is kept as given; neighbours
/// of one kind merge.
///
///     var operation = TextOperation()
///     operation.retain(1)
///     operation.insert("tag")
///     operation.delete(2)
///
/// An operation that changes one place, with at most 8 bytes of new text, lies in the value itself,
/// 32 bytes; any other in one block of memory, copied on write: packed words for the components,
/// and behind them all inserted text.
public struct TextOperation: @unchecked Sendable {
  // Unchecked: a block is written only by the owner of its single reference.

  /// The kind of a component.
  public enum Kind: UInt64, Sendable {
    case retain = 0
    case insert = 1
    case delete = 2
  }

  /// A step of an operation.
  public enum Component: Sendable, Hashable {
    /// Keep so many scalars.
    case retain(Int)
    /// Put this text here.
    case insert(String)
    /// Take so many scalars away.
    case delete(Int)
  }

  /// A packed component: `scalars << 34 | kind`, and an insert has its bytes at bit 2 on.
  struct Word: Equatable {
    var bits: UInt64

    @inline(__always)
    init(bits: UInt64) { self.bits = bits }
    @inline(__always)
    init(_ kind: Kind, scalars: Int, bytes: Int = 0) {
      bits = UInt64(scalars) << 34 | UInt64(bytes) << 2 | kind.rawValue
    }

    /// The bits of a length alone, to be added to a word or taken off.
    @inline(__always)
    static func size(scalars: Int, bytes: Int = 0) -> UInt64 {
      UInt64(truncatingIfNeeded: scalars) << 34 | UInt64(truncatingIfNeeded: bytes) << 2
    }

    @inline(__always)
    func isSameKind(as other: Word) -> Bool { (bits ^ other.bits) & 3 == 0 }
    @inline(__always)
    var kind: Kind { isRetain ? .retain : isInsert ? .insert : .delete }
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

  /// The longest text that an operation can start from or end at: 2^30 - 1 scalars.
  public static let lengthMax = 1 << 30 - 1

  /// All components but those of one short edit; `nil` when ``edit`` says it all, which it may
  /// not even where it could.
  var block: OperationBlock?
  /// An edit at one place; without meaning beside a block.
  var edit = InlineEdit()

  /// An operation on the empty text that does nothing yet.
  public init() {}

  /// An empty operation with memory for so many components and bytes of inserted text: building
  /// it takes no more.
  ///
  /// A value with one edit of at most 8 bytes needs no memory of its own.
  public init(reservingComponents components: Int = 0, textBytes: Int = 0) {
    if components > 4 || textBytes > InlineEdit.textCapacity {
      block = OperationBlock.empty(words: max(1, components), text: max(0, textBytes))
    }
  }

  /// The operation that leaves a text of this length as it is.
  public static func identity(length: Int) -> TextOperation {
    var operation = TextOperation()
    operation.retain(length)
    return operation
  }

  /// The length that the operation applies to, in Unicode scalars.
  public var baseLength: Int { block?.top.pointee.base ?? edit.baseLength }

  /// The length that it leaves, in Unicode scalars.
  public var targetLength: Int { block?.top.pointee.target ?? edit.targetLength }

  /// The number of components.
  public var componentCount: Int { block?.wordCount ?? edit.wordCount }

  /// Bytes of inserted text, as UTF-8.
  public var insertedBytes: Int { block?.textCount ?? Int(edit.bytes) }

  /// Whether applying it changes nothing: it only retains.
  public var isIdentity: Bool {
    withPacked { words, _ in words.isEmpty || (words.count == 1 && words[0].isRetain) }
  }

  /// Keeps the next scalars. None is no component.
  ///
  /// - Precondition: `count` is not negative, and the base length stays within ``lengthMax``.
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

  /// Takes the next scalars away. None is no component.
  ///
  /// - Precondition: `count` is not negative, and the base length stays within ``lengthMax``.
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

  /// Puts a text here. An empty one is no component.
  ///
  /// - Precondition: The target length stays within ``lengthMax``.
  /// - Complexity: O(*bytes*).
  public mutating func insert(_ text: String) {
    var text = text
    text.withUTF8 { insertValid($0) }
  }

  /// Puts a text here, given as UTF-8.
  ///
  /// - Throws: `invalidUTF8`, or `tooLong` beyond ``lengthMax``; the operation is unchanged then.
  /// - Complexity: O(*bytes*).
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

  /// Returns the block, unshared and with this much room; made from the inline edit when need be.
  private mutating func ownBlock(words: Int, text: Int) -> OperationBlock {
    // Asked before anything else refers to the block: a second reference, even in a local constant,
    // makes the answer no, and each component would copy all those before it.
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

  /// Gives back memory that was taken ahead: for an operation that is kept.
  ///
  /// - Complexity: O(*components*), plus the text copied; O(1) when there is none.
  package mutating func pack() {
    guard let block, block.isSlack else { return }
    self = withPacked { words, text in
      TextOperation(packing: words, text: text, base: baseLength, target: targetLength)
    }
  }

  /// Bytes of memory of the block, outside the value itself.
  package var blockBytes: Int { block?.bytes ?? 0 }

  /// Packs what a walk has put out: into the value when it is one short edit, else into one block
  /// of just the size.
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
    if let block {
      // `self` holds it for as long, without a reference of its own to be counted.
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
  }

  /// Calls `body` with each component: its kind, its length in scalars, an insert's UTF-8.
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

  /// The components in order.
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
  /// Whether two operations have the same components, compared by scalars.
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
  /// Builds an operation of its components: `[.retain(1), .insert("tag"), .delete(2)]`.
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
