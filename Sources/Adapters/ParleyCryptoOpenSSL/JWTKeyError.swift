/// Why a key cannot be used. Says nothing of the key itself.
public enum JWTKeyError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file cannot be read.
  case unreadable(file: String)
  /// The file is larger than any file of keys.
  case tooLarge(file: String, bytesMax: Int)
  /// It is no PEM file with a key of the wanted kind.
  case notPEM(file: String, expected: String)
  /// It is no JSON Web Key Set.
  case notKeySet(file: String)
  /// The key's type has no algorithm here.
  case unsupported(file: String)
  /// The key is too short to be safe.
  case weak(file: String, expected: String)
  /// Two issuer profiles have the same key, so that a token could be judged by either.
  case shared(file: String, other: String)
  /// There is no key at all.
  case empty

  /// The expectation, what came instead, and what to do.
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
