/// Headers of WebSocket frames, read without checks, so that the null server and its clients do as
/// little as possible. `FrameReader` takes 370 instructions more for each message.
enum FrameCoding {
  /// A frame's head, if it is complete.
  struct Head {
    let opcode: UInt8
    let isFinal: Bool
    let isMasked: Bool
    /// Bytes before the payload, the mask included.
    let length: Int
    let payloadLength: Int
  }

  static func head(_ bytes: UnsafeRawBufferPointer) -> Head? {
    guard bytes.count >= 2 else { return nil }
    let isMasked = bytes[1] & 0x80 != 0
    var length = 2
    var payload = Int(bytes[1] & 0x7f)
    if payload == 126 {
      guard bytes.count >= 4 else { return nil }
      payload = Int(bytes[2]) << 8 | Int(bytes[3])
      length = 4
    } else if payload == 127 {
      guard bytes.count >= 10 else { return nil }
      payload = 0
      for index in 2..<10 { payload = payload << 8 | Int(bytes[index]) }
      length = 10
    }
    if isMasked { length += 4 }
    return Head(
      opcode: bytes[0] & 0x0f, isFinal: bytes[0] & 0x80 != 0, isMasked: isMasked, length: length,
      payloadLength: payload)
  }
}
