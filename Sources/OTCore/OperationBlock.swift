/// The header of an operation's block.
struct OperationBlockTop {
  var base = 0
  var target = 0
  var wordCount: Int32 = 0
  var textCount: Int32 = 0
  var wordCapacity: Int32
  var textCapacity: Int32
}

/// An operation's block of memory: packed words, then all inserted text.
final class OperationBlock: ManagedBuffer<OperationBlockTop, UInt64> {
  // Named type, because of Embedded Swift: see ``RopeNode/emptyLeaf(_:)``.
  @inline(__always)
  static func empty(words: Int, text: Int) -> OperationBlock {
    unsafeDowncast(
      OperationBlock.create(minimumCapacity: words + (text + 7) / 8) { _ in
        OperationBlockTop(wordCapacity: Int32(words), textCapacity: Int32(text))
      }, to: OperationBlock.self)
  }

  @inline(__always)
  var top: UnsafeMutablePointer<OperationBlockTop> { withUnsafeMutablePointerToHeader { $0 } }
  @inline(__always)
  var words: UnsafeMutablePointer<TextOperation.Word> {
    UnsafeMutableRawPointer(withUnsafeMutablePointerToElements { $0 })
      .assumingMemoryBound(to: TextOperation.Word.self)
  }
  @inline(__always)
  var text: UnsafeMutablePointer<UInt8> {
    UnsafeMutableRawPointer(words + Int(top.pointee.wordCapacity))
      .assumingMemoryBound(to: UInt8.self)
  }
  @inline(__always)
  var wordCount: Int { Int(top.pointee.wordCount) }
  @inline(__always)
  var textCount: Int { Int(top.pointee.textCount) }
  @inline(__always)
  var packedWords: UnsafeBufferPointer<TextOperation.Word> {
    UnsafeBufferPointer(start: words, count: wordCount)
  }
  @inline(__always)
  var packedText: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: text, count: textCount)
  }

  /// The bytes of words and text, unused capacity included.
  var bytes: Int {
    Self.elements(words: Int(top.pointee.wordCapacity), text: Int(top.pointee.textCapacity)) * 8
  }

  /// Whether a smaller block would be enough.
  var isSlack: Bool { bytes > Self.elements(words: wordCount, text: textCount) * 8 }

  private static func elements(words: Int, text: Int) -> Int { words + (text + 7) / 8 }

  func hasRoom(words: Int, text: Int) -> Bool {
    wordCount + words <= Int(top.pointee.wordCapacity)
      && textCount + text <= Int(top.pointee.textCapacity)
  }

  /// Replaces the words and the text, for which there must be room.
  @inline(__always)
  func take(
    _ newWords: UnsafeBufferPointer<TextOperation.Word>, _ newText: UnsafeBufferPointer<UInt8>,
    base: Int, target: Int
  ) {
    top.pointee.base = base
    top.pointee.target = target
    top.pointee.wordCount = Int32(newWords.count)
    top.pointee.textCount = Int32(newText.count)
    if let source = newWords.baseAddress { words.update(from: source, count: newWords.count) }
    if let source = newText.baseAddress { text.update(from: source, count: newText.count) }
  }
}
