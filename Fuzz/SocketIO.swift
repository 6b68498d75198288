// Any bytes are a body, a packet or a session's input, or rejected. Accepted ones can be written
// and read again, with the same result; and a session never stores more than its limit.

import ParleyJSON
import ParleySocketIO

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  for generation in EngineGeneration.allCases {
    for packet in EnginePayload.decode(bytes, generation: generation) ?? [] {
      if case .message(let content) = packet { check(content) }
    }
    run(bytes, generation, overWebSocket: true)
    run(bytes, generation, overWebSocket: false)
  }
  check(bytes)
  return 0
}

private func check(_ bytes: [UInt8]) {
  guard let packet = SocketPacket(bytes) else { return }
  guard SocketPacket(packet.engineText.dropFirst()) == packet else {
    fatalError("what was written is read as something else")
  }
  guard packet.kind == .event else { return }
  let numbered = SocketPacket(packet.numbered("x.1").engineText.dropFirst())
  guard numbered?.arguments.last?.string == "x.1", numbered?.eventName == packet.eventName,
    numbered?.arguments.count == packet.arguments.count + 1
  else { fatalError("a place is no argument") }
}

/// Feeds a session with pieces of the input. The first byte of each piece selects the function.
private func run(_ bytes: [UInt8], _ generation: EngineGeneration, overWebSocket: Bool) {
  var settings = SocketSession.Settings()
  settings.queuedBytesMax = 1_000
  var session = SocketSession(
    id: "id", generation: generation, overWebSocket: overWebSocket,
    settings: settings, now: 0)
  var endings = 0
  func look(_ actions: [SocketSession.Action]) {
    for action in actions {
      switch action {
      case .end: endings += 1
      case .entered(let namespace, let credentials) where generation == .four:
        if credentials?.boolean == false {
          look(session.refuse(namespace, message: "no", data: credentials))
        } else {
          look(session.accept(namespace, as: "name", recoveryID: credentials?.string))
        }
      default: break
      }
    }
  }
  look(session.begin())
  var now: Int64 = 0
  for piece in bytes.split(separator: 0, omittingEmptySubsequences: false) {
    now += Int64(piece.count)
    guard let first = piece.first else {
      look(session.poll() ?? [])
      continue
    }
    let rest = piece.dropFirst()
    switch first & 7 {
    case 0: _ = session.beginProbe()
    case 1: look(session.receivedByProbe(rest, now: now) ?? [])
    case 2: look(session.posted(Array(rest), now: now) ?? [])
    case 3: look(session.send(Array(rest)))
    case 4:
      now += 20_000
      look(session.ticked(now: now))
    case 5: session.abandonPoll()
    case 6: session.endProbe()
    default: look(session.received(rest, now: now))
    }
  }
  look(session.end(.closed))
  guard endings == 1, session.hasEnded else { fatalError("ended \(endings) times") }
}
