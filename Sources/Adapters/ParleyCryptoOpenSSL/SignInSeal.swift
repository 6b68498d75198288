import CParleyOpenSSL
public import ParleyGatewayPorts
import ParleyHashing

/// Binds a sign-in at an identity provider to the browser that began it, without storing anything.
///
/// The browser keeps a secret in a cookie. `state`, `nonce` and the verifier of PKCE (RFC 7636)
/// come from it, from the sign-in's own random id and from a secret of the server's: a browser that
/// returns with a `state` and without the cookie that it was made for has not begun it.
public struct SignInSeal: Sendable {
  /// The values of one sign-in.
  public struct Values: Sendable, Hashable {
    /// `state`: what the provider gives back.
    public let state: String
    /// `nonce`: a value that the ID token has to contain.
    public let nonce: String
    /// `code_verifier`: the proof that the code was asked for here.
    public let verifier: String

    package init(state: String, nonce: String, verifier: String) {
      self.state = state
      self.nonce = nonce
      self.verifier = verifier
    }

    /// `code_challenge` for `S256`: the verifier's hash, which the provider receives before.
    public var challenge: String {
      Base64.url.encode(SHA256().hash(Array(verifier.utf8)).bytes)
    }
  }

  /// Milliseconds that a user may take at the provider.
  public static let lifetimeMilliseconds: Int64 = 600_000
  /// Milliseconds that the clock of the gateway where a sign-in began may be ahead.
  public static let leadMilliseconds: Int64 = 1_000

  private static let idBytes = 16
  private static let timeBytes = 8
  private static let browserBytes = 32

  private let secret: [UInt8]

  /// Seals with this secret: 32 random bytes that all nodes know, and that are used for nothing else.
  public init(secret: [UInt8]) {
    precondition(secret.count >= 16, "a secret of \(secret.count) bytes can be guessed; use 32")
    self.secret = secret
  }

  /// A new secret for a browser.
  public static func newBrowser() -> String { Base64.url.encode(randomBytes(count: browserBytes)) }

  /// Whether a text could be a browser's secret.
  public static func isBrowser(_ text: String) -> Bool {
    Base64.url.decode(text.utf8)?.count == browserBytes
  }

  /// Begins a sign-in of the browser with this secret.
  public func begin(browser: String, now: Timestamp) -> Values {
    var head = randomBytes(count: Self.idBytes)
    let time = UInt64(bitPattern: now)
    for shift in stride(from: 56, through: 0, by: -8) {
      head.append(UInt8(truncatingIfNeeded: time >> UInt64(shift)))
    }
    return values(head, browser)
  }

  /// The values of the sign-in that a `state` belongs to; `nil` if this browser has not begun it, or too long
  /// ago.
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
    // Another gateway may have begun it, whose clock is a little ahead.
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
