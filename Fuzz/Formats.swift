// Any bytes are a format of an operation, a format of a text, or a typed error. What was read is
// written and read again as the same format, and applies.

import OTCore

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let json = Array(UnsafeBufferPointer(start: start, count: count))
  checkOperation(json)
  checkDocument(json)
  return 0
}

/// `=3 -2 +a\u{fffc}é =4`
private let text: TextOperation = {
  var text = TextOperation()
  text.retain(3)
  text.delete(2)
  text.insert("a\u{fffc}é")
  text.retain(4)
  return text
}()

private func checkOperation(_ json: [UInt8]) {
  guard let operation = try? RichOperation(text: text, formatJSON: json) else { return }
  guard let format = operation.format else { return }
  var written: [UInt8] = []
  format.appendJSON(to: &written)
  guard (try? RichOperation(text: text, formatJSON: written)) == operation else {
    fatalError("a format differs when it is read again")
  }
  var document = RichDocument(Document("123456789"))
  do {
    let before = document
    try document.apply(operation)
    document.checkInvariants()
    try document.apply(operation.inverted(on: before))
    guard document == before else { fatalError("a format is not undone") }
  } catch {
    fatalError("a format does not apply: \(error)")
  }
}

private func checkDocument(_ json: [UInt8]) {
  let text = Document("a\u{fffc}é4567")
  guard let document = try? RichDocument(text, formatJSON: json) else { return }
  document.checkInvariants()
  var written: [UInt8] = []
  document.appendFormatJSON(to: &written)
  guard (try? RichDocument(text, formatJSON: written)) == document else {
    fatalError("runs differ when they are read again")
  }
}
