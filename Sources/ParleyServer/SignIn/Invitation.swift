import ParleyCryptoOpenSSL
package import ParleyGatewayPorts
import ParleyHashing

/// An invitation to become a user, stored as a line of a file.
///
///     k3v9 sha256:9f86d0… uses:5 until:1763712000000 document:*=read,write
///
/// Tokens are long and random, so they cannot be guessed from a plain hash.
package struct Invitation: Sendable, Equatable {
  /// The id by which operators list and withdraw the invitation; it is not secret.
  package var id: String
  /// The hash of the token.
  package var hash: String
  /// The number of remaining uses.
  package var uses: Int
  /// Whether the invitation was withdrawn.
  package var isWithdrawn = false
  /// The time at which the invitation expires.
  package var until: Timestamp
  /// The rights of users who join with it, as in the file of users.
  package var rights: [String]

  /// Maximum uses of one invitation.
  package static let usesMax = 1_000
  /// The prefix of every token, by which secret scanners recognise leaked ones.
  package static let prefix = "pi_"
  /// Maximum bytes of a token; longer texts are invalid.
  package static let tokenBytesMax = 200
  /// Milliseconds after its expiry for which an invitation is remembered.
  private static let memoryMilliseconds: Timestamp = 30 * 86_400_000

  /// The reason why an invitation is no longer valid.
  package enum Ending: Sendable, Equatable {
    /// All uses have been taken.
    case usedUp
    /// An operator withdrew it.
    case withdrawn
    /// It has expired.
    case expired
  }

  /// Creates an invitation.
  package init(token: String, id: String, uses: Int, until: Timestamp, rights: [String]) {
    self.id = id
    hash = Self.hash(of: token)
    self.uses = uses
    self.until = until
    self.rights = rights
  }

  /// Returns a new random token.
  package static func newToken() -> String { prefix + RandomNames().next() }

  /// Returns the hash that is stored instead of a token.
  static func hash(of token: String) -> String {
    SHA256().hash(Array(token.utf8)).bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
      .joined()
  }

  /// Returns the reason why the invitation is no longer valid; `nil` if it is valid.
  package func ending(at now: Timestamp) -> Ending? {
    if isWithdrawn { return .withdrawn }
    if uses < 1 { return .usedUp }
    return now < until ? nil : .expired
  }

  /// Whether the invitation is valid.
  package func counts(at now: Timestamp) -> Bool { ending(at: now) == nil }

  /// Whether the invitation is still stored, so that the page can report why it is no longer valid.
  func isRemembered(at now: Timestamp) -> Bool { now < until + Self.memoryMilliseconds }

  // MARK: The line

  private static let withdrawnWord = "withdrawn"

  /// The line, as written in the file.
  var text: String {
    let uses = isWithdrawn ? Self.withdrawnWord : "\(uses)"
    return ([id, "sha256:\(hash)", "uses:\(uses)", "until:\(until)"] + rights)
      .joined(separator: " ")
  }

  /// Parses a line; `nil` if it is malformed.
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
