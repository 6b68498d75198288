/// The common beginning and end of two texts, in bytes.
///
/// Both are whole scalars, and they do not overlap in either text.
struct CommonEnds {
  /// The length of the common beginning, in bytes.
  let start: Int
  /// The length of the common end, in bytes.
  let end: Int

  /// - Complexity: O(bytes), eight at a time.
  init(_ old: UnsafeBufferPointer<UInt8>, _ new: UnsafeBufferPointer<UInt8>) {
    let shorter = min(old.count, new.count)
    guard shorter > 0, let from = old.baseAddress, let to = new.baseAddress else {
      start = 0
      end = 0
      return
    }
    var start = 0
    while start + 8 <= shorter, EightBytes(from + start).bits == EightBytes(to + start).bits {
      start += 8
    }
    while start < shorter, old[start] == new[start] { start += 1 }
    // Back to the start of a scalar, in both texts, which are equal up to here.
    while start > 0,
      start < old.count && old[start] & 0xc0 == 0x80
        || start < new.count && new[start] & 0xc0 == 0x80
    { start -= 1 }

    let most = shorter - start
    let (fromEnd, toEnd) = (from + old.count, to + new.count)
    var end = 0
    while end + 8 <= most,
      EightBytes(fromEnd - end - 8).bits == EightBytes(toEnd - end - 8).bits
    { end += 8 }
    while end < most, old[old.count - 1 - end] == new[new.count - 1 - end] { end += 1 }
    // Forward to the start of a scalar, so that the common end consists of whole scalars.
    while end > 0, old[old.count - end] & 0xc0 == 0x80 { end -= 1 }
    self.start = start
    self.end = end
  }
}
