extension TextOperation {
  /// Cuts the operation into operations to be applied one after the other, each within the limits:
  /// first those that make the text no longer, from left to right, and then the others.
  ///
  ///     =2 +abc =3 -1 =4    within 3 components:
  ///     =5 -1 =4            the part that shortens the text first, retaining the rest
  ///     =2 +abc =7          the other part, retaining what is left
  ///
  /// Applying the parts in order equals applying the whole. On the
  /// way the text is never longer than the longer one of both ends, so that parts fit where the whole
  /// does. An insertion that is too long for one part is cut between two scalars.
  ///
  /// - Returns: the operation itself, when it is within the limits.
  /// - Complexity: O(*components*), plus the text copied.
  public func split(within limits: OperationLimits) -> [TextOperation] {
    guard !fits(within: limits) else { return [self] }
    return parts(within: limits).shrinkingFirst()
  }

  /// The parts from left to right, each from what those before it leave.
  @inline(__always)
  func parts(within limits: OperationLimits) -> [TextOperation] {
    var splitter = OperationSplitter(limits: limits, baseLength: baseLength)
    withPacked { words, text in
      var offset = 0
      for word in words {
        switch word.kind {
        case .retain: splitter.retain(word.scalars)
        case .delete: splitter.delete(word.scalars)
        case .insert:
          splitter.insert(UnsafeBufferPointer(rebasing: text[offset..<offset + word.bytes]))
          offset += word.bytes
        }
      }
    }
    return splitter.finished()
  }

  /// Whether the operation is within limits.
  ///
  /// - Complexity: O(*components*), plus the text inserted; O(1) where it cannot be too large.
  package func fits(within limits: OperationLimits) -> Bool {
    guard componentCount <= limits.componentsMax else { return false }
    // A number has at most ten digits, a sign and a comma; a byte of text is written as six at most.
    if componentCount <= limits.jsonBytesMax / 64, insertedBytes <= limits.jsonBytesMax / 8 {
      return true
    }
    var bytes = 2
    forEachPacked { kind, length, text in
      switch kind {
      case .retain: bytes += OperationSplitter.digits(length) + 1
      case .delete: bytes += OperationSplitter.digits(length) + 2
      case .insert: bytes += text.reduce(3) { $0 + OperationSplitter.jsonBytes(of: $1) }
      }
    }
    // The last component has no comma behind it.
    return bytes - 1 <= limits.jsonBytesMax
  }
}

extension [TextOperation] {
  /// The parts of an operation, from left to right, in the order in which they are applied.
  ///
  /// Those that do not grow, then the others, each in their order.
  func shrinkingFirst() -> [TextOperation] {
    let growths = map { $0.targetLength - $0.baseLength }
    guard let firstGrowing = growths.firstIndex(where: { $0 > 0 }),
      growths[firstGrowing...].contains(where: { $0 <= 0 })
    else { return self }
    var shrinking: [TextOperation] = []
    var growing: [TextOperation] = []
    // Text left of a part that shrinks has not grown yet; text right of a part that grows has
    // shrunk.
    var grown = 0
    var shrunk = growths.reduce(0) { $0 + Swift.min($1, 0) }
    for (part, growth) in zip(self, growths) {
      if growth > 0 {
        growing.append(part.shifted(before: 0, behind: shrunk))
        grown += growth
      } else {
        shrinking.append(part.shifted(before: -grown, behind: 0))
        shrunk -= growth
      }
    }
    return shrinking + growing
  }
}

extension TextOperation {
  /// The same insertions and deletions, with so many more scalars retained before and behind them.
  fileprivate func shifted(before: Int, behind: Int) -> TextOperation {
    var shifted = TextOperation()
    var gap = before
    forEachPacked { kind, length, text in
      if kind == .retain {
        gap += length
        return
      }
      shifted.retain(gap)
      gap = 0
      if kind == .delete { shifted.delete(length) } else { shifted.insertValid(text) }
    }
    shifted.retain(gap + behind)
    shifted.pack()
    return shifted
  }
}

/// Builds the parts of an operation, one at a time.
private struct OperationSplitter {
  let limits: OperationLimits
  private var parts: [TextOperation] = []
  /// The part being built, up to its last insertion or deletion.
  private var part = TextOperation()
  /// Bytes of its JSON form, a comma behind each component.
  private var jsonBytes = 2
  /// Scalars retained behind that.
  private var gap = 0
  /// Scalars of the whole's base that are still to come.
  private var left: Int
  /// Scalars of the whole's target so far.
  private var position = 0

  init(limits: OperationLimits, baseLength: Int) {
    self.limits = limits
    left = baseLength
  }

  mutating func retain(_ count: Int) {
    gap += count
    position += count
    left -= count
  }

  mutating func delete(_ count: Int) {
    let size = Self.digits(count) + 2
    if size > room { close() }
    fillGap()
    part.delete(count)
    jsonBytes += size
    left -= count
  }

  mutating func insert(_ text: UnsafeBufferPointer<UInt8>) {
    var rest = text[...]
    while !rest.isEmpty {
      var (count, size) = Self.prefix(of: rest, jsonBytesMax: room - 3)
      if count == 0 {
        close()
        (count, size) = Self.prefix(of: rest, jsonBytesMax: room - 3)
      }
      fillGap()
      let before = part.targetLength
      part.insertValid(UnsafeBufferPointer(rebasing: rest.prefix(count)))
      position += part.targetLength - before
      jsonBytes += size + 3
      rest = rest.dropFirst(count)
    }
  }

  consuming func finished() -> [TextOperation] {
    close()
    return parts
  }

  /// Bytes that one more component may have, the gap before it and a retain behind it left out;
  /// below zero when there may be no more components.
  private var room: Int {
    let components = part.componentCount + (gap > 0 ? 1 : 0) + 2
    guard components <= limits.componentsMax else { return -1 }
    return limits.jsonBytesMax - jsonBytes - (gap > 0 ? Self.digits(gap) + 1 : 0)
      - (Self.digits(left) + 1)
  }

  private mutating func fillGap() {
    guard gap > 0 else { return }
    part.retain(gap)
    jsonBytes += Self.digits(gap) + 1
    gap = 0
  }

  /// Ends a part, and begins one behind all that was done so far.
  private mutating func close() {
    part.retain(gap + left)
    part.pack()
    parts.append(part)
    part = TextOperation()
    jsonBytes = 2
    gap = position
  }

  /// The longest beginning, in whole scalars, that is written in so many bytes, and those bytes.
  private static func prefix(
    of text: Slice<UnsafeBufferPointer<UInt8>>, jsonBytesMax: Int
  ) -> (count: Int, jsonBytes: Int) {
    var whole = (count: 0, jsonBytes: 0)
    var size = 0
    for (index, byte) in text.enumerated() {
      if byte & 0xc0 != 0x80 { whole = (index, size) }
      size += jsonBytes(of: byte)
      if size > jsonBytesMax { return whole }
    }
    return (text.count, size)
  }

  /// Bytes that a byte of text takes in the JSON form.
  static func jsonBytes(of byte: UInt8) -> Int {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x0a: 2
    case ..<0x20: 6
    default: 1
    }
  }

  static func digits(_ number: Int) -> Int {
    var count = 1
    var rest = number / 10
    while rest > 0 {
      count += 1
      rest /= 10
    }
    return count
  }
}
