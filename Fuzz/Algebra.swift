// Any bytes, read as operations on a text, have the same results as in the reference: applied,
// composed, transformed, rebased, inverted, with cursors. Operations of wrong lengths are rejected.

import OTCore
import ParleyOTWorkloads

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var input = Input(bytes: UnsafeBufferPointer(start: start, count: count))
  let text = input.text(scalars: Int(input.next()) % 24)
  let length = text.unicodeScalars.count
  let a = input.operation(on: length)
  let b = input.operation(on: length)
  let next = input.operation(on: a.targetLength)
  var history: [TextOperation] = []
  for _ in 0..<Int(input.next()) % 6 {
    history.append(input.operation(on: history.last?.targetLength ?? length))
  }
  let cursors = (0..<9).map { _ in Int(input.next()) % (length + 1) }
  do {
    try OracleCase(text: text, a: a, b: b, next: next, history: history, cursors: cursors).check()
  } catch {
    fatalError("\(error)")
  }
  refuse(a, next, text)
  return 0
}

/// Checks that operations whose lengths do not match are rejected without effect.
private func refuse(_ a: TextOperation, _ b: TextOperation, _ text: String) {
  guard a.baseLength != b.baseLength else { return }
  var document = Document(text)
  let before = document
  guard (try? TextOperation.transform(a, b)) == nil,
    (try? a.transformed(over: b, side: .left)) == nil,
    (try? a.rebased(over: [b], side: .right)) == nil,
    (try? document.apply(b)) == nil, document == before,
    (try? b.inverted(on: document)) == nil
  else { fatalError("operations of mismatching lengths were accepted") }
  guard (try? b.composed(with: a)) == nil || b.targetLength == a.baseLength else {
    fatalError("operations of mismatching lengths were composed")
  }
}

/// Bytes from the input; zeros after its end.
private struct Input {
  let bytes: UnsafeBufferPointer<UInt8>
  private var offset = 0

  private static let scalars: [Unicode.Scalar] = [
    "a", "b", "\n", "\r", "\u{0}", "é", "\u{301}", "ß", "\u{7ff}", "\u{800}", "中", "\u{200d}",
    "\u{ffff}", "😀", "🏽", "\u{10ffff}",
  ]

  init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  mutating func next() -> UInt8 {
    guard offset < bytes.count else { return 0 }
    defer { offset += 1 }
    return bytes[offset]
  }

  mutating func text(scalars count: Int) -> String {
    var text = String.UnicodeScalarView()
    for _ in 0..<count { text.append(Self.scalars[Int(next() & 15)]) }
    return String(text)
  }

  /// Returns an operation. Each byte is a component: two bits are its kind, six its length; 0 ends
  /// the operation.
  mutating func operation(on length: Int) -> TextOperation {
    var operation = TextOperation()
    var left = length
    while true {
      let byte = next()
      if byte == 0 { break }
      let count = Int(byte >> 2)
      switch byte & 3 {
      case 0:
        operation.retain(min(left, count))
        left -= min(left, count)
      case 1:
        operation.delete(min(left, count))
        left -= min(left, count)
      default: operation.insert(text(scalars: count % 24))
      }
    }
    operation.retain(left)
    return operation
  }
}
