import ParleyJSON

/// A registered signature algorithm that this server does not accept. Errors and logs may name it,
/// but not the text of an unregistered algorithm.
public enum RefusedAlgorithm: String, Sendable, Hashable, CaseIterable {
  case none
  case hs384 = "HS384"
  case hs512 = "HS512"
  case rs384 = "RS384"
  case rs512 = "RS512"
  case es384 = "ES384"
  case es512 = "ES512"
  case es256K = "ES256K"
  case ps256 = "PS256"
  case ps384 = "PS384"
  case ps512 = "PS512"
  case ed25519 = "Ed25519"
  case ed448 = "Ed448"
  /// Any other algorithm.
  case unregistered = "an unregistered one"

  /// Creates the algorithm that a token names.
  public init(named name: String) {
    self = Self.allCases.first { $0.rawValue.isExactly(name) } ?? .unregistered
  }
}
