import CParleyOpenSSL
public import ParleyGatewayPorts
import ParleyHashing

/// Links with which users choose a new password, once and within an hour. The server stores nothing.
///
/// A token names the user and its end, and is signed together with the user's stored password. So a
/// new password makes all tokens of the user invalid, those that were used and those that were not.
///
///     pr_ + base64url( end: 8 bytes | signature: 32 bytes | user )
public struct PasswordResets: Sendable {
  /// The prefix of every token, by which secret scanners recognise leaked ones.
  public static let prefix = "pr_"
  /// Maximum bytes of a token; longer texts are invalid.
  public static let tokenBytesMax = 400
  /// Milliseconds for which a token is valid.
  public static let lifetimeMilliseconds: Timestamp = 3_600_000

  private static let timeBytes = 8
  private static let signatureBytes = 32
  private let secret: [UInt8]

  /// Creates the rule. The secret has 32 random bytes that all nodes share only for this purpose.
  public init(secret: [UInt8]) {
    precondition(secret.count >= 16, "a secret of \(secret.count) bytes can be guessed; use 32")
    self.secret = secret
  }

  /// Returns a new token.
  ///
  /// - Parameter password: What is stored of the user's present password.
  public func token(user: String, password: String, now: Timestamp) -> String {
    let end = UInt64(bitPattern: now + Self.lifetimeMilliseconds)
    let time = stride(from: 56, through: 0, by: -8).map {
      UInt8(truncatingIfNeeded: end >> UInt64($0))
    }
    return Self.prefix
      + Base64.url.encode(time + signature(time, user, password) + Array(user.utf8))
  }

  /// Returns the user whom a token names, valid or not; `nil` for other texts.
  public static func user(in token: String) -> String? { parts(of: token)?.user }

  /// Whether a token is valid for its user with this stored password.
  public func isValid(_ token: String, password: String, now: Timestamp) -> Bool {
    guard let parts = Self.parts(of: token) else { return false }
    let expected = signature(parts.time, parts.user, password)
    let end = Timestamp(
      truncatingIfNeeded: parts.time.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    return CRYPTO_memcmp(expected, parts.signature, expected.count) == 0 && now < end
  }

  private static func parts(
    of token: String
  ) -> (time: [UInt8], signature: [UInt8], user: String)? {
    guard token.utf8.count <= tokenBytesMax, token.hasPrefix(prefix),
      let bytes = Base64.url.decode(token.dropFirst(prefix.count).utf8),
      bytes.count > timeBytes + signatureBytes,
      let user = String(validating: bytes.dropFirst(timeBytes + signatureBytes), as: UTF8.self)
    else { return nil }
    return (
      Array(bytes.prefix(timeBytes)), Array(bytes.dropFirst(timeBytes).prefix(signatureBytes)), user
    )
  }

  private func signature(_ time: [UInt8], _ user: String, _ password: String) -> [UInt8] {
    // No user's name contains a NUL, so the fields cannot be shifted against each other.
    hmacSHA256(
      secret,
      Array("parley password reset\0".utf8) + time + Array(user.utf8) + [0] + Array(password.utf8))
  }
}
