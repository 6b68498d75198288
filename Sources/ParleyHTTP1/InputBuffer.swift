/// Bytes that were read from a socket and not consumed.
struct InputBuffer {
  private var bytes: [UInt8] = []
  /// The index of the first unconsumed byte.
  private var start = 0

  init() {}

  var isEmpty: Bool { bytes.isEmpty }
  var count: Int { bytes.count - start }

  mutating func removeAll() { self = InputBuffer() }

  /// Buffers the input.
  mutating func keep(_ input: inout UnsafeRawBufferPointer) {
    guard !input.isEmpty else { return }
    compact()
    bytes.append(contentsOf: input)
    input = UnsafeRawBufferPointer(rebasing: input[input.count...])
  }

  /// Removes and returns all bytes.
  mutating func take() -> [UInt8] {
    compact()
    var taken: [UInt8] = []
    swap(&taken, &bytes)
    return taken
  }

  /// Calls `body` with the buffered bytes and the input, and consumes as many as it returns.
  @inline(__always)
  mutating func read<Result>(
    _ input: inout UnsafeRawBufferPointer,
    _ body: (Span<UInt8>) throws(HTTPError) -> (Int, Result)
  ) throws(HTTPError) -> Result {
    if bytes.isEmpty {
      let available = input.assumingMemoryBound(to: UInt8.self)
      let (count, result) = try body(available.span)
      input = UnsafeRawBufferPointer(rebasing: input[count...])
      return result
    }
    keep(&input)
    let (count, result) = try body(bytes.span.extracting(start...))
    start += count
    if start == bytes.count { removeAll() }
    return result
  }

  private mutating func compact() {
    guard start > 0 else { return }
    bytes.removeFirst(start)
    start = 0
  }
}
