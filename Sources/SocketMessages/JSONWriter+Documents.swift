package import ParleyJSON
package import OTCore

extension JSONWriter {
  /// Writes a document's text as a string, without an intermediate copy. For a long text, space is
  /// reserved first, so that the buffer is not copied while it grows.
  package static func string(_ document: Document, _ buffer: inout [UInt8]) {
    if document.utf8Count > 16 << 10 {
      var count = restBytes
      document.forEachChunk { count += escapedCountMax(of: $0) }
      buffer.reserveCapacity(buffer.count + count)
    }
    buffer.append(UInt8(ascii: "\""))
    document.forEachChunk { escaped($0, &buffer) }
    buffer.append(UInt8(ascii: "\""))
  }

  /// The space that is reserved for the other fields of a message with a long text, in bytes.
  private static var restBytes: Int { 4 << 10 }
}
