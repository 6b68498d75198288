package import ParleyJSON
package import OTCore

/// Values that messages are made of.
extension JSONReader {
  /// Reads an operation's JSON form, `[1,"tag",-2]`.
  ///
  /// - Parameter componentsMax: Components that the operation may have. Each counts as it is written, also if it
  ///   means nothing, such as `0`, or is joined with the one before.
  /// - Returns: `nil` when it has more. Nothing is built of those; the reader has passed them.
  package mutating func operation(
    componentsMax: Int = .max
  ) throws(JSONError) -> TextOperation? {
    var operation = TextOperation()
    guard try beginArray() else { return operation }
    var count = 0
    repeat {
      count += 1
      if count > componentsMax {
        repeat { try skipValue() } while try nextElement()
        return nil
      }
      if isAtString {
        try insertion(into: &operation)
      } else {
        let start = offset
        try operation.append(lengths: try integer(), at: start)
      }
    } while try nextElement()
    return operation
  }

  /// Reads a string as the next insertion of an operation.
  mutating func insertion(into operation: inout TextOperation) throws(JSONError) {
    let start = offset
    let text = try text()
    // Bytes bound scalars from above, so this never lets too much in.
    guard text.content.count <= TextOperation.lengthMax - operation.targetLength else {
      throw .tooLong(offset: start)
    }
    // The reader has checked the UTF-8, so this cannot fail.
    text.withUTF8 { try? operation.insert(utf8: $0) }
  }

  /// Reads `[anchor, head]`.
  mutating func selection() throws(JSONError) -> Selection {
    let start = offset
    guard try beginArray() else { throw .wrongType(expected: Self.pair, offset: start) }
    let anchor = try integer()
    guard try nextElement() else { throw .wrongType(expected: Self.pair, offset: start) }
    let head = try integer()
    guard try !nextElement() else { throw .wrongType(expected: Self.pair, offset: start) }
    return Selection(anchor: anchor, head: head)
  }

  private static let pair = "an anchor and a head"
}

extension TextOperation {
  /// Retains as many scalars as a positive number says, or deletes as many as a negative one.
  mutating func append(lengths number: Int, at offset: Int) throws(JSONError) {
    // A deletion adds to the base alone, a retention to both; neither may pass the longest.
    let length = max(baseLength, number > 0 ? targetLength : 0)
    guard number.magnitude <= UInt(Self.lengthMax - length) else {
      throw .tooLong(offset: offset)
    }
    if number < 0 { delete(-number) } else { retain(number) }
  }
}

extension TextOperation {
  /// Reads the JSON form as messages are read, so that a client in a browser carries one reader.
  ///
  /// - Returns: `nil` where the bytes are anything else.
  package init?(messageJSON bytes: UnsafeBufferPointer<UInt8>) {
    var reader = JSONReader(bytes)
    guard let operation = try? reader.operation(), (try? reader.finish()) != nil else { return nil }
    self = operation
  }
}
