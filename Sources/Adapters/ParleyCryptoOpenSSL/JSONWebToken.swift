package import ParleyGatewayPorts
import ParleyHashing
import ParleyJSON

/// A signed token in its compact form (RFC 7515, 7519), decoded but not verified.
struct JSONWebToken {
  /// The maximum length of a token in bytes; longer tokens are rejected.
  static let bytesMax = 8192

  let algorithm: JWTAlgorithm
  let keyID: String?
  /// The claims in JSON.
  let payload: [UInt8]
  let signature: [UInt8]
  /// The signed bytes: the first two parts and the full stop between them.
  let signed: [UInt8]

  init(_ text: String, bytesMax: Int = Self.bytesMax) throws(AuthenticationError) {
    let bytes = Array(text.utf8)
    guard !bytes.isEmpty else { throw .missing }
    guard bytes.count <= bytesMax else { throw .malformed }
    let parts = bytes.split(
      separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Base64.url.decode(parts[0]),
      let payload = Base64.url.decode(parts[1]), let signature = Base64.url.decode(parts[2])
    else { throw .malformed }
    var algorithm: String?
    var keyID: String?
    var isExtended = false
    do {
      try readObject(header) { key, reader throws(JSONError) in
        switch key {
        case "alg": algorithm = try reader.string()
        case "kid": keyID = try reader.string()
        case "crit":
          isExtended = true
          try reader.skipValue()
        default: try reader.skipValue()
        }
      }
    } catch { throw .malformed }
    guard let algorithm else { throw .malformed }
    // `crit` names extensions that a reader must support; this reader supports none.
    guard !isExtended else { throw .algorithm }
    guard let known = JWTAlgorithm(rawValue: algorithm) else {
      throw .refusedAlgorithm(RefusedAlgorithm(named: algorithm))
    }
    self.algorithm = known
    self.keyID = keyID
    self.payload = payload
    self.signature = signature
    signed = Array(bytes[..<parts[1].endIndex])
  }
}

/// A decoder of tokens that verifies nothing.
public enum JWTInspection {
  /// Returns the header and the claims of a token as JSON; `nil` if the text is not a token.
  public static func parts(of token: String) -> (header: String, claims: String)? {
    let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Base64.url.decode(parts[0]),
      let claims = Base64.url.decode(parts[1]),
      let headerText = String(validating: header, as: UTF8.self),
      let claimsText = String(validating: claims, as: UTF8.self)
    else { return nil }
    return (headerText, claimsText)
  }
}

/// The claims of a token.
package struct JWTClaims: Sendable, Hashable {
  /// `iss`: the issuer of the token.
  package var issuer: String?
  /// `sub`: the user's id.
  package var subject: String?
  /// `aud`: the services for which the token is intended.
  package var audiences: [String]?
  /// `exp`: the time from which the token is no longer valid.
  package var expiresAt: Timestamp?
  /// `nbf`: the time from which the token is valid.
  package var notBefore: Timestamp?
  /// `iat`: the time at which the token was issued.
  package var issuedAt: Timestamp?
  /// `jti`: the id of the token.
  package var tokenID: String?
  /// `name`: the display name.
  package var name: String?
  /// `parley`: the user's rights; `nil` if the token has no such claim.
  package var grants: [Grant]?
  /// Other claims that a policy needs. If a claim occurs twice, the last one counts.
  package var claim: [NotedClaim] = []

  /// A claim that is not registered.
  package struct NotedClaim: Sendable, Hashable {
    package var name: String
    /// A string, or an integer in digits; `nil` for any other value.
    package var text: String?
  }

  /// Returns a claim of ``claim``, compared byte by byte; `nil` if the token does not contain it.
  package func claim(_ name: String) -> NotedClaim? {
    claim.last { $0.name.isExactly(name) }
  }

  /// The maximum grants in a token; a token with more is rejected.
  package static let grantsMax = 256

  package init(subject: String? = nil) { self.subject = subject }

  /// Parses claims from JSON. Unknown claims and unknown verbs are ignored.
  ///
  /// - Parameter names: The claims to read in addition to the registered ones.
  package init(json: [UInt8], noting names: [String] = []) throws(AuthenticationError) {
    self.init()
    do {
      try readObject(json) { key, reader throws(JSONError) in
        switch key {
        case "iss": issuer = try reader.string()
        case "sub": subject = try reader.string()
        case "aud": audiences = try Self.audiences(&reader)
        case "exp": expiresAt = try Self.time(&reader, json)
        case "nbf": notBefore = try Self.time(&reader, json)
        case "iat": issuedAt = try Self.time(&reader, json)
        case "jti": tokenID = try reader.string()
        case "name": name = try reader.string()
        case "parley": grants = try Self.grants(&reader)
        default: try reader.skipValue()
        }
      }
      if !names.isEmpty { claim = try Self.notes(of: names, in: json) }
    } catch { throw .claims }
  }

  private static func notes(
    of names: [String], in json: [UInt8]
  ) throws(JSONError) -> [NotedClaim] {
    var notes: [NotedClaim] = []
    try readObject(json) { key, reader throws(JSONError) in
      let name = key.string
      guard names.contains(where: { $0.isExactly(name) }) else {
        try reader.skipValue()
        return
      }
      let value = try reader.value()
      notes.append(
        NotedClaim(name: name, text: value.string ?? value.integer.map(String.init)))
    }
    return notes
  }

  private static func audiences(_ reader: inout JSONReader) throws(JSONError) -> [String] {
    if reader.isAtString { return [try reader.string()] }
    var audiences: [String] = []
    try reader.array { reader throws(JSONError) in audiences.append(try reader.string()) }
    return audiences
  }

  /// Reads seconds since 1970, possibly with a fraction, and returns milliseconds.
  private static func time(
    _ reader: inout JSONReader, _ json: [UInt8]
  ) throws(JSONError) -> Timestamp {
    let range = try reader.skipValue()
    let text = String(decoding: json[range], as: UTF8.self)
    // The maximum is the end of the year 9999.
    guard let seconds = Double(text), (0...253_402_300_799).contains(seconds) else {
      throw .wrongType(expected: "seconds since 1970", offset: range.lowerBound)
    }
    return Timestamp((seconds * 1000).rounded())
  }

  private static func grants(_ reader: inout JSONReader) throws(JSONError) -> [Grant] {
    var grants: [Grant] = []
    try reader.object { key, reader throws(JSONError) in
      switch key {
      case "documents": try readGrants(.documents, &reader, into: &grants)
      case "rooms": try readGrants(.rooms, &reader, into: &grants)
      case "folders": try readGrants(.folders, &reader, into: &grants)
      default: try reader.skipValue()
      }
    }
    return grants
  }

  private static func readGrants(
    _ kind: Grant.Kind, _ reader: inout JSONReader, into grants: inout [Grant]
  ) throws(JSONError) {
    try reader.array { reader throws(JSONError) in
      let start = reader.offset
      var pattern: NamePattern?
      var verbs: Verbs = []
      try reader.object { key, reader throws(JSONError) in
        switch key {
        case "match": pattern = try reader.name().map(NamePattern.init(_:))
        case "exactly": pattern = try reader.name().map(NamePattern.init(exactly:))
        case "may":
          try reader.array { reader throws(JSONError) in
            if let verb = Verbs(word: try reader.string()) { verbs.formUnion(verb) }
          }
        default: try reader.skipValue()
        }
      }
      guard var pattern, grants.count < grantsMax else {
        throw .wrongType(expected: "an object with \"match\"", offset: start)
      }
      if kind == .folders {
        // Reject an invalid folder pattern, which could match other folders by accident.
        guard let folders = pattern.text.flatMap({ NamePattern(folders: $0) }) else {
          throw .wrongType(expected: "a folder, or one and /*", offset: start)
        }
        pattern = folders
      }
      grants.append(Grant(kind, pattern, verbs))
    }
  }
}

extension JSONReader {
  /// Reads a string; `nil` if it is empty.
  fileprivate mutating func name() throws(JSONError) -> String? {
    let text = try string()
    return text.isEmpty ? nil : text
  }
}

/// Parses a buffer that contains exactly one JSON object.
func readObject(
  _ bytes: [UInt8], _ body: (JSONText, inout JSONReader) throws(JSONError) -> Void
) throws(JSONError) {
  var failure: JSONError?
  bytes.withUnsafeBufferPointer { buffer in
    var reader = JSONReader(buffer)
    do throws(JSONError) {
      try reader.object(body)
      try reader.finish()
    } catch { failure = error }
  }
  if let failure { throw failure }
}
