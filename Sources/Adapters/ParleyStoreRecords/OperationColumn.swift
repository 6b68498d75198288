package import ParleyGatewayPorts
package import OTCore

extension LogEntry {
  /// The column `operation` of a log: the JSON form of the operation, then that of the formatting.
  /// An entry without formatting is stored as before there were formats.
  package var operationColumn: [UInt8] {
    var json: [UInt8] = []
    operation.appendJSON(to: &json)
    format?.appendJSON(to: &json)
    return json
  }
}

/// The reader of the column `operation` of a log.
package enum OperationColumn {
  /// Reads an operation and its formatting.
  package static func read(
    _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(OperationError) -> (TextOperation, ChangeFormat?) {
    guard bytes.last == UInt8(ascii: "}") else { return (try TextOperation(json: bytes), nil) }
    let end = operationEnd(bytes)
    let operation = try TextOperation(json: UnsafeBufferPointer(rebasing: bytes[..<end]))
    return (operation, try ChangeFormat(json: Array(bytes[end...]), of: operation, setsMax: .max))
  }

  /// Returns the index after the first array, whose elements are numbers and strings.
  private static func operationEnd(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var isInString = false
    var index = 0
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\""): isInString.toggle()
      case UInt8(ascii: "\\"): index += 1
      case UInt8(ascii: "]") where !isInString: return index + 1
      default: break
      }
      index += 1
    }
    return bytes.count
  }
}
