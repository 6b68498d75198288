// Any bytes are a message, a query or events, or rejected. A connection accepts messages in any
// order and ends exactly once; and an event for other clients is decoded to the same event.

import ParleyJSON
import ParleyPusher

private let app = PusherApp(
  key: "k", id: "7", roomPrefix: "p/", allowsClientEvents: true, hmacSHA256: { _ in [] },
  md5: { _ in [] })

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  let text = String(decoding: bytes, as: UTF8.self)
  if let query = PusherQuery(text) {
    try? query.check("GET", "/apps/7/channels", of: app, at: 0)
  }
  if let event = try? PusherEvent(body: bytes) {
    for channel in event.channels {
      let frame = PusherFrame.event(event.name, channel: channel.name, data: event.data)
      guard frame.count <= PusherMessage.bytesMax else { continue }
      guard PusherMessage(frame)?.channel?.utf8.elementsEqual(channel.name.utf8) ?? false else {
        fatalError("an event cannot be read")
      }
    }
  }
  _ = try? PusherEvent.batch(bytes)
  converse(bytes)
  return 0
}

/// Feeds each line to a session as a message.
private func converse(_ bytes: [UInt8]) {
  var settings = PusherSession.Settings()
  settings.channelsMax = 3
  var session = PusherSession(app: app, socketID: "1.2", settings: settings, now: 0)
  var now: Int64 = 0
  var endings = 0
  func look(_ actions: [PusherSession.Action]) {
    for action in actions {
      switch action {
      case .close: endings += 1
      case .send(let frame):
        guard JSONValue(frame) != nil else { fatalError("an answer is no JSON") }
      case .publish(let event):
        guard PusherMessage(PusherFrame.event(event))?.data == event.data else {
          fatalError("an event for others has other data")
        }
      case .subscribe(let channel, _), .unsubscribe(let channel):
        guard app.channel(ofRoom: app.room(of: channel)) == channel else {
          fatalError("a channel's room is another channel's")
        }
      }
    }
  }
  for line in bytes.split(separator: UInt8(ascii: "\n")) {
    look(session.received(PusherMessage(line), now: now))
    now += Int64(line.count) << 8
    look(session.ticked(now: now))
  }
  look(session.end(with: .draining))
  guard endings == 1 else { fatalError("ended \(endings) times") }
}
