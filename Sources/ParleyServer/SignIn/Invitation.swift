import CryptoOpenSSL
package import GatewayPorts
import Hashing

/// An invitation, with which a person becomes a user: a line of a file.
///
///     k3v9 sha256:9f86d0… uses:5 until:1763712000000 document:*=read,write
///
/// Tokens are random and long, so that a plain hash of one cannot be guessed back.
package struct Invitation: Sendable, Equatable {
  /// The name by which it is listed and withdrawn; it opens nothing.
  package var id: String
  /// The hash of its token.
  package var hash: String
  /// The number of people who may still use it.
  package var uses: Int
  /// Whether it was withdrawn.
  package var isWithdrawn = false
  /// The time from which on it can no longer be used.
  package var until: Timestamp
  /// The rights of its users, as in the file of users.
  package var rights: [String]

  /// The most people that one invitation lets in.
  package static let usesMax = 1_000
  /// The prefix of every token, by which scanners find leaked ones.
  package static let prefix = "pi_"
  /// Longer texts are no tokens.
  package static let tokenBytesMax = 200
  /// Milliseconds after its time for which an invitation is remembered.
  private static let memoryMilliseconds: Timestamp = 30 * 86_400_000

  /// Reasons why an invitation no longer lets people in.
  package enum Ending: Sendable, Equatable {
    /// Used by as many people as it was made for.
    case usedUp
    /// It was withdrawn.
    case withdrawn
    /// Its time is over.
    case expired
  }

  /// Makes an invitation.
  package init(token: String, id: String, uses: Int, until: Timestamp, rights: [String]) {
    self.id = id
    hash = Self.hash(of: token)
    self.uses = uses
    self.until = until
    self.rights = rights
  }

  /// A new token.
  package static func newToken() -> String { prefix + RandomNames().next() }

  /// The hash by which a token is known.
  static func hash(of token: String) -> String {
    SHA256().hash(Array(token.utf8)).bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
      .joined()
  }

  /// The reason why it no longer lets people in; `nil` while it does.
  package func ending(at now: Timestamp) -> Ending? {
    if isWithdrawn { return .withdrawn }
    if uses < 1 { return .usedUp }
    return now < until ? nil : .expired
  }

  /// Whether it still lets people in.
  package func counts(at now: Timestamp) -> Bool { ending(at: now) == nil }

  /// Whether it is kept, so that the page can say why a former one has ended.
  func isRemembered(at now: Timestamp) -> Bool { now < until + Self.memoryMilliseconds }

  // MARK: The line

  private static let withdrawnWord = "withdrawn"

  /// The line as it is written.
  var text: String {
    let uses = isWithdrawn ? Self.withdrawnWord : "\(uses)"
    return ([id, "sha256:\(hash)", "uses:\(uses)", "until:\(until)"] + rights)
      .joined(separator: " ")
  }

  /// Reads a line; `nil` if it is malformed.
  init?(_ line: Substring) {
    let words = line.split(separator: " ").map(String.init)
    guard words.count >= 4, words[1].hasPrefix("sha256:"), words[2].hasPrefix("uses:"),
      words[3].hasPrefix("until:"), let until = Timestamp(words[3].dropFirst(6))
    else { return nil }
    isWithdrawn = words[2].dropFirst(5) == Self.withdrawnWord
    guard let uses = isWithdrawn ? 0 : Int(words[2].dropFirst(5)) else { return nil }
    id = words[0]
    hash = String(words[1].dropFirst(7))
    self.uses = uses
    self.until = until
    rights = Array(words.dropFirst(4))
  }
}
