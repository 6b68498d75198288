import ParleyGatewayPorts
import ParleyJSON

extension JSONWriter.Object {
  /// Writes a name as a field; nothing if it is `nil`.
  mutating func field(
    _ name: StaticString, _ value: (some ByteName)?, _ buffer: inout [UInt8]
  ) {
    field(name, value?.text, &buffer)
  }
}

extension JSONValue {
  /// A name as a string.
  init(_ name: some ByteName) { self.init(name.text) }
}
