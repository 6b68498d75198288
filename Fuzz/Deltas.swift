// Any bytes are a Delta of a whole text or a typed error. What was read is written and read again
// as the same text, and every other form of it can be written.

import OTCore
import ParleyRichForms

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  let limits = DeltaLimits(scalarsMax: 500, format: FormatLimits(setsMax: 50, runsMax: 200))
  guard let document = try? RichDocument(delta: bytes, limits: limits) else { return 0 }
  document.checkInvariants()
  do {
    let delta = try document.delta()
    guard try RichDocument(delta: delta) == document else {
      fatalError("a Delta differs when it is read again")
    }
    _ = try document.html()
    _ = try document.markdown()
  } catch {
    fatalError("a form of a small text was refused: \(error)")
  }
  return 0
}
