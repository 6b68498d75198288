extension RichOperation {
  /// Splits the operation into consecutive operations within limits: first the spans, then the
  /// parts of the text with their runs, as in ``TextOperation/split(within:)``.
  ///
  /// Components and JSON of text and format count together, and no part has more sets than a
  /// message may contain. A single span or scalar whose attributes exceed the limits becomes one
  /// part. The first part makes the note a rich one if the operation does.
  ///
  /// - Complexity: O(*components* · log *parts*), plus the text copied.
  public func split(within limits: OperationLimits) -> [RichOperation] {
    if fits(within: limits) { return [self] }
    var parts = partsWithoutKind(within: limits)
    parts[0].makesRich = makesRich
    return parts
  }

  private func partsWithoutKind(within limits: OperationLimits) -> [RichOperation] {
    var parts: [RichOperation] = []
    guard let format else {
      #if hasFeature(Embedded)
        // A single splitter keeps the code small; it makes up to twice as many parts.
        cutText(limits, to: &parts)
        return parts
      #else
        return text.split(within: limits).map { RichOperation($0) }
      #endif
    }
    // Spans never cover deleted text, so they can apply before the text changes.
    Array(format.block.spans)[...].cut(format.sets, baseLength, limits, to: &parts)
    let none = UnsafeBufferPointer<RunWord>(start: nil, count: 0)
    let rest = RichOperation(
      text: text, format: Format(spans: none, runs: format.block.runs, sets: format.sets))
    if !rest.isIdentity { rest.cutText(limits, to: &parts) }
    return parts
  }

  /// Whether the operation is within limits.
  package func fits(within limits: OperationLimits) -> Bool {
    guard let format else { return text.fits(within: limits) }
    guard componentCount <= limits.componentsMax, format.usedSetCount <= Format.setsMax else {
      return false
    }
    if limits.jsonBytesMax == .max { return true }
    var json: [UInt8] = []
    text.appendJSON(to: &json)
    format.appendJSON(to: &json)
    return json.count <= limits.jsonBytesMax
  }

  /// Halves an operation without spans, until each part fits. As in
  /// ``TextOperation/split(within:)``, a half that does not lengthen the text comes first.
  private func cutText(_ limits: OperationLimits, to parts: inout [RichOperation]) {
    guard !fits(within: limits), let cut = text.middle else { return parts.append(self) }
    let left = text.half(cut, isLeft: true)
    let right = text.half(cut, isLeft: false)
    let isLeftFirst = left.targetLength <= left.baseLength || right.targetLength > right.baseLength
    let (leftRuns, rightRuns) = format.withWords { _, runs in
      var reader = RunReader(runs)
      return (reader.taken(left.insertedScalars), reader.taken(right.insertedScalars))
    }
    let halves = [
      RichOperation(
        text: left.shifted(
          before: 0, behind: isLeftFirst ? right.baseLength : right.targetLength),
        format: Format(spans: [], runs: leftRuns, sets: format.sets)),
      RichOperation(
        text: right.shifted(
          before: isLeftFirst ? left.targetLength : left.baseLength, behind: 0),
        format: Format(spans: [], runs: rightRuns, sets: format.sets)),
    ]
    halves[isLeftFirst ? 0 : 1].cutText(limits, to: &parts)
    halves[isLeftFirst ? 1 : 0].cutText(limits, to: &parts)
  }
}

extension TextOperation {
  /// A place in an operation: before a component, or within an insertion after some of its bytes.
  fileprivate struct Cut {
    var component: Int
    var bytes = 0
  }

  /// The place in the middle of all insertions and deletions, or of the only insertion; `nil` if the
  /// operation cannot be divided.
  fileprivate var middle: Cut? {
    var changes: [Int] = []
    var index = 0
    var cut: Cut?
    forEachPacked { kind, _, text in
      if kind != .retain { changes.append(index) }
      var half = text.count / 2
      while half > 0, text[half] & 0xc0 == 0x80 { half -= 1 }
      if half == 0 {
        // The first scalar has more bytes than all others.
        half = 1
        while half < text.count, text[half] & 0xc0 == 0x80 { half += 1 }
      }
      if half < text.count { cut = Cut(component: index, bytes: half) }
      index += 1
    }
    return changes.count > 1 ? Cut(component: changes[changes.count / 2]) : cut
  }

  /// Returns the components before a cut, or those after it.
  fileprivate func half(_ cut: Cut, isLeft: Bool) -> TextOperation {
    var half = TextOperation()
    var index = 0
    forEachPacked { kind, length, text in
      defer { index += 1 }
      if index == cut.component, cut.bytes > 0 {
        half.insertValid(
          UnsafeBufferPointer(
            rebasing: isLeft ? text[..<cut.bytes] : text[cut.bytes...]))
      } else if (index < cut.component) == isLeft {
        switch kind {
        case .retain: half.retain(length)
        case .delete: half.delete(length)
        case .insert: half.insertValid(text)
        }
      }
    }
    return half
  }
}

extension RunReader {
  /// Takes scalars, across runs, and returns their runs.
  fileprivate mutating func taken(_ scalars: Int) -> [RunWord] {
    var runs: [RunWord] = []
    var left = scalars
    while left > 0 {
      let count = min(left, word.count)
      runs.put(word.value, count: count)
      take(count)
      left -= count
    }
    return runs
  }
}

extension ArraySlice<RunWord> {
  /// Appends operations that change no text and have these spans, halved until they fit.
  fileprivate func cut(
    _ sets: [AttributeSet], _ length: Int, _ limits: OperationLimits,
    to parts: inout [RichOperation]
  ) {
    guard let format = Format(spans: Array(self), runs: [], sets: sets) else { return }
    let whole = RichOperation(text: .identity(length: length), format: format)
    let spans = count { $0.value != 0 }
    if spans == 1 || whole.fits(within: limits) { return parts.append(whole) }
    let middle = startIndex + count / 2
    self[..<middle].cut(sets, length, limits, to: &parts)
    let gap = self[..<middle].reduce(0) { $0 + $1.count }
    ([RunWord(0, count: gap)] + self[middle...])[...].cut(sets, length, limits, to: &parts)
  }
}

extension Format {
  /// The number of sets that the JSON form contains.
  fileprivate var usedSetCount: Int {
    // Unused sets are few, so most formats need no count.
    sets.count <= Self.setsMax ? sets.count : UsedSets(sets, block.spans, block.runs).used.count
  }
}
