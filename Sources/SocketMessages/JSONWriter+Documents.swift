package import JSON
package import OTCore

extension JSONWriter {
  /// Writes a document's text as a string, without a copy of it in between.
  package static func string(_ document: Document, _ buffer: inout [UInt8]) {
    buffer.append(UInt8(ascii: "\""))
    document.forEachChunk { escaped($0, &buffer) }
    buffer.append(UInt8(ascii: "\""))
  }
}
