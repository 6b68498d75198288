import CParleyOpenSSL

/// A secret that a back end shares with the server, which both sign with.
public struct AppSecret: Sendable {
  private let bytes: [UInt8]

  /// Bytes of a secret, at least.
  private static let bytesMin = 16

  /// Takes a secret.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads a file with one line.
  ///
  /// - Throws: `JWTKeyError` for a file that cannot be read, or holds too short a secret.
  public init(path: String) throws(JWTKeyError) {
    let file = try KeyFile(.secret(id: nil), path: path).read()
    bytes = Array(file.prefix { $0 != 0x0a && $0 != 0x0d })
    guard bytes.count >= Self.bytesMin else {
      throw .weak(file: path, expected: "one line with a secret of \(Self.bytesMin) bytes or more")
    }
  }

  /// The HMAC with SHA-256 of a message.
  public func hmacSHA256(_ message: [UInt8]) -> [UInt8] {
    ParleyCryptoOpenSSL.hmacSHA256(bytes, message)
  }

  /// The MD5 of a message, where a protocol asks for it; it protects nothing by itself.
  public static func md5(_ message: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 16) { buffer, initializedCount in
      var length: UInt32 = 0
      guard
        EVP_Digest(message, message.count, buffer.baseAddress, &length, EVP_md5(), nil) == 1,
        length == 16
      else { fatalError("OpenSSL failed to hash; the machine is out of memory") }
      initializedCount = 16
    }
  }
}
