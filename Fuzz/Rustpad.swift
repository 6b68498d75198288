// Any bytes are a message of Rustpad or none; an operation for other clients is read as the same
// operation.

import OTCore
import ParleyJSON
import ParleyRustpad

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  switch RustpadMessage(bytes, componentsMax: 1_000) {
  case .edit(let revision, let operation)?:
    let frame = RustpadFrame.history([.init(number: 1, operation: operation)], from: revision)
    let entry = JSONValue(frame)?.value(of: "History")?.value(of: "operations")?.elements?.first
    guard let json = entry?.value(of: "operation"),
      (try? TextOperation(json: json.utf8)) == operation
    else { fatalError("another operation") }
  case .info(let user)?:
    guard JSONValue(RustpadFrame.user(1, user)) != nil else { fatalError("a user is no JSON") }
  case .cursors(let cursors)?:
    guard JSONValue(RustpadFrame.cursors(1, cursors)) != nil else {
      fatalError("cursors are no JSON")
    }
  case .language(let language)?:
    guard JSONValue(RustpadFrame.language(language)) != nil else {
      fatalError("a language is no JSON")
    }
  case nil: break
  }
  return 0
}
