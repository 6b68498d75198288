// Any arguments are an event of ot.js or none; an operation for other clients is read as the same
// operation.

import OTCore
import ParleyJSON
import ParleyOTEvents

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let elements = JSONValue(bytes)?.elements, let name = elements.first?.string,
    let event = OTEvent(name, Array(elements.dropFirst()), componentsMax: 1_000)
  else { return 0 }
  switch event {
  case .operation(let revision, let operation, let selection):
    let frame = OTFrame.operation(operation, by: "s", revision: revision, selection: selection)
    let arguments = Array(frame.arguments.dropFirst())
    guard OTEvent("operation", arguments, componentsMax: 1_000) == event else {
      fatalError("another operation")
    }
  case .selection(let selection):
    guard OTFrame.selection(selection, of: "s").arguments.last == selection else {
      fatalError("another selection")
    }
  case .getOperations: break
  }
  return 0
}
