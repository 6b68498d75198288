import Glibc
import ParleyHashing

/// A file with keys, and their kind.
public struct KeyFile: Sendable, Hashable {
  /// The kind of the keys in a file.
  public enum Kind: Sendable, Hashable {
    /// A PEM public key. The id, if any, is the `kid` of the tokens that the key verifies.
    case publicKey(id: String?)
    /// A shared secret: the file's bytes without line breaks at the end, or the decoded text that
    /// follows `base64url:`.
    case secret(id: String?)
    /// A JSON Web Key Set (RFC 7517).
    case keySet
  }

  /// The kind of the keys.
  public var kind: Kind
  /// The file's path.
  public var path: String

  /// Describes a file, which is not read yet.
  public init(_ kind: Kind, path: String) {
    self.kind = kind
    self.path = path
  }

  /// The maximum size of a key file in bytes.
  static let bytesMax = 1 << 20

  /// Reads the keys from the file.
  ///
  /// - Parameter secretBytesMin: The minimum length of secrets.
  func keys(secretBytesMin: Int = JWTKey.secretBytesMin) throws(JWTKeyError) -> [JWTKey] {
    let bytes = try read()
    switch kind {
    case .publicKey(let id):
      guard let key = EVPKey.publicKey(pem: bytes) else {
        throw .notPEM(file: path, expected: "a PEM public key (BEGIN PUBLIC KEY)")
      }
      return [try JWTKey(id: id, key, file: path)]
    case .secret(let id):
      return [
        try JWTKey(
          id: id, secret: Self.secret(in: bytes, file: path), file: path, bytesMin: secretBytesMin)
      ]
    case .keySet:
      return try JSONWebKeySet.keys(in: bytes, file: path, secretBytesMin: secretBytesMin)
    }
  }

  static func secret(in bytes: [UInt8], file: String) throws(JWTKeyError) -> [UInt8] {
    var bytes = bytes[...]
    while let last = bytes.last, last == 0x0a || last == 0x0d { bytes.removeLast() }
    let prefix = "base64url:".utf8
    guard bytes.starts(with: prefix) else { return Array(bytes) }
    guard let secret = Base64.url.decode(bytes.dropFirst(prefix.count)) else {
      throw .weak(file: file, expected: "base64url without padding behind \"base64url:\"")
    }
    return secret
  }

  func read() throws(JWTKeyError) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw .unreadable(file: path) }
    defer { close(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = Glibc.read(file, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .unreadable(file: path) }
      if count == 0 { return bytes }
      bytes.append(contentsOf: piece[..<count])
      guard bytes.count <= Self.bytesMax else {
        throw .tooLarge(file: path, bytesMax: Self.bytesMax)
      }
    }
  }
}
