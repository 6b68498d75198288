/// Growable memory for messages that arrive in pieces.
///
/// It is not an array, because the views that a reader delivers outlive a closure's access.
struct FrameBuffer: ~Copyable {
  private var base: UnsafeMutableRawPointer?
  private(set) var capacity = 0
  private(set) var count = 0

  /// Extra bytes reserved with the first piece. The declared length is not trusted.
  private static let slack = 4 << 10

  init() {}

  deinit { base?.deallocate() }

  /// Reserves `more` bytes, and doubles the capacity up to `ceiling` bytes in total.
  mutating func reserve(_ more: Int, ceiling: Int) {
    let needed = count + more
    guard needed > capacity else { return }
    let wanted = max(needed + Self.slack, capacity * 2)
    let size = max(needed, min(wanted, ceiling))
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    if let base {
      memory.copyMemory(from: base, byteCount: count)
      base.deallocate()
    }
    base = memory
    capacity = size
  }

  /// Appends bytes, masked or unmasked, and returns whether the results are all ASCII. The space
  /// must have been reserved.
  mutating func append(_ bytes: UnsafeRawBufferPointer, key: UInt32) -> Bool {
    precondition(bytes.count <= capacity - count, "no room was reserved")
    guard let from = bytes.baseAddress, let base else { return true }
    let isASCII = Masking.copy(key, from: from, to: base + count, bytes.count)
    count += bytes.count
    return isASCII
  }

  func view(from start: Int) -> UnsafeRawBufferPointer {
    precondition(start <= count, "no such bytes")
    return UnsafeRawBufferPointer(
      start: base.map { UnsafeRawPointer($0) + start }, count: count - start)
  }

  mutating func truncate(_ count: Int) {
    precondition(count <= self.count, "no such bytes")
    self.count = count
    if count == 0 { free() }
  }

  mutating func free() {
    base?.deallocate()
    base = nil
    capacity = 0
    count = 0
  }
}
