import CParleyOpenSSL
public import ParleyGatewayPorts

/// Resume tokens by HMAC-SHA256 over the client's id: nothing to store, nothing to look up.
///
/// A token is 64 hexadecimal digits. Another secret makes all earlier tokens invalid.
public struct HMACResumeTokens: ResumeTokens, Sendable {
  // Keeps a token from being of use where the same secret might one day sign something else.
  private static let purpose = "parley resume token\0"

  private let secret: [UInt8]

  /// Signs with this secret, which should be 32 random bytes known to this server alone.
  public init(secret: [UInt8]) {
    precondition(secret.count >= 16, "a secret of \(secret.count) bytes can be guessed; use 32")
    self.secret = secret
  }

  /// The token that proves ownership of a client id.
  public func token(for client: String) -> String {
    let digits = Array("0123456789abcdef".utf8)
    let code = code(for: client)
    return String(unsafeUninitializedCapacity: 64) { buffer in
      for (index, byte) in code.enumerated() {
        buffer[2 * index] = digits[Int(byte >> 4)]
        buffer[2 * index + 1] = digits[Int(byte & 15)]
      }
      return 64
    }
  }

  /// Whether the token is this client's. Takes the same time for every wrong token.
  public func isValid(_ token: String, for client: String) -> Bool {
    let expected = Array(self.token(for: client).utf8)
    let given = Array(token.utf8)
    // A token of another length is compared as well, so that it costs as much as any other.
    let comparable = given.count == expected.count ? given : [UInt8](repeating: 0, count: 64)
    return CRYPTO_memcmp(expected, comparable, expected.count) == 0
  }

  private func code(for client: String) -> [UInt8] {
    hmacSHA256(secret, Array((Self.purpose + client).utf8))
  }
}
