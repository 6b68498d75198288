import ParleyGatewayPorts
import SocketMessages

extension AuthenticationError {
  /// The code that clients receive. Only `unverified` gets a code that allows a retry.
  var code: ErrorCode { self == .unverified ? .unavailable : .unauthorised }

  /// The message for users: why the token is rejected.
  var words: String {
    switch self {
    case .missing: "a token is required"
    case .malformed: "the token is not a JSON Web Token"
    case .algorithm: "the token's algorithm is not the one of its key"
    case .refusedAlgorithm(let name):
      "the token's algorithm is \(name.rawValue); sign it with \(Self.acceptedAlgorithms)"
    case .unknownKey: "the token's key is not known here"
    case .signature: "the token's signature is not valid"
    case .expired: "the token has expired; get a new one"
    case .revoked: "the token was revoked"
    case .unverified:
      "revocations cannot be read now; try again, or at another gateway"
    case .notYetValid: "the token is not valid yet; check the clocks"
    case .audience: "the token is meant for another audience"
    case .issuer: "the token comes from another issuer"
    case .claims: "a claim of the token is missing or of the wrong type"
    }
  }
}
