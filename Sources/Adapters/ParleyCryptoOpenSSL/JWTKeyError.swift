/// The reason why a key cannot be used. Contains nothing of the key.
public enum JWTKeyError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file cannot be read.
  case unreadable(file: String)
  /// The file exceeds the maximum size of key files.
  case tooLarge(file: String, bytesMax: Int)
  /// The file contains no PEM key of the expected kind.
  case notPEM(file: String, expected: String)
  /// The file is not a valid JSON Web Key Set.
  case notKeySet(file: String)
  /// The key's type is not supported.
  case unsupported(file: String)
  /// The key is too short to be safe.
  case weak(file: String, expected: String)
  /// Two issuer profiles have the same key, so that it is undefined whose rules apply.
  case shared(file: String, other: String)
  /// No key is configured.
  case empty

  /// The expectation or the problem, and the remedy where there is one.
  public var description: String {
    switch self {
    case .unreadable(let file): "\(file) cannot be read; check the path and its permissions"
    case .tooLarge(let file, let bytesMax):
      "\(file) is larger than the \(bytesMax) bytes that a file of keys may have"
    case .notPEM(let file, let expected): "expected \(expected) in \(file); it holds none"
    case .notKeySet(let file):
      "expected a JSON object with an array \"keys\" in \(file) (RFC 7517); it holds none"
    case .unsupported(let file):
      "expected an RSA, P-256 or Ed25519 key in \(file); it holds another kind"
    case .weak(let file, let expected): "the key in \(file) is too short; use \(expected)"
    case .shared(let file, let other):
      "\(file) and \(other) hold the same key, but belong to two issuer profiles; give each issuer a "
        + "key of its own"
    case .empty: "no key is there to check tokens with; give at least one"
    }
  }
}
