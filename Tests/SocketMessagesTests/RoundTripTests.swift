import OTCore
import ParleyOTWorkloads
import SocketMessages
import Testing

@Suite("Round trips")
struct RoundTripTests {
  private static let seeds: [UInt64] = Array(1...200)

  @Test("encoded messages are decoded unchanged", arguments: seeds)
  func values(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let id = random.text()
    for message in random.clientMessages() {
      let decoded = try decoding({ message.encode(messageID: id, into: &$0) }) {
        bytes throws(MessageError) in try ClientMessage.decode(bytes)
      }
      #expect(decoded.messageID.utf8.elementsEqual(id.utf8))
      #expect(decoded.message == message)
    }
    for message in random.serverMessages() {
      let decoded = try decoding({ message.encode(messageID: id, into: &$0) }) {
        bytes throws(MessageError) in try ServerMessage.decode(bytes)
      }
      // The shortest message goes without a name.
      let name = message.kind == .numberedChanges ? "" : id
      #expect(decoded.messageID.utf8.elementsEqual(name.utf8))
      #expect(decoded.message == message)
    }
    for message in random.whalerClientMessages() {
      let decoded = try decoding({ message.encode(messageID: id, into: &$0) }) {
        bytes throws(MessageError) in try WhalerClientMessage.decode(bytes)
      }
      #expect(decoded.message == message)
    }
    for message in random.whalerServerMessages() {
      let decoded = try decoding({ message.encode(senderID: "S", messageID: id, into: &$0) }) {
        bytes throws(MessageError) in try WhalerServerMessage.decode(bytes)
      }
      #expect(decoded.message == message)
    }
  }

  /// To `String`'s `==` an é and an e with an accent are one; the bytes tell them apart.
  @Test("encoding again gives the same bytes", arguments: Dialect.all)
  func bytes(dialect: Dialect) throws {
    for seed in Self.seeds {
      var random = SplitMix64(seed: seed)
      for bytes in random.encoded(dialect) {
        let decoded = try dialect.decode(bytes)
        #expect(decoded.isKnown)
        #expect(decoded.bytes == bytes, "seed \(seed)")
      }
    }
  }

  @Test("presence that is encoded once for many has the bytes of its message", arguments: seeds)
  func encodedPresence(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for message in random.serverMessages() {
      guard case .presence(let presence) = message else { continue }
      var expected: [UInt8] = []
      message.encode(messageID: "m", into: &expected)
      var bytes: [UInt8] = []
      EncodedPresence(presence).encode(messageID: "m", into: &bytes)
      #expect(bytes == expected)
    }
  }

  private func decoding<Value>(
    _ encode: (inout [UInt8]) -> Void,
    _ decode: (UnsafeRawBufferPointer) throws(MessageError) -> Value
  ) throws(MessageError) -> Value {
    var buffer: [UInt8] = []
    encode(&buffer)
    return try withBytes(of: buffer, decode)
  }
}
