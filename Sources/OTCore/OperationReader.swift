/// Walks an operation's components, in parts as small as asked for.
struct OperationReader {
  private let words: UnsafeBufferPointer<TextOperation.Word>
  private let slab: UnsafeBufferPointer<UInt8>
  private var index = 0
  private var slabOffset = 0
  /// Bytes left of the insert at hand.
  private var bytesRemaining = 0
  /// Scalars left of the component at hand.
  private(set) var remaining = 0
  private(set) var kind: TextOperation.Kind?

  init(
    words: UnsafeBufferPointer<TextOperation.Word>, slab: UnsafeBufferPointer<UInt8>
  ) {
    self.words = words
    self.slab = slab
    load()
  }

  private mutating func load() {
    if index < words.count {
      kind = words[index].kind
      remaining = words[index].scalars
      bytesRemaining = words[index].bytes
    } else {
      kind = nil
      remaining = 0
    }
  }

  /// Takes scalars of a retain or delete.
  mutating func skip(_ count: Int) {
    remaining -= count
    if remaining == 0 {
      index += 1
      load()
    }
  }

  /// Takes scalars of an insert, as UTF-8.
  mutating func takeText(_ count: Int) -> UnsafeBufferPointer<UInt8> {
    let start = slabOffset
    if count == remaining {
      slabOffset += bytesRemaining
    } else {
      var left = count
      while left > 0 {
        slabOffset += 1
        while slabOffset < slab.count, slab[slabOffset] & 0xc0 == 0x80 { slabOffset += 1 }
        left -= 1
      }
    }
    bytesRemaining -= slabOffset - start
    let text = UnsafeBufferPointer(rebasing: slab[start..<slabOffset])
    skip(count)
    return text
  }
}

extension TextOperation {
  func withReader<Result>(_ body: (inout OperationReader) -> Result) -> Result {
    words.withUnsafeBufferPointer { words in
      slab.withUnsafeBufferPointer { slab in
        var reader = OperationReader(words: words, slab: slab)
        return body(&reader)
      }
    }
  }
}

extension TextOperation {
  @inline(__always)
  func withPacked<Result>(
    _ body: (UnsafeBufferPointer<Word>, UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    words.withUnsafeBufferPointer { words in
      slab.withUnsafeBufferPointer { slab in body(words, slab) }
    }
  }
}
