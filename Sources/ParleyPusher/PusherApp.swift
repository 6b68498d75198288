/// An app of the Pusher protocol: its identifiers and signatures.
///
/// Only the closures contain the app's secret.
public struct PusherApp: Sendable {
  /// The public key, contained in the URL of WebSockets.
  public let key: String
  /// The app's id, contained in the paths of the HTTP API.
  public let id: String
  /// The prefix of the app's rooms. A channel's name follows it.
  public let roomPrefix: String
  /// Whether subscribers may send events to each other (client events).
  public let allowsClientEvents: Bool
  private let hmacSHA256: @Sendable ([UInt8]) -> [UInt8]
  private let md5: @Sendable ([UInt8]) -> [UInt8]

  /// Creates an app.
  ///
  /// - Parameters:
  ///   - hmacSHA256: Returns the HMAC-SHA-256 of a message with the app's secret.
  ///   - md5: Returns the MD5 of a message.
  public init(
    key: String, id: String, roomPrefix: String, allowsClientEvents: Bool,
    hmacSHA256: @escaping @Sendable ([UInt8]) -> [UInt8],
    md5: @escaping @Sendable ([UInt8]) -> [UInt8]
  ) {
    self.key = key
    self.id = id
    self.roomPrefix = roomPrefix
    self.allowsClientEvents = allowsClientEvents
    self.hmacSHA256 = hmacSHA256
    self.md5 = md5
  }

  /// Returns the channel of a room; `nil` for a room that does not belong to the app.
  public func channel(ofRoom room: String) -> PusherChannel? {
    guard room.utf8.starts(with: roomPrefix.utf8) else { return nil }
    return String(room.utf8.dropFirst(roomPrefix.utf8.count)).flatMap { PusherChannel($0) }
  }

  /// Returns the room of a channel.
  public func room(of channel: PusherChannel) -> String { roomPrefix + channel.name }

  // MARK: Signatures

  /// Returns the signature of a message, in hexadecimal digits.
  public func signature(_ message: [UInt8]) -> String { Self.hexadecimal(hmacSHA256(message)) }

  /// Returns the MD5 of a body, in hexadecimal digits.
  public func digest(_ body: [UInt8]) -> String { Self.hexadecimal(md5(body)) }

  /// Returns the text that an app signs for a subscription.
  public static func subscriptionText(
    socketID: String, channel: PusherChannel, channelData: String?
  ) -> String {
    "\(socketID):\(channel.name)" + (channelData.map { ":" + $0 } ?? "")
  }

  /// Returns the text that an app signs for a sign-in.
  public static func signInText(socketID: String, userData: String) -> String {
    "\(socketID)::user::\(userData)"
  }

  /// Whether a client's `auth` is valid for a text: the key, a colon, and the signature.
  public func accepts(_ auth: String, of text: String) -> Bool {
    let expected = "\(key):\(signature(Array(text.utf8)))"
    return Self.areEqual(expected, auth)
  }

  /// Whether two texts are equal. The time depends only on the length of the second text.
  static func areEqual(_ expected: String, _ given: String) -> Bool {
    let (one, other) = (Array(expected.utf8), Array(given.utf8))
    var difference = one.count ^ other.count
    for (index, byte) in other.enumerated() {
      difference |= Int(byte ^ (index < one.count ? one[index] : 0))
    }
    return difference == 0
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
