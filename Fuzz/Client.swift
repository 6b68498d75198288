// A server may send anything, and a connection may break anywhere: the client core handles it. The
// text shown contains what was typed last, unless a complete message of the server has replaced the
// text.
//
// An input consists of lines: a line that begins with `!` is an event of the connection or the
// user, any other line is a message.

import OTCore
import ParleyClientCore

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeBufferPointer(start: start, count: count)
  var session = Session()
  for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true) {
    session.take(line)
  }
  return 0
}

/// A client whose server is played by the input.
private struct Session {
  private var machine = ClientMachine(settings: ClientSettings(name: "Ann"), claim: nil, seed: 1)
  private var now: Int64 = 0
  private var wakeAt: Int64?

  init() {
    handle(.start)
    handle(.opened)
    handle(.note("n", .open(nil)))
  }

  mutating func take(_ line: Slice<UnsafeBufferPointer<UInt8>>) {
    now += 10
    guard line.first == UInt8(ascii: "!") else {
      handle(.received(Array(line)))
      return
    }
    let argument = line.dropFirst(2).first ?? 0
    switch line.dropFirst().first {
    case UInt8(ascii: "o"): handle(.opened)
    case UInt8(ascii: "c"): handle(.closed(code: argument & 1 == 0 ? 1006 : 4507))
    case UInt8(ascii: "w"):
      now = max(now, wakeAt ?? now)
      handle(.wake)
    case UInt8(ascii: "t"): type(at: Int(argument))
    case UInt8(ascii: "d"): handle(.note("n", .discard))
    case UInt8(ascii: "r"): handle(.note("n", .retryRefused))
    case UInt8(ascii: "k"): handle(.note("n", .kept(took: Int64(argument))))
    case UInt8(ascii: "f"): handle(.note("n", .keepFailed))
    case UInt8(ascii: "l"): handle(.note("n", .leave))
    case UInt8(ascii: "n"): handle(.note("n", .open(nil)))
    case UInt8(ascii: "s"): handle(.room("r", .subscribe(isPresent: true, from: nil)))
    default: handle(.reachable)
    }
  }

  private mutating func type(at place: Int) {
    guard let text = machine.document(of: "n") else { return }
    let place = min(place, text.scalarCount)
    var operation = TextOperation()
    operation.retain(place)
    operation.insert("\u{2603}")
    operation.retain(text.scalarCount - place)
    handle(.note("n", .edit(operation)))
    guard let after = machine.document(of: "n"), after.scalarCount == text.scalarCount + 1 else {
      fatalError("a typed letter is not on the screen")
    }
  }

  private mutating func handle(_ event: ClientEvent) {
    for action in machine.handle(event, now: now) {
      if case .wake(let time) = action { wakeAt = time }
    }
  }
}
