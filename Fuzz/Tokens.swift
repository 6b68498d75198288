// No bytes without a valid signature are accepted as a token. Any claims with a valid signature
// result in an identity or a typed error.

import ParleyCryptoOpenSSL
import ParleyGatewayPorts

private let secret = [UInt8](repeating: 7, count: 32)
private let now: Timestamp = 1_763_712_000_000

/// Created once: their results do not depend on earlier calls.
private enum Parties {
  nonisolated(unsafe) static let authenticator = try! JWTAuthenticator(secret: secret)
  nonisolated(unsafe) static let own = try! SelfSignedTokens(secret: secret)
  static let signer = try! JWTSigner(secret: secret)
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  let text = String(decoding: bytes, as: UTF8.self)
  // Fuzzing finds no valid signature.
  if (try? Parties.authenticator.authenticate(text, now: now)) != nil {
    fatalError("a token without a signature was accepted")
  }
  if let identity = try? Parties.own.identity(of: text, now: now), identity.isGuest {
    fatalError("a link without a signature was accepted")
  }
  _ = JWTInspection.parts(of: text)
  _ = PasswordHash(text)
  _ = try? Grant(.rooms, text: text)
  check(claims: bytes)
  return 0
}

private func check(claims bytes: [UInt8]) {
  let token = Parties.signer.token(payload: bytes)
  guard let identity = try? Parties.authenticator.authenticate(token, now: now) else { return }
  guard !identity.user.isEmpty else { fatalError("nobody was let in") }
  guard !identity.isOperator, !identity.isGuest, !identity.hasSourceRights else {
    fatalError("a claim granted more than a user's identity")
  }
  guard identity.expiresAt.map({ $0 > now }) ?? true else { fatalError("it has expired") }
  // The identity's claims can be signed again.
  let again = Parties.signer.token(
    .init(
      user: identity.user, name: identity.name, tokenID: identity.tokenID,
      issuedAt: identity.issuedAt, grants: identity.grants))
  guard let second = try? Parties.authenticator.authenticate(again, now: now) else {
    // The new token may only exceed the maximum length that is read.
    guard again.utf8.count > 8192 else { fatalError("what was said cannot be said again") }
    return
  }
  guard second.grants == identity.grants, second.user.utf8.elementsEqual(identity.user.utf8) else {
    fatalError("said again, it grants something else")
  }
}
