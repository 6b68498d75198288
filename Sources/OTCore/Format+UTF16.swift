// The JSON forms with lengths in UTF-16 units, for editors that count so.

extension ChangeFormat {
  /// Reads the JSON form with lengths in UTF-16 units; `nil` if it has no effect.
  ///
  /// - Parameters:
  ///   - json: The JSON form, as UTF-8.
  ///   - text: The operation of the change.
  ///   - base: The text to which the operation applies.
  /// - Throws: As ``init(json:of:setsMax:)``; also `malformed` if a length ends within a surrogate pair.
  public init?(
    utf16JSON json: [UInt8], of text: TextOperation, on base: Document
  ) throws(OperationError) {
    // An editor's paste may have more sets than one change; it is sent in parts.
    var lists = try FormatJSONReader.lists(json, setsMax: .max)
    try lists.convertFromUTF16(text, base)
    self.init(try lists.format(of: text), makesRich: lists.makesRich)
  }
}

extension FormatJSONReader.Lists {
  /// Replaces lengths in UTF-16 units by lengths in scalars.
  fileprivate mutating func convertFromUTF16(
    _ text: TextOperation, _ base: Document
  ) throws(OperationError) {
    var place = 0
    var units = 0
    for index in kept.indices where index % 3 < 2 {
      guard kept[index] <= base.utf16Count - units else { throw .malformed(offset: 0) }
      units += kept[index]
      let end = base.scalarOffset(ofUTF16: units)
      guard base.utf16Offset(ofScalar: end) == units else { throw .malformed(offset: 0) }
      kept[index] = end - place
      place = end
    }
    let pairs = put
    let converted: [Int]? = text.withPacked { _, bytes in
      var walk = UnitWalk(bytes: bytes)
      var converted = pairs
      for index in stride(from: 0, to: pairs.count, by: 2) {
        guard let count = walk.scalars(units: pairs[index]) else { return nil }
        converted[index] = count
      }
      return converted
    }
    guard let converted else { throw .malformed(offset: 0) }
    put = converted
  }
}

extension RichOperation {
  /// Appends the JSON form of the format with lengths in UTF-16 units; nothing without a format.
  ///
  /// - Parameter base: The text to which the operation applies.
  public func appendFormatJSON(to buffer: inout [UInt8], inUTF16Of base: Document) {
    let made = format.withWords { spans, runs in
      Format(
        spans: base.inUTF16(spans),
        runs: text.withPacked { _, bytes in
          var walk = UnitWalk(bytes: bytes)
          return runs.map { RunWord($0.value, count: walk.units(scalars: $0.count)) }
        }, sets: format.sets)
    }
    made?.appendJSON(to: &buffer)
  }
}

extension RichDocument {
  /// Appends the JSON form of the runs with lengths in UTF-16 units.
  public func appendFormatJSONInUTF16(to buffer: inout [UInt8]) {
    appendFormatJSON(words.withUnsafeBufferPointer { text.inUTF16($0) }, to: &buffer)
  }
}

extension Document {
  /// Returns runs over the text with their lengths in UTF-16 units.
  fileprivate func inUTF16(_ runs: UnsafeBufferPointer<RunWord>) -> [RunWord] {
    var place = 0
    var units = 0
    return runs.map { run in
      place += run.count
      let end = utf16Offset(ofScalar: place)
      defer { units = end }
      return RunWord(run.value, count: end - units)
    }
  }
}

/// A walk through UTF-8, by scalars or UTF-16 units.
private struct UnitWalk {
  let bytes: UnsafeBufferPointer<UInt8>
  private var next = 0

  init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  /// Passes a scalar, and returns its UTF-16 units.
  private mutating func pass() -> Int {
    let units = bytes[next] >= 0xf0 ? 2 : 1
    next += 1
    while next < bytes.count, bytes[next] & 0xc0 == 0x80 { next += 1 }
    return units
  }

  /// Returns the UTF-16 units of the next scalars.
  mutating func units(scalars: Int) -> Int {
    var units = 0
    for _ in 0..<scalars { units += pass() }
    return units
  }

  /// Returns the scalars of the next UTF-16 units; `nil` if they end within a scalar, or after the
  /// text.
  mutating func scalars(units: Int) -> Int? {
    var scalars = 0
    var left = units
    while left > 0, next < bytes.count {
      left -= pass()
      scalars += 1
    }
    return left == 0 ? scalars : nil
  }
}
