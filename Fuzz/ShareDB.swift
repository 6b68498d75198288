// Any bytes are a message of ShareDB or none; an operation for other clients is read as the same
// operation, but for its last retain.

import OTCore
import ParleyJSON
import ParleyShareDB

private let note = ShareDBDocument(collection: "notes", id: "n")

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let request = ShareDBRequest.read(bytes, componentsMax: 1_000) else { return 0 }
  switch request {
  case .change(let change, let document):
    guard case .operation(let operation) = change.content else { return 0 }
    let frame = ShareDBFrame.change(
      .operation(operation), of: document, version: 1, source: "s", sequence: 1)
    guard case .change(let again, document)? = ShareDBRequest.read(frame, componentsMax: 1_000),
      case .operation(let known) = again.content
    else { fatalError("an operation cannot be read") }
    var components = operation.components
    if case .retain? = components.last { components.removeLast() }
    guard known.components == components else {
      fatalError("another operation")
    }
  case .presence(let presence):
    guard JSONValue(ShareDBFrame.presence(presence, source: "s")) != nil else {
      fatalError("a presence is no JSON")
    }
  case .documents(let action, let collection, let versions):
    let frame = ShareDBFrame.answer(action, of: collection, versions: versions, results: nil)
    guard JSONValue(frame) != nil else { fatalError("an answer is no JSON") }
  case .handshake, .document, .past, .query, .presenceSubscription, .presenceRequest, .ping,
    .malformed:
    break
  }
  return 0
}
