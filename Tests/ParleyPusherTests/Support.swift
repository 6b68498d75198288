import ParleyCryptoOpenSSL
import ParleyJSON
import ParleyPusher

/// The app of the examples in the documentation of Pusher's protocol.
func exampleApp(allowsClientEvents: Bool = true) -> PusherApp {
  let secret = AppSecret(Array("7ad3773142a6692b25b8".utf8))
  return PusherApp(
    key: "278d425bdf160c739803", id: "3", roomPrefix: "pusher/3/",
    allowsClientEvents: allowsClientEvents, hmacSHA256: { secret.hmacSHA256($0) },
    md5: { AppSecret.md5($0) })
}

/// Actions in a form that is read at a glance.
func described(_ actions: [PusherSession.Action]) -> [String] {
  actions.map { action in
    switch action {
    case .send(let bytes): String(decoding: bytes, as: UTF8.self)
    case .subscribe(let channel, let member):
      "subscribe \(channel.name)" + (member.map { " as \($0.userID)" } ?? "")
    case .unsubscribe(let channel): "unsubscribe \(channel.name)"
    case .publish(let event):
      "publish \(event.event) \(event.channel.name) \(String(decoding: event.data.utf8, as: UTF8.self))"
        + (event.userID.map { " by \($0)" } ?? "")
    case .close(let error): "close \(error.code)"
    }
  }
}

/// A connection with the socket id of the published examples.
struct Client {
  var session: PusherSession
  let app: PusherApp

  init(_ app: PusherApp = exampleApp(), channelsMax: Int = 64) {
    var settings = PusherSession.Settings()
    settings.channelsMax = channelsMax
    self.app = app
    session = PusherSession(app: app, socketID: "1234.1234", settings: settings, now: 0)
  }

  /// The actions that follow from a message.
  mutating func say(_ message: String, at now: Int64 = 0) -> [String] {
    described(session.received(PusherMessage(message.utf8), now: now))
  }

  /// The app's signature for this connection.
  func auth(_ channel: String, _ channelData: String? = nil) -> String {
    let text = "1234.1234:\(channel)" + (channelData.map { ":" + $0 } ?? "")
    return "\(app.key):\(app.signature(Array(text.utf8)))"
  }

  mutating func subscribe(_ channel: String, _ channelData: String? = nil) -> [String] {
    let data = channelData.map { #","channel_data":\#(quoted($0))"# } ?? ""
    return say(
      #"{"event":"pusher:subscribe","data":{"channel":\#(quoted(channel)),"auth":"\#(auth(channel, channelData))"\#(data)}}"#
    )
  }
}

func quoted(_ text: String) -> String { String(decoding: JSONValue(text).utf8, as: UTF8.self) }
