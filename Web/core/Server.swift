// Operations and messages, for tests and benchmarks in JavaScript that act as the server.

import OTCore
import SocketMessages

/// Input: two operations in JSON form. Output: both transformed, with the first one's inserts left.
/// Result: -1 on error.
@_expose(wasm, "operation_transform")
@_cdecl("operation_transform")
public func operationTransform(_ count: Int32) -> Int32 {
  var fields = reading(count)
  guard let left = TextOperation(messageJSON: fields.run()),
    let right = TextOperation(messageJSON: fields.run()),
    let (leftAfter, rightAfter) = try? TextOperation.transform(left, right)
  else { return -1 }
  for operation in [leftAfter, rightAfter] {
    var bytes: [UInt8] = []
    operation.appendJSON(to: &bytes)
    door.output.run(bytes)
  }
  return 0
}

/// Input: an operation in JSON form, then a text. Output: the text after it. Result: -1 on error.
@_expose(wasm, "operation_apply")
@_cdecl("operation_apply")
public func operationApply(_ count: Int32) -> Int32 {
  var fields = reading(count)
  guard let operation = TextOperation(messageJSON: fields.run()),
    var text = try? Document(utf8: fields.run()), (try? text.apply(operation)) != nil
  else { return -1 }
  text.forEachChunk { door.output.bytes.append(contentsOf: $0) }
  return 0
}

/// Input: a server's message. Result: 1 if this client can decode it, 0 if its type is unknown, -1
/// if it is malformed.
@_expose(wasm, "message_check")
@_cdecl("message_check")
public func messageCheck(_ count: Int32) -> Int32 {
  var fields = reading(count)
  let message = try? ServerMessage.decode(UnsafeRawBufferPointer(fields.run()))
  guard let message = message?.message else { return -1 }
  if case .unknown = message { return 0 }
  return 1
}
