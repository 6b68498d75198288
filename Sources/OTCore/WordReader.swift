/// Reads packed words, in parts of any size.
struct WordReader {
  private var next: UnsafePointer<TextOperation.Word>
  private let end: UnsafePointer<TextOperation.Word>
  /// The rest of the current component; kind 3 at the end.
  private(set) var word: TextOperation.Word

  @inline(__always)
  init(_ words: UnsafeBufferPointer<TextOperation.Word>) {
    next = words.baseAddress.unsafelyUnwrapped
    end = next + words.count
    word = next < end ? next.pointee : Self.endMark
  }

  @inline(__always)
  private static var endMark: TextOperation.Word { TextOperation.Word(bits: 3) }

  @inline(__always)
  var isAtEnd: Bool { word.bits & 3 == 3 }

  @inline(__always)
  mutating func advance() {
    next += 1
    word = next < end ? next.pointee : Self.endMark
  }

  /// Takes scalars of the current component, and the bytes of an insert.
  @inline(__always)
  mutating func take(_ scalars: Int, bytes: Int = 0) {
    if scalars == word.scalars {
      advance()
    } else {
      word.bits &-=
        UInt64(truncatingIfNeeded: scalars) << 34 | UInt64(truncatingIfNeeded: bytes) << 2
    }
  }
}

/// Writes packed words; adjacent words of one kind merge.
struct WordWriter {
  private let start: UnsafeMutablePointer<TextOperation.Word>
  private var last: UnsafeMutablePointer<TextOperation.Word>

  /// - Parameter memory: Memory for one more word than will be written.
  @inline(__always)
  init(_ memory: UnsafeMutablePointer<TextOperation.Word>) {
    start = memory
    last = memory
    // Of a kind that no word has, so that nothing merges with it.
    memory.pointee.bits = 3
  }

  @inline(__always)
  mutating func put(_ word: TextOperation.Word) {
    if (last.pointee.bits ^ word.bits) & 3 == 0 {
      last.pointee.bits &+= word.bits & ~3
    } else {
      last += 1
      last.pointee = word
    }
  }

  @inline(__always)
  var written: UnsafeBufferPointer<TextOperation.Word> {
    UnsafeBufferPointer(start: start + 1, count: last - start)
  }
}

/// Memory for the output of a walk, on the stack if it is small.
enum Scratch {
  @inline(__always)
  static func with<Result>(
    words: Int, text: Int,
    _ body: (UnsafeMutablePointer<TextOperation.Word>, UnsafeMutablePointer<UInt8>) -> Result
  ) -> Result {
    if words <= 62, text <= 512 {
      return withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { memory in
        let start = memory.baseAddress.unsafelyUnwrapped
        return body(
          start.assumingMemoryBound(to: TextOperation.Word.self),
          (start + 512).assumingMemoryBound(to: UInt8.self))
      }
    }
    let memory = UnsafeMutableRawPointer.allocate(byteCount: (words + 2) * 8 + text, alignment: 16)
    defer { memory.deallocate() }
    return body(
      memory.assumingMemoryBound(to: TextOperation.Word.self),
      (memory + (words + 2) * 8).assumingMemoryBound(to: UInt8.self))
  }

  /// Memory for words alone.
  @inline(__always)
  static func with<Result>(
    words: Int, _ body: (UnsafeMutablePointer<TextOperation.Word>) -> Result
  ) -> Result {
    if words <= 126 {
      return withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { memory in
        body(memory.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: TextOperation.Word.self))
      }
    }
    let memory = UnsafeMutablePointer<TextOperation.Word>.allocate(capacity: words + 2)
    defer { memory.deallocate() }
    return body(memory)
  }
}
