/// The header fields of a request: case-insensitive names, values as received.
///
/// They are stored as one array of bytes; strings are created only for requested fields.
public struct HTTPFields: Sendable {
  /// The position of a field.
  struct Entry: Sendable {
    var nameStart: UInt32
    var nameCount: UInt32
    var valueStart: UInt32
    var valueCount: UInt32
  }

  /// The head, names in lower case.
  private let bytes: [UInt8]
  private let entries: [Entry]

  init() {
    bytes = []
    entries = []
  }

  init(_ head: Span<UInt8>, _ entries: [Entry]) {
    var bytes = head.withUnsafeBufferPointer { Array($0) }
    bytes.withUnsafeMutableBufferPointer { bytes in
      for entry in entries {
        let start = Int(entry.nameStart)
        for index in start..<(start + Int(entry.nameCount)) where bytes[index] &- 0x41 < 26 {
          bytes[index] |= 0x20
        }
      }
    }
    self.bytes = bytes
    self.entries = entries
  }

  /// The number of fields; repeated fields count separately.
  public var count: Int { entries.count }

  /// Returns a field's name, in lower case.
  public func name(at index: Int) -> String {
    let entry = entries[index]
    return text(entry.nameStart, entry.nameCount)
  }

  /// Returns a field's value, without surrounding white space. Invalid UTF-8 is replaced.
  public func value(at index: Int) -> String {
    let entry = entries[index]
    return text(entry.valueStart, entry.valueCount)
  }

  private func text(_ start: UInt32, _ count: UInt32) -> String {
    String(decoding: bytes[Int(start)..<Int(start + count)], as: UTF8.self)
  }
}
