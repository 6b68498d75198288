import CParleyOpenSSL
import ParleyGatewayPorts
import ParleyHashing
import ParleyJSON

/// A stored password, hashed by scrypt (RFC 7914) with a random salt.
///
/// The text is `scrypt$15$8$1$SALT$HASH`: cost as a power of two, block size, parallelism, salt and
/// hash in base64url. The default cost makes each guess take 32 MiB and some tens of milliseconds.
///
/// A password is normalized to NFC before hashing, as RFC 8265 requires, since keyboards write é as
/// one scalar or as two. Case and spaces are significant.
public struct PasswordHash: Sendable, Hashable {
  private static let blockSize = 8
  private static let hashBytes = 32
  /// The maximum length of a password in bytes; longer ones never match.
  public static let passwordBytesMax = 1_024

  private let cost: Int
  private let salt: [UInt8]
  private let hash: [UInt8]

  /// Hashes a password.
  ///
  /// - Parameter cost: The exponent of work and memory, from 1 for tests to 17.
  public init(password: String, cost: Int = 15) {
    precondition((1...17).contains(cost), "a cost of \(cost) is out of 1 to 17")
    self.cost = cost
    salt = randomBytes(count: 16)
    hash = Self.derive(password.composed, salt, cost)
  }

  /// Parses a hash; `nil` if it is malformed, or if its cost exceeds the maximum.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "$", omittingEmptySubsequences: false)
    guard parts.count == 6, parts[0] == "scrypt", let cost = Int(parts[1]),
      (1...17).contains(cost), parts[2] == "8", parts[3] == "1",
      let salt = Base64.url.decode(parts[4].utf8), salt.count >= 8,
      let hash = Base64.url.decode(parts[5].utf8), hash.count == Self.hashBytes
    else { return nil }
    self.cost = cost
    self.salt = salt
    self.hash = hash
  }

  /// The hash in its stored form.
  public var text: String {
    "scrypt$\(cost)$\(Self.blockSize)$1$\(Base64.url.encode(salt))$\(Base64.url.encode(hash))"
  }

  /// Whether the password matches. The time does not depend on the hash.
  ///
  /// Also tries the original bytes, which another program may have hashed without normalization.
  public func matches(_ password: String) -> Bool {
    guard password.utf8.count <= Self.passwordBytesMax else { return false }
    let composed = password.composed
    let isComposed = isHash(of: composed)
    if composed.isExactly(password) { return isComposed }
    let isTyped = isHash(of: password)
    return isComposed || isTyped
  }

  private func isHash(of password: String) -> Bool {
    let other = Self.derive(password, salt, cost)
    return CRYPTO_memcmp(hash, other, hash.count) == 0
  }

  /// A dummy hash for unknown users, so that timing does not reveal which users exist.
  public static let ofNobody = PasswordHash(password: "")

  private static func derive(_ password: String, _ salt: [UInt8], _ cost: Int) -> [UInt8] {
    let password = Array(password.utf8)
    return [UInt8](unsafeUninitializedCapacity: hashBytes) { buffer, initializedCount in
      let isDone = password.withUnsafeBytes { bytes in
        EVP_PBE_scrypt(
          bytes.baseAddress?.assumingMemoryBound(to: CChar.self) ?? nil, bytes.count, salt,
          salt.count, UInt64(1) << cost, UInt64(blockSize), 1, 2_000_000_000,
          buffer.baseAddress, hashBytes)
      }
      guard isDone == 1 else {
        fatalError("OpenSSL failed to hash a password; the machine is out of memory")
      }
      initializedCount = hashBytes
    }
  }
}
