// Operations and messages, for tests and benchmarks in JavaScript that act as the server.

import OTCore
import SocketMessages

/// Input: two operations in JSON form, then their formats; empty for an operation without format.
/// Output: both operations transformed, with the first one's inserts left, then their formats.
/// Result: -1 on error.
@_expose(wasm, "operation_transform")
@_cdecl("operation_transform")
public func operationTransform(_ count: Int32) -> Int32 {
  var fields = reading(count)
  guard let left = TextOperation(messageJSON: fields.run()),
    let right = TextOperation(messageJSON: fields.run()),
    let leftFormat = try? format(fields.bytes(), of: left),
    let rightFormat = try? format(fields.bytes(), of: right),
    let (leftAfter, rightAfter) = try? RichOperation.transform(leftFormat, rightFormat)
  else { return -1 }
  for operation in [leftAfter, rightAfter] {
    var bytes: [UInt8] = []
    operation.text.appendJSON(to: &bytes)
    door.output.run(bytes)
  }
  for operation in [leftAfter, rightAfter] {
    var bytes: [UInt8] = []
    operation.changeFormat?.appendJSON(to: &bytes)
    door.output.run(bytes)
  }
  return 0
}

private func format(
  _ json: [UInt8], of operation: TextOperation
) throws(OperationError) -> RichOperation {
  json.isEmpty
    ? RichOperation(operation)
    : RichOperation(operation, try ChangeFormat(json: json, of: operation, setsMax: .max))
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
