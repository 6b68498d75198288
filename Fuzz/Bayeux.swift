// Any bytes are valid messages or rejected; a session accepts messages in any order; and the
// channel of each room name maps back to the same room.

import ParleyBayeux
import ParleyJSON

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeBufferPointer(start: start, count: count)
  checkNames(bytes)
  guard let messages = BayeuxMessage.decode(bytes) else { return 0 }
  var settings = BayeuxSession.Settings()
  settings.queuedBytesMax = 500
  var session = BayeuxSession(id: "id", settings: settings, now: 0)
  var endings = 0
  var now: Int64 = 0
  func look(_ actions: [BayeuxSession.Action]) {
    for case .end in actions { endings += 1 }
  }
  for message in messages {
    let reply = BayeuxReply.reply(
      to: message, clientID: message.clientID, error: .invalid(message.channel),
      subscription: message.subscriptions, advice: session.advice)
    guard
      BayeuxMessage.decode(reply)?.first?.channel.utf8.elementsEqual(message.channel.utf8)
        ?? false
    else { fatalError("an answer cannot be read") }
    now += Int64(message.timeout ?? 10_000) & 0xffff
    switch message.channel.utf8.count & 3 {
    case 0: look(session.connect(request: message, now: now))
    case 1: look(session.connect(webSocket: message, now: now))
    case 2: session.interrupted()
    default: look(session.deliver(reply))
    }
    look(session.ticked(now: now))
  }
  look(session.end())
  guard endings == 1 else { fatalError("ended \(endings) times") }
  return 0
}

private func checkNames(_ bytes: UnsafeBufferPointer<UInt8>) {
  guard let room = String(validating: bytes, as: UTF8.self), !room.isEmpty else { return }
  if let channel = BayeuxChannel(room: room) {
    guard channel.room.utf8.elementsEqual(room.utf8), !channel.isPattern,
      BayeuxChannel(channel.text) == channel
    else { fatalError("a room's channel is another room's") }
  }
  if let channel = BayeuxChannel(room) {
    _ = channel.matches(channel)
    if let other = BayeuxChannel(room: channel.room) { _ = other.matches(channel) }
  }
}
