import ParleyJSON

/// An identity provider's metadata (OpenID Connect Discovery 1.0, section 3).
struct ProviderDescription: Sendable, Equatable {
  /// The page to which browsers are redirected for sign-in.
  let authorizationAddress: String
  /// The endpoint that exchanges codes for tokens.
  let tokenAddress: String
  /// The address of the provider's public keys.
  let keysAddress: String
  /// The address of additional claims about a user; `nil` if missing.
  let userInfoAddress: String?
  /// Whether the client secret is sent in the body instead of a header.
  let takesSecretInBody: Bool
  /// Whether the provider adds `iss` when it redirects browsers back (RFC 9207).
  let namesItself: Bool

  /// Parses metadata, and checks that it belongs to the issuer.
  init(json: [UInt8], issuer: String) throws(ProviderFailure) {
    guard let fields = JSONFields(json) else {
      throw ProviderFailure(.misbehaves, "its description is no JSON object")
    }
    guard let named = fields["issuer"]?.string, named.isExactly(issuer) else {
      throw ProviderFailure(.misbehaves, "its description names another issuer than oidc-issuer")
    }
    func address(_ name: String) -> String? {
      guard let text = fields[name]?.string, let address = HookAddress(text),
        !text.utf8.contains(UInt8(ascii: "#"))
      else { return nil }
      // Metadata received by HTTPS must not refer to an unencrypted address.
      return address.isEncrypted || (address.isPrivate && issuer.hasPrefix("http:")) ? text : nil
    }
    guard let authorization = address("authorization_endpoint"),
      let token = address("token_endpoint"), let keys = address("jwks_uri")
    else {
      throw ProviderFailure(
        .misbehaves,
        "its description lacks authorization_endpoint, token_endpoint or jwks_uri with https")
    }
    authorizationAddress = authorization
    tokenAddress = token
    keysAddress = keys
    userInfoAddress = address("userinfo_endpoint")
    let methods = fields["token_endpoint_auth_methods_supported"]?.elements?.compactMap(\.string)
    takesSecretInBody =
      methods.map {
        $0.contains("client_secret_post") && !$0.contains("client_secret_basic")
      } ?? false
    namesItself = fields["authorization_response_iss_parameter_supported"]?.boolean ?? false
  }
}
