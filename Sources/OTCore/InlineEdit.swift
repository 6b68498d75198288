/// An edit at one position, stored without a block: retain, then insert and delete in either order,
/// then retain.
///
/// It has 24 bytes, so an operation with one is passed in four registers.
struct InlineEdit: Equatable {
  static let textCapacity = 8

  /// The inserted UTF-8 in memory order, padded with zeros.
  var text: UInt64 = 0
  var prefix: UInt32 = 0
  var deleted: UInt32 = 0
  var suffix: UInt32 = 0
  /// The next three properties in one word: a whole register copies faster than its parts.
  private var counts: UInt32 = 0

  /// The number of inserted scalars.
  @inline(__always)
  var scalars: UInt8 {
    get { UInt8(truncatingIfNeeded: counts) }
    set { counts = counts & ~0xff | UInt32(newValue) }
  }
  /// The number of inserted bytes.
  @inline(__always)
  var bytes: UInt8 {
    get { UInt8(truncatingIfNeeded: counts >> 8) }
    set { counts = counts & ~0xff00 | UInt32(newValue) << 8 }
  }
  /// Whether the delete comes before the insert; meaningless unless there are both.
  @inline(__always)
  var deletesFirst: Bool {
    get { counts & 0x1_0000 != 0 }
    set { counts = counts & 0xffff | (newValue ? 0x1_0000 : 0) }
  }

  init() {}

  @inline(__always)
  var baseLength: Int { Int(prefix) &+ Int(deleted) &+ Int(suffix) }
  @inline(__always)
  var targetLength: Int { Int(prefix) &+ Int(scalars) &+ Int(suffix) }
  /// The change of the text's length.
  @inline(__always)
  var growth: Int { Int(scalars) &- Int(deleted) }
  /// The position of the insert in the base text.
  @inline(__always)
  var anchor: Int { deletesFirst ? Int(prefix) + Int(deleted) : Int(prefix) }
  @inline(__always)
  var wordCount: Int {
    (prefix > 0 ? 1 : 0) + (deleted > 0 ? 1 : 0) + (bytes > 0 ? 1 : 0) + (suffix > 0 ? 1 : 0)
  }

  mutating func retain(_ count: UInt32) {
    if deleted == 0, bytes == 0 { prefix += count } else { suffix += count }
  }

  /// - Returns: `false` if it does not fit. Nothing changes then.
  mutating func delete(_ count: UInt32) -> Bool {
    if suffix > 0 || (deletesFirst && bytes > 0) { return false }
    deleted += count
    return true
  }

  /// - Returns: `false` if it does not fit. Nothing changes then.
  mutating func insert(_ new: UnsafeBufferPointer<UInt8>, scalars count: Int) -> Bool {
    guard suffix == 0, Int(bytes) + new.count <= Self.textCapacity else { return false }
    // An insert after "insert, delete" would be a third piece.
    if bytes > 0, deleted > 0, !deletesFirst { return false }
    deletesFirst = deleted > 0
    let start = Int(bytes)
    withUnsafeMutableBytes(of: &text) { text in
      for index in 0..<new.count { text[start + index] = new[index] }
    }
    bytes += UInt8(new.count)
    scalars += UInt8(count)
    return true
  }

  /// Packs words that are one edit; otherwise returns `nil`. The text must fit.
  @inline(__always)
  init?(
    packing words: UnsafeBufferPointer<TextOperation.Word>, text new: UnsafeBufferPointer<UInt8>
  ) {
    var index = 0
    if index < words.count, words[index].isRetain {
      prefix = UInt32(words[index].scalars)
      index += 1
    }
    if index < words.count, words[index].isDelete {
      deleted = UInt32(words[index].scalars)
      index += 1
      deletesFirst = index < words.count && words[index].isInsert
    }
    if index < words.count, words[index].isInsert {
      scalars = UInt8(truncatingIfNeeded: words[index].scalars)
      bytes = UInt8(truncatingIfNeeded: words[index].bytes)
      index += 1
      if !deletesFirst, index < words.count, words[index].isDelete {
        deleted = UInt32(words[index].scalars)
        index += 1
      }
    }
    if index < words.count, words[index].isRetain {
      suffix = UInt32(words[index].scalars)
      index += 1
    }
    guard index == words.count else { return nil }
    let count = Int(bytes)
    withUnsafeMutableBytes(of: &text) { text in
      for index in 0..<count { text[index] = new[index] }
    }
  }

  /// Writes the words, at most four. Returns their number.
  @inline(__always)
  func unpack(to words: UnsafeMutablePointer<TextOperation.Word>) -> Int {
    var count = 0
    @inline(__always)
    func put(_ kind: TextOperation.Kind, _ scalars: Int, _ bytes: Int = 0) {
      guard scalars > 0 else { return }
      words[count] = TextOperation.Word(kind, scalars: scalars, bytes: bytes)
      count += 1
    }
    put(.retain, Int(prefix))
    if deletesFirst { put(.delete, Int(deleted)) }
    put(.insert, Int(scalars), Int(bytes))
    if !deletesFirst { put(.delete, Int(deleted)) }
    put(.retain, Int(suffix))
    return count
  }
}
