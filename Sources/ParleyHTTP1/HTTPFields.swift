/// The header fields of a request: names without case, values as they came.
///
/// They stay one piece of memory; strings are made only of the fields that are asked for.
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

  /// The number of fields; one that came twice counts twice.
  public var count: Int { entries.count }

  /// A field's name, in lower case.
  public func name(at index: Int) -> String {
    let entry = entries[index]
    return text(entry.nameStart, entry.nameCount)
  }

  /// A field's value, without the space around it. Bytes that are not UTF-8 are replaced.
  public func value(at index: Int) -> String {
    let entry = entries[index]
    return text(entry.valueStart, entry.valueCount)
  }

  private func text(_ start: UInt32, _ count: UInt32) -> String {
    String(decoding: bytes[Int(start)..<Int(start + count)], as: UTF8.self)
  }
}
