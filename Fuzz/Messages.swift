// Any bytes result in a message or a typed error, in each of the four directions. An accepted
// message can be written and read again, with the same bytes.

import SocketMessages

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  for direction in Direction.allCases { direction.check(bytes) }
  return 0
}

/// The sender of a message, and its dialect.
private enum Direction: CaseIterable {
  case client
  case server
  case whalerClient
  case whalerServer

  func check(_ bytes: UnsafeRawBufferPointer) {
    let first: [UInt8]?
    do throws(MessageError) {
      first = try again(bytes)
    } catch {
      guard error.code == .badMessage || error.code == .badOperation else {
        fatalError("\(self): a decoder gave the code \(error.code)")
      }
      return
    }
    // A second check: no message contains invalid UTF-8, not even in an unread field.
    guard String(validating: bytes, as: UTF8.self) != nil else {
      fatalError("\(self): no UTF-8, and yet a message")
    }
    guard let first else { return }
    first.withUnsafeBytes { written in
      do throws(MessageError) {
        guard try again(written) == first else { fatalError("\(self): written twice, it differs") }
      } catch {
        fatalError("\(self): what was written cannot be read: \(error)")
      }
    }
  }

  /// Reads a message and writes it again; `nil` if its type is unknown.
  private func again(_ bytes: UnsafeRawBufferPointer) throws(MessageError) -> [UInt8]? {
    var buffer: [UInt8] = []
    switch self {
    case .client:
      let (id, message) = try ClientMessage.decode(bytes)
      message.encode(messageID: id, into: &buffer)
    case .server:
      let (id, message) = try ServerMessage.decode(bytes)
      message.encode(messageID: id, into: &buffer)
    case .whalerClient:
      let (id, message) = try WhalerClientMessage.decode(bytes)
      message.encode(messageID: id, into: &buffer)
    case .whalerServer:
      let (id, message) = try WhalerServerMessage.decode(bytes)
      message.encode(senderID: "s", messageID: id, into: &buffer)
    }
    // Unknown messages cannot be written, so the buffer is empty.
    return buffer.isEmpty ? nil : buffer
  }
}
