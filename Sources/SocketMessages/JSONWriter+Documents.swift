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

extension JSONWriter.Object {
  /// Writes the name of a change, if there is one.
  mutating func field(_ name: StaticString, _ change: ChangeName?, _ buffer: inout [UInt8]) {
    guard let change else { return }
    key(name, &buffer)
    JSONWriter.object(&buffer) { object, buffer in
      object.field("clientId", change.clientID, &buffer)
      object.field("sequence", change.sequence, &buffer)
      object.field("time", change.time, &buffer)
    }
  }
}
