/// One edit at one place, without memory of its own: retain, then insert and delete in either
/// order, then retain.
struct InlineEdit: Equatable {
  static let textCapacity = 16

  var prefix: UInt32 = 0
  var deleted: UInt32 = 0
  var suffix: UInt32 = 0
  /// Scalars inserted.
  var scalars: UInt8 = 0
  /// Bytes inserted.
  var bytes: UInt8 = 0
  /// Whether the delete stands before the insert; only when there are both.
  var deletesFirst = false
  /// The inserted UTF-8, zeros behind it.
  var text: (UInt64, UInt64) = (0, 0)

  init() {}

  @inline(__always)
  static func == (left: Self, right: Self) -> Bool {
    left.prefix == right.prefix && left.deleted == right.deleted && left.suffix == right.suffix
      && left.scalars == right.scalars && left.bytes == right.bytes
      && left.deletesFirst == right.deletesFirst && left.text == right.text
  }

  @inline(__always)
  var baseLength: Int { Int(prefix) + Int(deleted) + Int(suffix) }
  @inline(__always)
  var targetLength: Int { Int(prefix) + Int(scalars) + Int(suffix) }
  /// What it adds to a text's length.
  @inline(__always)
  var growth: Int { Int(scalars) - Int(deleted) }
  /// The base position of the insert.
  @inline(__always)
  var anchor: Int { deletesFirst ? Int(prefix) + Int(deleted) : Int(prefix) }
  @inline(__always)
  var wordCount: Int {
    (prefix > 0 ? 1 : 0) + (deleted > 0 ? 1 : 0) + (bytes > 0 ? 1 : 0) + (suffix > 0 ? 1 : 0)
  }

  mutating func retain(_ count: UInt32) {
    if deleted == 0, bytes == 0 { prefix += count } else { suffix += count }
  }

  /// - Returns: `false` when it does not fit; nothing has changed then.
  mutating func delete(_ count: UInt32) -> Bool {
    if suffix > 0 || (deletesFirst && bytes > 0) { return false }
    deleted += count
    return true
  }

  /// - Returns: `false` when it does not fit; nothing has changed then.
  mutating func insert(_ new: UnsafeBufferPointer<UInt8>, scalars count: Int) -> Bool {
    guard suffix == 0, Int(bytes) + new.count <= Self.textCapacity else { return false }
    // An insert behind "insert, delete" would be a third piece.
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

  /// Packs words, if they are one edit. The text must not be longer than fits.
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

  /// Writes the words, at most four.
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
