import CParleyOpenSSL
public import ParleyGatewayPorts

/// Resume tokens by HMAC-SHA256 of the client's id, which need no storage.
///
/// A token has 64 hexadecimal digits. If the secret changes, all earlier tokens become invalid.
public struct HMACResumeTokens: ResumeTokens, Sendable {
  // Ensures that no other signature with the same secret is a valid resume token.
  private static let purpose = "parley resume token\0"

  private let secret: [UInt8]

  /// Signs with this secret, which should be 32 random bytes that only this server knows.
  public init(secret: [UInt8]) {
    precondition(secret.count >= 16, "a secret of \(secret.count) bytes can be guessed; use 32")
    self.secret = secret
  }

  /// Returns the token that proves ownership of a client id.
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

  /// Whether the token belongs to the client. Takes the same time for every wrong token.
  public func isValid(_ token: String, for client: String) -> Bool {
    let expected = Array(self.token(for: client).utf8)
    let given = Array(token.utf8)
    // Compare even a token of another length, so that the time does not reveal the length.
    let comparable = given.count == expected.count ? given : [UInt8](repeating: 0, count: 64)
    return CRYPTO_memcmp(expected, comparable, expected.count) == 0
  }

  private func code(for client: String) -> [UInt8] {
    hmacSHA256(secret, Array((Self.purpose + client).utf8))
  }
}
