package import ParleyJSON
package import OTCore

/// Reading of the values in messages.
extension JSONReader {
  /// Reads an operation's JSON form, `[1,"tag",-2]`.
  ///
  /// - Parameter componentsMax: Maximum components as written. Components without effect, such as
  ///   `0`, and components that join the previous one count too.
  /// - Returns: `nil` for more components; the reader is then after the operation.
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
    // A scalar has at least one byte, so the byte count is an upper bound for the scalars.
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
  /// Retains a positive number of scalars, or deletes a negative number of them.
  mutating func append(lengths number: Int, at offset: Int) throws(JSONError) {
    // A deletion lengthens only the base; a retain lengthens base and target. Neither may exceed
    // the limit.
    let length = max(baseLength, number > 0 ? targetLength : 0)
    guard number.magnitude <= UInt(Self.lengthMax - length) else {
      throw .tooLong(offset: offset)
    }
    if number < 0 { delete(-number) } else { retain(number) }
  }
}

extension TextOperation {
  /// Reads the JSON form with the reader of messages, so that a browser loads only one reader.
  ///
  /// - Returns: `nil` if the bytes are not an operation.
  package init?(messageJSON bytes: UnsafeBufferPointer<UInt8>) {
    var reader = JSONReader(bytes)
    guard let operation = try? reader.operation(), (try? reader.finish()) != nil else { return nil }
    self = operation
  }
}
