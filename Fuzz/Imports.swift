// Any bytes, read as a file of each kind, result in notes or problems. A note's text is UTF-8 with
// LF only, its title one line.

import ParleyImporting

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  for path in ["a/b.md", "a.etherpad", "a.json", "a.zip", String(decoding: bytes, as: UTF8.self)] {
    run(bytes, as: path)
  }
  return 0
}

private func run(_ bytes: [UInt8], as path: String) {
  var machine = ImportMachine(limits: ImportLimits(scalarsMax: 10_000))
  machine.begin(path: path, size: Int64(bytes.count))
  while true {
    switch machine.next() {
    case .read(let offset, let count):
      let start = min(max(0, Int(offset)), bytes.count)
      machine.supply(Array(bytes[start..<min(start + count, bytes.count)]))
    case .note(let note):
      guard String(validating: note.text, as: UTF8.self) != nil, !note.text.contains(0x0d),
        !note.title.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }),
        note.folder.utf8.count <= 240
      else { fatalError("a note that the server refuses") }
    case .problem: break
    case .done: return
    }
  }
}
