import ParleyCryptoOpenSSL
import ParleyGatewayPorts
import ParleyPusher

/// An app of Pusher's protocol in the form of the settings: its key, and words after it.
///
///     a1b2c3 id:7 secret-file:/etc/parley/shop origin:https://shop.example.org client-events:yes
///
/// A blank or a semicolon within a word is written `%20` or `%3B`, a percent sign `%25`.
struct PusherProfile: Sendable {
  typealias Problem = IssuerProfile.Problem

  let key: String
  private(set) var id = ""
  private(set) var roomPrefix = ""
  private var secretPath = ""
  private var origins: [String] = []
  private var allowsClientEvents = false

  private static let known = ["id", "secret-file", "origin", "client-events", "rooms"]

  /// Reads a profile.
  init(_ text: String) throws(Problem) {
    let words = text.split { $0 == " " || $0 == "\t" }
    guard let name = words.first, name.utf8.count <= 64, name.utf8.allSatisfy(Self.isOfKey) else {
      throw Problem("a key of letters, digits, - and _, and then words such as secret-file:FILE")
    }
    key = String(name)
    var seen: Set<String> = []
    for word in words.dropFirst() {
      guard let colon = word.utf8.firstIndex(of: UInt8(ascii: ":")),
        let value = LineText.unescaped(word[word.utf8.index(after: colon)...]), !value.isEmpty
      else { throw Problem("words such as secret-file:FILE after the key; \(key) has another") }
      let word = String(word[..<colon])
      guard seen.insert(word).inserted || word == "origin" else {
        throw Problem("\(word) once; \(key) contains it twice")
      }
      try read(word, value)
    }
    guard !id.isEmpty, !secretPath.isEmpty else {
      throw Problem("id:NUMBER and secret-file:FILE after the key; \(key) lacks one")
    }
    if roomPrefix.isEmpty { roomPrefix = "pusher/\(id)/" }
  }

  private static func isOfKey(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private mutating func read(_ word: String, _ value: String) throws(Problem) {
    switch word {
    case "id":
      guard value.utf8.count <= 20, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
        throw Problem("id: a number of at most 20 digits")
      }
      id = value
    case "secret-file": secretPath = value
    case "origin":
      guard ValueText.isOrigin(value) else {
        throw Problem("origin: such as https://shop.example.org")
      }
      origins.append(value)
    case "client-events":
      guard let yes = ValueText.bool(value) else { throw Problem("client-events: yes or no") }
      allowsClientEvents = yes
    case "rooms":
      // A channel's name has neither of these bytes, so no channel of one app is a room of another, or of
      // the server's own.
      guard value.utf8.count <= 64, value.last == "/" || value.last == ":", value.first != "/"
      else {
        throw Problem(
          "rooms: the beginning of rooms' names, which ends with / or : and does not begin with /")
      }
      roomPrefix = value
    default:
      throw Problem("\(Self.known.joined(separator: ":, ")): after the key; got \(word):")
    }
  }

  /// The pages whose clients may connect; all, if no page is named.
  var originPolicy: OriginPolicy { OriginPolicy(allowed: origins.isEmpty ? ["*"] : origins) }

  /// The app, with its secret.
  ///
  /// - Throws: `JWTKeyError` for a file that holds no usable secret.
  func app() throws(JWTKeyError) -> PusherApp {
    let secret = try AppSecret(path: secretPath)
    return PusherApp(
      key: key, id: id, roomPrefix: roomPrefix, allowsClientEvents: allowsClientEvents,
      hmacSHA256: { secret.hmacSHA256($0) }, md5: { AppSecret.md5($0) })
  }
}
