import Gateway
import ParleyCryptoOpenSSL
import ParleyJSON
import ParleyPusher

/// An app of Pusher's protocol, with its back end.
enum PusherShop {
  static let app = make("shop", id: "7")

  /// An app whose secret is its key.
  static func make(_ key: String, id: String) -> PusherApp {
    let secret = AppSecret(Array(key.utf8))
    return PusherApp(
      key: key, id: id, roomPrefix: "pusher/\(id)/", allowsClientEvents: true,
      hmacSHA256: { secret.hmacSHA256($0) }, md5: { AppSecret.md5($0) })
  }

  /// Returns the signed query of a request.
  ///
  /// - Parameters:
  ///   - fields: Further fields, sorted by name. Their names sort after those of the signature.
  ///   - seconds: The time of the signature.
  static func query(
    _ method: String, _ path: String, _ fields: String = "", body: [UInt8] = [],
    at seconds: Int64 = 1_767_225_600
  ) -> String {
    var query = "auth_key=\(app.key)&auth_timestamp=\(seconds)&auth_version=1.0"
    if !body.isEmpty { query += "&body_md5=\(app.digest(body))" }
    if !fields.isEmpty { query += "&" + fields }
    let signature = app.signature(Array("\(method)\n\(path)\n\(query)".utf8))
    return query + "&auth_signature=" + signature
  }
}

/// A client of Pusher's protocol.
struct PusherClient {
  let rig: GatewayRig
  let id: UInt64
  let socketID: String

  init(_ rig: GatewayRig) {
    self.rig = rig
    id = rig.connect(as: .pusher(key: "shop", query: "protocol=7&client=js"))
    let greeting = rig.frames(id).first ?? ""
    let digits = greeting.firstRange(of: "socket_id\\\":\\\"").map {
      greeting[$0.upperBound...].prefix { $0.isNumber || $0 == "." }
    }
    socketID = digits.map { String($0) } ?? ""
  }

  /// Subscribes to a channel and returns the messages sent since.
  func subscribe(_ channel: String, as user: String? = nil) -> [String] {
    let data = user.map { #"{"user_id":"\#($0)","user_info":{"name":"The \#($0)"}}"# }
    let text = "\(socketID):\(channel)" + (data.map { ":" + $0 } ?? "")
    let auth = "shop:" + PusherShop.app.signature(Array(text.utf8))
    var fields: JSONFields = ["channel": JSONValue(channel), "auth": JSONValue(auth)]
    if let data { fields.append(.init("channel_data", JSONValue(data))) }
    rig.say(
      id, #"{"event":"pusher:subscribe","data":\#(String(decoding: fields.json, as: UTF8.self))}"#)
    return rig.frames(id)
  }

  func say(_ event: String, _ channel: String, _ data: String = "{}") {
    rig.say(id, #"{"event":"\#(event)","channel":"\#(channel)","data":\#(data)}"#)
  }
}
