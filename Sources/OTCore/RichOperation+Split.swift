extension RichOperation {
  /// Splits the operation into consecutive operations within limits: first the spans, then the
  /// parts of the text with their runs, as in ``TextOperation/split(within:)``.
  ///
  /// Components and JSON of text and format count together. A single span or scalar whose
  /// attributes exceed the limits becomes one part.
  ///
  /// - Complexity: O(*components* · log *parts*), plus the text copied.
  public func split(within limits: OperationLimits) -> [RichOperation] {
    if fits(within: limits) { return [self] }
    guard let format else { return text.split(within: limits).map { RichOperation($0) } }
    var parts: [RichOperation] = []
    // Spans never cover deleted text, so they can apply before the text changes.
    Array(format.block.spans)[...].cut(format.sets, baseLength, limits, to: &parts)
    let none = UnsafeBufferPointer<RunWord>(start: nil, count: 0)
    let rest = RichOperation(
      text: text, format: Format(spans: none, runs: format.block.runs, sets: format.sets))
    if !rest.isIdentity { parts += rest.textParts(within: limits) }
    return parts
  }

  /// Whether the operation is within limits.
  package func fits(within limits: OperationLimits) -> Bool {
    guard let format else { return text.fits(within: limits) }
    guard componentCount <= limits.componentsMax else { return false }
    if limits.jsonBytesMax == .max { return true }
    var json: [UInt8] = []
    text.appendJSON(to: &json)
    format.appendJSON(to: &json)
    return json.count <= limits.jsonBytesMax
  }

  /// Splits an operation without spans, into ever smaller parts until each fits with its runs.
  private func textParts(within limits: OperationLimits) -> [RichOperation] {
    var smaller = limits
    while true {
      let parts = parts(ofTextWithin: smaller)
      let isSmallest =
        smaller.componentsMax == OperationLimits.componentsMin
        && smaller.jsonBytesMax == OperationLimits.jsonBytesMin
      if isSmallest || parts.allSatisfy({ $0.fits(within: limits) }) { return parts }
      smaller = OperationLimits(
        componentsMax: min(smaller.componentsMax, componentCount) / 2,
        jsonBytesMax: min(smaller.jsonBytesMax, 1 << 24) / 2)
    }
  }

  private func parts(ofTextWithin limits: OperationLimits) -> [RichOperation] {
    let pieces = text.parts(within: limits)
    let (growing, others) = (
      pieces.indices.filter { pieces[$0].targetLength > pieces[$0].baseLength },
      pieces.indices.filter { pieces[$0].targetLength <= pieces[$0].baseLength }
    )
    return format.withWords { _, runs in
      var reader = RunReader(runs)
      let formats = pieces.map { piece in
        var own: [RunWord] = []
        var left = piece.insertedScalars
        while left > 0 {
          let count = min(left, reader.word.count)
          own.put(reader.word.value, count: count)
          reader.take(count)
          left -= count
        }
        return Format(spans: [], runs: own, sets: format.sets)
      }
      return zip(others + growing, pieces.shrinkingFirst()).map { index, piece in
        RichOperation(text: piece, format: formats[index])
      }
    }
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
