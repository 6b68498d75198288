import CParleyOpenSSL
public import ParleyGatewayPorts
import ParleyHashing

/// The binding of a sign-in at an identity provider to a browser. The server stores nothing.
///
/// The browser stores a secret in a cookie. `state`, `nonce` and the verifier of PKCE (RFC 7636)
/// are derived from this secret, the sign-in's random id, and a secret of the server. A browser
/// that returns with a `state` but without its cookie has not begun the sign-in.
public struct SignInSeal: Sendable {
  /// The values of one sign-in.
  public struct Values: Sendable, Hashable {
    /// `state`: the value that the provider returns.
    public let state: String
    /// `nonce`: the value that the ID token must contain.
    public let nonce: String
    /// `code_verifier`: proves that this server has requested the code.
    public let verifier: String

    package init(state: String, nonce: String, verifier: String) {
      self.state = state
      self.nonce = nonce
      self.verifier = verifier
    }

    /// `code_challenge` for `S256`: the verifier's hash, which is sent to the provider first.
    public var challenge: String {
      Base64.url.encode(SHA256().hash(Array(verifier.utf8)).bytes)
    }
  }

  /// The maximum milliseconds between the begin of a sign-in and its return.
  public static let lifetimeMilliseconds: Int64 = 600_000
  /// The maximum milliseconds by which the clock of the gateway that began a sign-in may be ahead.
  public static let leadMilliseconds: Int64 = 1_000

  private static let idBytes = 16
  private static let timeBytes = 8
  private static let browserBytes = 32

  private let secret: [UInt8]

  /// Creates a seal. The secret has 32 random bytes that all nodes share only for this purpose.
  public init(secret: [UInt8]) {
    precondition(secret.count >= 16, "a secret of \(secret.count) bytes can be guessed; use 32")
    self.secret = secret
  }

  /// Creates a random secret for a browser.
  public static func newBrowser() -> String { Base64.url.encode(randomBytes(count: browserBytes)) }

  /// Whether a text has the form of a browser's secret.
  public static func isBrowser(_ text: String) -> Bool {
    Base64.url.decode(text.utf8)?.count == browserBytes
  }

  /// Begins a sign-in of the browser that has this secret.
  public func begin(browser: String, now: Timestamp) -> Values {
    var head = randomBytes(count: Self.idBytes)
    let time = UInt64(bitPattern: now)
    for shift in stride(from: 56, through: 0, by: -8) {
      head.append(UInt8(truncatingIfNeeded: time >> UInt64(shift)))
    }
    return values(head, browser)
  }

  /// Returns the values of the sign-in with this `state`; `nil` if another browser has begun it, or
  /// if it is expired.
  public func resume(state: String, browser: String, now: Timestamp) -> Values? {
    guard Self.isBrowser(browser), let bytes = Base64.url.decode(state.utf8),
      bytes.count == Self.idBytes + Self.timeBytes + 32
    else { return nil }
    let head = Array(bytes.prefix(Self.idBytes + Self.timeBytes))
    let values = values(head, browser)
    let (expected, given) = (Array(values.state.utf8), Array(state.utf8))
    guard expected.count == given.count, CRYPTO_memcmp(expected, given, expected.count) == 0 else {
      return nil
    }
    let time = head.suffix(Self.timeBytes).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let age = now - Timestamp(bitPattern: time)
    // Another gateway, whose clock is slightly ahead, may have begun the sign-in.
    return (-Self.leadMilliseconds...Self.lifetimeMilliseconds).contains(age) ? values : nil
  }

  private func values(_ head: [UInt8], _ browser: String) -> Values {
    func code(_ purpose: String) -> [UInt8] {
      hmacSHA256(secret, Array("parley sign-in \(purpose)\0".utf8) + head + Array(browser.utf8))
    }
    return Values(
      state: Base64.url.encode(head + code("state")), nonce: Base64.url.encode(code("nonce")),
      verifier: Base64.url.encode(code("verifier")))
  }
}
