import CParleyOpenSSL
import ParleyHashing

/// A key and its only algorithm, which verifies or creates signatures.
struct JWTKey: Sendable {
  enum Material: Sendable {
    case secret([UInt8])
    case asymmetric(EVPKey)
  }

  /// The key id, if the key has one.
  let id: String?
  let algorithm: JWTAlgorithm
  private let material: Material

  /// The minimum size of RSA keys in bits (RFC 7518, section 3.3).
  static let rsaBitsMin = 2048
  /// The default minimum length of secrets in bytes: the length of the hash (RFC 7518, section
  /// 3.2). An issuer profile may allow shorter secrets.
  package static let secretBytesMin = 32

  /// Creates a key from an OpenSSL key.
  ///
  /// - Parameter file: The file's path, for errors.
  init(id: String?, _ key: EVPKey, file: String) throws(JWTKeyError) {
    guard let algorithm = key.algorithm else { throw .unsupported(file: file) }
    guard algorithm != .rs256 || key.bits >= Self.rsaBitsMin else {
      throw .weak(file: file, expected: "an RSA key of at least \(Self.rsaBitsMin) bits")
    }
    self.id = id
    self.algorithm = algorithm
    material = .asymmetric(key)
  }

  /// Creates a key from a shared secret.
  ///
  /// - Parameter bytesMin: The minimum length of the secret.
  init(
    id: String?, secret: [UInt8], file: String, bytesMin: Int = secretBytesMin
  ) throws(JWTKeyError) {
    guard secret.count >= bytesMin else {
      throw .weak(file: file, expected: "a secret of at least \(bytesMin) bytes")
    }
    self.id = id
    algorithm = .hs256
    material = .secret(secret)
  }

  /// Whether a signature is valid. Takes the same time for every wrong HMAC.
  func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    switch material {
    case .secret(let secret):
      let expected = hmacSHA256(secret, message)
      return signature.count == expected.count
        && CRYPTO_memcmp(expected, signature, expected.count) == 0
    case .asymmetric(let key): return key.verifies(signature, of: message, algorithm)
    }
  }

  /// Whether the key is a secret below the default minimum length.
  var isShort: Bool {
    if case .secret(let secret) = material { secret.count < Self.secretBytesMin } else { false }
  }

  /// Whether both keys verify the same signatures.
  func isSame(as other: JWTKey) -> Bool {
    switch (material, other.material) {
    case (.secret(let one), .secret(let two)): Self.padded(one) == Self.padded(two)
    case (.asymmetric(let one), .asymmetric(let two)): one.isSame(as: two)
    case (.secret, .asymmetric), (.asymmetric, .secret): false
    }
  }

  /// Returns a secret as HMAC uses it: hashed if it is longer than a block, then padded with zeros
  /// (RFC 2104, section 2).
  private static func padded(_ secret: [UInt8]) -> [UInt8] {
    let block = 64
    let bytes = secret.count > block ? SHA256().hash(secret).bytes : secret
    return bytes + [UInt8](repeating: 0, count: block - bytes.count)
  }

  /// Signs a message; `nil` if the key is public.
  func signature(of message: [UInt8]) -> [UInt8]? {
    switch material {
    case .secret(let secret): hmacSHA256(secret, message)
    case .asymmetric(let key): key.signature(of: message, algorithm)
    }
  }
}

/// Returns an HMAC with SHA-256, of 32 bytes. Traps if OpenSSL fails, since security depends on it.
package func hmacSHA256(_ secret: [UInt8], _ message: [UInt8]) -> [UInt8] {
  [UInt8](unsafeUninitializedCapacity: 32) { buffer, initializedCount in
    var length: UInt32 = 0
    guard
      HMAC(
        EVP_sha256(), secret, Int32(secret.count), message, message.count, buffer.baseAddress,
        &length) != nil, length == 32
    else { fatalError("OpenSSL failed to sign; the machine is out of memory") }
    initializedCount = 32
  }
}
