extension TextOperation {
  /// The operation that replaces what lies between the two texts' common beginning and end.
  ///
  /// - Complexity: O(*old* + *new*).
  public init(replacing old: Document, by new: Document) {
    let from = old.utf8Bytes
    let to = new.utf8Bytes
    let shorter = min(from.count, to.count)
    var start = 0
    while start < shorter, from[start] == to[start] { start += 1 }
    // Back to where a scalar begins, in both: up to here they are equal.
    while start > 0,
      start < from.count && from[start] & 0xc0 == 0x80
        || start < to.count && to[start] & 0xc0 == 0x80
    { start -= 1 }
    var end = 0
    while end < shorter - start, from[from.count - 1 - end] == to[to.count - 1 - end] { end += 1 }
    // Forward to where one begins: the common end must not start inside a scalar.
    while end > 0, from[from.count - end] & 0xc0 == 0x80 { end -= 1 }

    func scalars(_ bytes: ArraySlice<UInt8>) -> Int {
      var count = 0
      for byte in bytes where byte & 0xc0 != 0x80 { count += 1 }
      return count
    }
    self.init()
    retain(scalars(from[..<start]))
    let inserted = to[start..<(to.count - end)]
    if !inserted.isEmpty { insert(String(decoding: inserted, as: UTF8.self)) }
    delete(scalars(from[start..<(from.count - end)]))
    retain(scalars(from[(from.count - end)...]))
  }
}

extension Document {
  var utf8Bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8Count)
    forEachChunk { bytes.append(contentsOf: $0) }
    return bytes
  }
}
