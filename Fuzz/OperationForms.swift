// An operation's three wire formats agree: its JSON by itself, its JSON within a `change`, and the
// two arrays of the Whaler family.

import OTCore
import SocketMessages

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let json = UnsafeBufferPointer(start: start, count: count)
  let operation: TextOperation
  do throws(OperationError) {
    operation = try TextOperation(json: json)
  } catch {
    // Within a message the same bytes may be valid, because they can close braces themselves.
    _ = try? change(holding: json)
    return 0
  }
  do throws(MessageError) {
    guard try change(holding: json) == operation else {
      fatalError("the operation differs when it is read within a change")
    }
    guard try asArrays(operation) == operation else {
      fatalError("through two arrays it is another operation")
    }
  } catch {
    fatalError("by itself it is an operation, within a message it is not: \(error)")
  }
  return 0
}

private let head = Array(
  #"{"messageId":"m","type":"change","data":{"documentId":"d","epoch":"e","revision":0,"sequence":1,"operation":"#
    .utf8)

/// Returns the operation of a message that contains these bytes as its operation.
private func change(
  holding json: UnsafeBufferPointer<UInt8>
) throws(MessageError) -> TextOperation? {
  let frame = head + Array(json) + Array("}}".utf8)
  let message = try read(frame) { bytes throws(MessageError) in
    try ClientMessage.decode(bytes).message
  }
  if case .change(let change) = message { return change.operation }
  return nil
}

/// Returns the operation after encoding and decoding it as two arrays.
private func asArrays(_ operation: TextOperation) throws(MessageError) -> TextOperation? {
  var frame: [UInt8] = []
  WhalerServerMessage.docChangeReturnOps(.init(resourceID: "r", operation: operation))
    .encode(senderID: "s", messageID: "m", into: &frame)
  let message = try read(frame) { bytes throws(MessageError) in
    try WhalerServerMessage.decode(bytes).message
  }
  if case .docChangeReturnOps(let returned) = message { return returned.operation }
  return nil
}

private func read<Message>(
  _ frame: [UInt8], _ decode: (UnsafeRawBufferPointer) throws(MessageError) -> Message
) throws(MessageError) -> Message {
  // An allocation of exactly this size, so that the address sanitizer detects reads beyond it.
  let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: frame.count, alignment: 1)
  defer { bytes.deallocate() }
  bytes.copyBytes(from: frame)
  return try decode(UnsafeRawBufferPointer(bytes))
}
