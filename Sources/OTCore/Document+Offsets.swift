/// Conversion of offsets between units. Each costs O(log *n*) and a walk through one leaf.
extension Document {
  /// Returns the UTF-16 offset of a scalar offset.
  ///
  /// - Precondition: The offset is in `0...scalarCount`.
  public func utf16Offset(ofScalar offset: Int) -> Int {
    check(offset, max: scalarCount)
    return metrics(before: offset, lane: 0).utf16
  }

  /// Returns the UTF-8 offset of a scalar offset.
  ///
  /// - Precondition: The offset is in `0...scalarCount`.
  public func utf8Offset(ofScalar offset: Int) -> Int {
    check(offset, max: scalarCount)
    return metrics(before: offset, lane: 0).utf8
  }

  /// Returns the line of a scalar offset, from 0: the number of newlines before it.
  ///
  /// - Precondition: The offset is in `0...scalarCount`.
  public func line(ofScalar offset: Int) -> Int {
    check(offset, max: scalarCount)
    return metrics(before: offset, lane: 0).newlines
  }

  /// Returns the scalar offset of a UTF-16 offset. Within a surrogate pair it is that of the pair;
  /// beyond the text it is the end.
  public func scalarOffset(ofUTF16 offset: Int) -> Int {
    metrics(before: min(max(offset, 0), utf16Count), lane: 1).scalars
  }

  /// Returns the scalar offset of a UTF-8 offset. Within a scalar it is that of the scalar; beyond
  /// the text it is the end.
  public func scalarOffset(ofUTF8 offset: Int) -> Int {
    metrics(before: min(max(offset, 0), utf8Count), lane: 2).scalars
  }

  /// Returns the scalar offset at which a line begins. Lines count from 0.
  ///
  /// - Precondition: The line is in `0..<lineCount`.
  public func scalarOffset(ofLine line: Int) -> Int {
    check(line, max: lineCount - 1)
    return line == 0 ? 0 : metrics(before: line, lane: 3).scalars
  }

  /// Returns the text of a range of scalars.
  ///
  /// - Precondition: The range is within the text.
  /// - Complexity: O(log *n*), plus the text copied.
  public func text(in range: Range<Int>) -> String {
    var bytes: [UInt8] = []
    appendUTF8(in: range, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends the UTF-8 of a range of scalars.
  ///
  /// - Precondition: The range is within the text.
  public func appendUTF8(in range: Range<Int>, to buffer: inout [UInt8]) {
    check(range.lowerBound, max: scalarCount)
    check(range.upperBound, max: scalarCount)
    if !range.isEmpty {
      appendUTF8(range.lowerBound, range.upperBound, below: root, isOnPath: true, to: &buffer)
    }
  }

  /// Appends a range of the text below a node, counted from the node's start.
  private func appendUTF8(
    _ low: Int, _ high: Int, below node: RopeNode, isOnPath: Bool, to buffer: inout [UInt8]
  ) {
    let height = node.height
    if height == 0 {
      (isOnPath ? leaf : node).appendUTF8(low, high, to: &buffer)
      return
    }
    let hole = isOnPath ? leafIndex(height - 1) : -1
    var start = 0
    for index in 0..<node.count where start < high {
      var end = start + node.metrics[index].scalars
      if index == hole { end += leaf.total.scalars }
      if end > low {
        appendUTF8(
          max(low - start, 0), min(high, end) - start, below: node.children[index],
          isOnPath: index == hole, to: &buffer)
      }
      start = end
    }
  }

  private func check(_ offset: Int, max: Int) {
    precondition(
      offset >= 0 && offset <= max, "offset \(offset) lies outside the text's 0...\(max)")
  }

  /// Returns the lengths of the text before an offset in one unit; for newlines, of the text up to
  /// and including the newline of that number.
  private func metrics(before offset: Int, lane: Int) -> TextMetrics {
    var node = root
    var isOnPath = true
    var left = UInt32(offset)
    var sum = TextMetrics.zero
    while node.height > 0 {
      let hole = isOnPath ? leafIndex(node.height - 1) : -1
      var index = 0
      let last = node.count - 1
      while index < last {
        var child = node.metrics[index]
        if index == hole { child += leaf.total }
        if child[lane] >= left { break }
        left -= child[lane]
        sum += child
        index += 1
      }
      isOnPath = index == hole
      node = node.children[index]
    }
    if isOnPath { node = leaf }
    let front = node.memory.front
    var rest = Int(left)
    let start = front.byteCount(of: &rest, lane: lane)
    sum += TextMetrics(UnsafeBufferPointer(rebasing: front[..<start]))
    if start == front.count, rest > 0 {
      let back = node.memory.back
      sum += TextMetrics(
        UnsafeBufferPointer(rebasing: back[..<back.byteCount(of: &rest, lane: lane)]))
    }
    return sum
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Returns the bytes of whole scalars before a distance in one unit. For newlines, up to and
  /// including the newline of that number.
  ///
  /// - Parameters:
  ///   - rest: The distance; on return, the part of it beyond this text.
  ///   - lane: The unit, as in ``TextMetrics``'s subscript.
  /// - Complexity: O(bytes), eight at a time.
  fileprivate func byteCount(of rest: inout Int, lane: Int) -> Int {
    guard let start = baseAddress else { return 0 }
    var index = 0
    while index + 8 <= count {
      let eight = EightBytes(start + index)
      let begun = 8 - Int(EightBytes.count(eight.continuations))
      let step: Int
      switch lane {
      case 0: step = begun
      case 1: step = begun + Int(EightBytes.count(eight.astral))
      case 2: step = 8
      default: step = Int(EightBytes.count(eight.newlines))
      }
      if step >= rest { break }
      rest -= step
      index += 8
    }
    // Eight bytes may have ended within a scalar: go back to its start.
    while index < count, self[index] & 0xc0 == 0x80 {
      index -= 1
      if lane == 2 { rest += 1 }
      if self[index] & 0xc0 != 0x80, lane < 2 {
        rest += lane == 1 && self[index] >= 0xf0 ? 2 : 1
      }
    }
    while index < count, rest > 0 {
      let byte = self[index]
      let width = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
      let step: Int
      switch lane {
      case 0: step = 1
      case 1: step = width == 4 ? 2 : 1
      case 2: step = width
      default: step = byte == 0x0a ? 1 : 0
      }
      // A position within a scalar counts as the position before it.
      if step > rest { return index }
      rest -= step
      index += width
    }
    return index
  }
}

extension RopeNode {
  /// Appends a range of a leaf.
  fileprivate func appendUTF8(_ low: Int, _ high: Int, to buffer: inout [UInt8]) {
    let split = Int(memory.header.pointee.gapScalars)
    if low < split { Self.append(memory.front, low, min(high, split), to: &buffer) }
    if high > split { Self.append(memory.back, max(low - split, 0), high - split, to: &buffer) }
  }

  private static func append(
    _ part: UnsafeBufferPointer<UInt8>, _ low: Int, _ high: Int, to buffer: inout [UInt8]
  ) {
    guard let base = part.baseAddress else { return }
    let start = base.byteCount(ofScalars: low, limit: part.count)
    let count = (base + start).byteCount(ofScalars: high - low, limit: part.count - start)
    buffer.append(contentsOf: UnsafeBufferPointer(start: base + start, count: count))
  }
}
