import CParleyOpenSSL
import ParleyGatewayPorts
import ParleyHashing

/// A password as it is kept: hashed by scrypt (RFC 7914) with a salt of its own.
///
/// Written `scrypt$15$8$1$SALT$HASH`: the cost as a power of two, block size, parallelism, and both
/// texts in base64url. 32 MiB and some tens of milliseconds make each guess dear.
///
/// A password is composed (NFC) before it is hashed, as RFC 8265 requires: keyboards write é in one
/// scalar or in two. Case and blanks count.
public struct PasswordHash: Sendable, Hashable {
  private static let blockSize = 8
  private static let hashBytes = 32
  /// Longer passwords are not looked at.
  public static let passwordBytesMax = 1_024

  private let cost: Int
  private let salt: [UInt8]
  private let hash: [UInt8]

  /// Hashes a password.
  ///
  /// - Parameter cost: the power of two of work and memory, from 1 for tests to 17.
  public init(password: String, cost: Int = 15) {
    precondition((1...17).contains(cost), "a cost of \(cost) is out of 1 to 17")
    self.cost = cost
    salt = randomBytes(count: 16)
    hash = Self.derive(password.composed, salt, cost)
  }

  /// Reads a hash; `nil` if it is malformed, or asks for more work than a login may cost.
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

  /// The hash in the form in which it is stored.
  public var text: String {
    "scrypt$\(cost)$\(Self.blockSize)$1$\(Base64.url.encode(salt))$\(Base64.url.encode(hash))"
  }

  /// Whether the password is the one. The time that it takes does not depend on the hash.
  ///
  /// Another program may have hashed the password as it was typed, so its own bytes count too.
  public func matches(_ password: String) -> Bool {
    guard password.utf8.count <= Self.passwordBytesMax else { return false }
    let composed = password.composed
    let isComposed = isHash(of: composed)
    if composed.utf8.elementsEqual(password.utf8) { return isComposed }
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
