import ParleyJSON
import OTCore

/// The Whaler family's form of an operation: two arrays of equal length. `n` contains lengths, `s`
/// texts; where `n` is 0, the text at the same index is inserted.
///
/// This stores the ranges of the two arrays, which are read in parallel once both are found.
struct WhalerArrays {
  var numbers: Range<Int>?
  var texts: Range<Int>?

  /// Reads the operation.
  ///
  /// - Parameter componentsMax: Maximum components. Reading stops at the first one beyond it.
  /// - Throws: `badOperation` if the arrays differ in length, naming both lengths; `tooLarge` for
  ///   too many components.
  func operation(
    in envelope: Envelope, componentsMax: Int
  ) throws(MessageError) -> TextOperation {
    guard let numbers else { throw envelope.missing("n") }
    guard let texts else { throw envelope.missing("s") }
    var lengths = envelope.reader(at: numbers)
    var insertions = envelope.reader(at: texts)
    var operation = TextOperation()
    var counts = (numbers: 0, texts: 0)
    /// The field that the next error names.
    var field = "n"
    do throws(JSONError) {
      var hasLength = try lengths.beginArray()
      var hasText = try insertions.beginArray()
      while hasLength, hasText {
        guard counts.numbers < componentsMax else {
          throw .tooManyComponents(componentsMax: componentsMax)
        }
        field = "n"
        let start = lengths.offset
        let number = try lengths.integer()
        if number != 0 { try operation.append(lengths: number, at: start) }
        field = "s"
        if number == 0 {
          try insertions.insertion(into: &operation)
        } else {
          _ = try insertions.text()
        }
        counts.numbers += 1
        counts.texts += 1
        hasLength = try lengths.nextElement()
        hasText = try insertions.nextElement()
      }
      guard hasLength || hasText else { return operation }
      while hasLength {
        try lengths.skipValue()
        counts.numbers += 1
        hasLength = try lengths.nextElement()
      }
      while hasText {
        try insertions.skipValue()
        counts.texts += 1
        hasText = try insertions.nextElement()
      }
    } catch {
      throw envelope.named(MessageError(error, in: envelope.type.string, field: field))
    }
    throw envelope.named(
      MessageError(
        .badOperation,
        "\(envelope.type.string): n has \(counts.numbers) elements and s has \(counts.texts); "
          + "send arrays of equal length"))
  }

  /// Writes an operation as two fields.
  static func write(
    _ operation: TextOperation, _ data: inout JSONWriter.Object, _ buffer: inout [UInt8]
  ) {
    data.key("n", &buffer)
    buffer.append(UInt8(ascii: "["))
    var isFirst = true
    operation.forEachPacked { kind, length, _ in
      if !isFirst { buffer.append(UInt8(ascii: ",")) }
      isFirst = false
      switch kind {
      case .retain: JSONWriter.integer(length, &buffer)
      case .delete: JSONWriter.integer(-length, &buffer)
      case .insert: JSONWriter.integer(0, &buffer)
      }
    }
    // Never write an empty array: it would erase the pending edits of a client of this family.
    let isEmpty = isFirst
    if isEmpty { JSONWriter.integer(0, &buffer) }
    buffer.append(UInt8(ascii: "]"))
    data.key("s", &buffer)
    buffer.append(UInt8(ascii: "["))
    isFirst = true
    operation.forEachPacked { _, _, text in
      if !isFirst { buffer.append(UInt8(ascii: ",")) }
      isFirst = false
      JSONWriter.string(text, &buffer)
    }
    if isEmpty { JSONWriter.string("", &buffer) }
    buffer.append(UInt8(ascii: "]"))
  }
}

extension JSONReader {
  /// Skips an array, and returns its range.
  mutating func skipArray() throws(JSONError) -> Range<Int> {
    let start = offset
    try array { reader throws(JSONError) in try reader.skipValue() }
    return start..<offset
  }
}
