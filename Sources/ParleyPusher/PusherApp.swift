/// An app of Pusher's protocol: its names, and its signatures.
///
/// The app's secret is in the closures alone.
public struct PusherApp: Sendable {
  /// The public name, in the address of WebSockets.
  public let key: String
  /// The number, in the paths of the HTTP API.
  public let id: String
  /// The beginning of the names of the app's rooms; a channel's name follows it.
  public let roomPrefix: String
  /// Whether subscribers may send events to each other.
  public let allowsClientEvents: Bool
  private let hmacSHA256: @Sendable ([UInt8]) -> [UInt8]
  private let md5: @Sendable ([UInt8]) -> [UInt8]

  /// Makes an app.
  ///
  /// - Parameters:
  ///   - hmacSHA256: The HMAC with SHA-256 of a message under the app's secret.
  ///   - md5: The MD5 of a message.
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

  /// The channel of a room; `nil` for a room that is not the app's.
  public func channel(ofRoom room: String) -> PusherChannel? {
    guard room.utf8.starts(with: roomPrefix.utf8) else { return nil }
    return String(room.utf8.dropFirst(roomPrefix.utf8.count)).flatMap { PusherChannel($0) }
  }

  /// The room of a channel.
  public func room(of channel: PusherChannel) -> String { roomPrefix + channel.name }

  // MARK: Signatures

  /// The signature of a message, in hexadecimal digits.
  public func signature(_ message: [UInt8]) -> String { Self.hexadecimal(hmacSHA256(message)) }

  /// The MD5 of a body, in hexadecimal digits.
  public func digest(_ body: [UInt8]) -> String { Self.hexadecimal(md5(body)) }

  /// The text that is signed for a subscription.
  public static func subscriptionText(
    socketID: String, channel: PusherChannel, channelData: String?
  ) -> String {
    "\(socketID):\(channel.name)" + (channelData.map { ":" + $0 } ?? "")
  }

  /// The text that is signed for a sign-in.
  public static func signInText(socketID: String, userData: String) -> String {
    "\(socketID)::user::\(userData)"
  }

  /// Whether a client shows this app's signature of a text: the key, a colon, and the signature.
  public func accepts(_ auth: String, of text: String) -> Bool {
    let expected = "\(key):\(signature(Array(text.utf8)))"
    return Self.areEqual(expected, auth)
  }

  /// Whether two texts are equal. The time depends on the length of the second one alone.
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
