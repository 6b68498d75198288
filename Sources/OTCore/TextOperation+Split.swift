extension TextOperation {
  /// Splits the operation into consecutive operations within limits: first the parts that do not
  /// lengthen the text, from left to right, then the others.
  ///
  ///     =2 +abc =3 -1 =4    within 3 components:
  ///     =5 -1 =4            the part that shortens the text comes first and retains the rest
  ///     =2 +abc =7          the other part retains what is left
  ///
  /// Applying the parts in order equals applying the whole. Meanwhile the text is never longer than
  /// the longer one of its beginning and its end, so the parts fit wherever the whole does. An
  /// insertion that is too long for one part is split between two scalars.
  ///
  /// - Returns: The operation itself, if it is within the limits.
  /// - Complexity: O(*components*), plus the text copied.
  public func split(within limits: OperationLimits) -> [TextOperation] {
    guard !fits(within: limits) else { return [self] }
    return parts(within: limits).shrinkingFirst()
  }

  /// Returns the parts from left to right, each on the text after the previous ones.
  private func parts(within limits: OperationLimits) -> [TextOperation] {
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
  /// - Complexity: O(*components*), plus the text inserted; O(1) if the operation is certainly
  ///   small enough.
  package func fits(within limits: OperationLimits) -> Bool {
    guard componentCount <= limits.componentsMax else { return false }
    // A number has at most ten digits, a sign and a comma; a byte of text becomes at most six.
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
    // There is no comma after the last component.
    return bytes - 1 <= limits.jsonBytesMax
  }
}

extension [TextOperation] {
  /// Reorders the parts of an operation, which are from left to right, for applying them.
  ///
  /// Parts that do not grow come first, then the others, each in their order.
  fileprivate func shrinkingFirst() -> [TextOperation] {
    let growths = map { $0.targetLength - $0.baseLength }
    guard let firstGrowing = growths.firstIndex(where: { $0 > 0 }),
      growths[firstGrowing...].contains(where: { $0 <= 0 })
    else { return self }
    var shrinking: [TextOperation] = []
    var growing: [TextOperation] = []
    // When a shrinking part applies, the text left of it has not grown yet. When a growing part
    // applies, the text right of it has shrunk already.
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
  /// Returns the same insertions and deletions, with more scalars retained before and after them.
  func shifted(before: Int, behind: Int) -> TextOperation {
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

/// A builder of the parts of an operation, one at a time.
private struct OperationSplitter {
  let limits: OperationLimits
  private var parts: [TextOperation] = []
  /// The current part, up to its last insertion or deletion.
  private var part = TextOperation()
  /// The bytes of its JSON form, with a comma after each component.
  private var jsonBytes = 2
  /// The number of scalars retained after that.
  private var gap = 0
  /// The number of remaining scalars of the whole's base.
  private var left: Int
  /// The number of scalars of the whole's target so far.
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

  /// The bytes available for one more component, besides the gap before it and the retain after it;
  /// negative if there may be no more components.
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

  /// Finishes a part, and begins another after everything done so far.
  private mutating func close() {
    part.retain(gap + left)
    part.pack()
    parts.append(part)
    part = TextOperation()
    jsonBytes = 2
    gap = position
  }

  /// Returns the longest prefix, in whole scalars, whose JSON form fits, and the bytes of that
  /// form.
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

  /// Returns the bytes that a byte of text takes in the JSON form.
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
