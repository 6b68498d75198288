package import ParleyGatewayPorts
import ParleyHashing
import ParleyJSON

/// A signed token in its compact form (RFC 7515, 7519), taken apart but not yet believed.
struct JSONWebToken {
  /// Longer tokens are not looked at.
  static let bytesMax = 8192

  let algorithm: JWTAlgorithm
  let keyID: String?
  /// The JSON of the claims.
  let payload: [UInt8]
  let signature: [UInt8]
  /// The signed bytes: the first two parts with the full stop between them.
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
    // `crit` names extensions without which a token must not be understood; none is known here.
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

/// Looks into tokens without believing them.
public enum JWTInspection {
  /// Header and claims as the token contains them, as JSON; `nil` if the text is not a token.
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

/// The claims of a token about its bearer.
package struct JWTClaims: Sendable, Hashable {
  /// `iss`: who made the token.
  package var issuer: String?
  /// `sub`: the user's id.
  package var subject: String?
  /// `aud`: the services that the token is for.
  package var audiences: [String]?
  /// `exp`: from when on it is no longer valid.
  package var expiresAt: Timestamp?
  /// `nbf`: from when on it is valid.
  package var notBefore: Timestamp?
  /// `iat`: when it was made.
  package var issuedAt: Timestamp?
  /// `jti`: the token's own id.
  package var tokenID: String?
  /// `name`: what others see.
  package var name: String?
  /// `parley`: what the user may do; `nil` if the token says nothing of it.
  package var grants: [Grant]?
  /// Further claims that a policy asks for. Of one that comes twice the last counts.
  package var noted: [NotedClaim] = []

  /// A claim that is not a registered one.
  package struct NotedClaim: Sendable, Hashable {
    package var name: String
    /// The text of a string, or a whole number in digits; `nil` for any other value.
    package var text: String?
  }

  /// A noted claim; `nil` if the token has none of the name. Names are compared byte by byte.
  package func noted(_ name: String) -> NotedClaim? {
    noted.last { $0.name.utf8.elementsEqual(name.utf8) }
  }

  /// More grants than this are refused.
  package static let grantsMax = 256

  package init(subject: String? = nil) { self.subject = subject }

  /// Reads claims from JSON. Unknown claims are passed over, and so are unknown verbs.
  ///
  /// - Parameter names: claims to note beside the registered ones.
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
      if !names.isEmpty { noted = try Self.notes(of: names, in: json) }
    } catch { throw .claims }
  }

  private static func notes(
    of names: [String], in json: [UInt8]
  ) throws(JSONError) -> [NotedClaim] {
    var notes: [NotedClaim] = []
    try readObject(json) { key, reader throws(JSONError) in
      let name = key.string
      guard names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
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

  /// Reads seconds since 1970, perhaps with a fraction, as milliseconds.
  private static func time(
    _ reader: inout JSONReader, _ json: [UInt8]
  ) throws(JSONError) -> Timestamp {
    let range = try reader.skipValue()
    let text = String(decoding: json[range], as: UTF8.self)
    // Up to the year 9999.
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
        // An invalid folder would match by accident.
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
  /// A text that is not empty.
  fileprivate mutating func name() throws(JSONError) -> String? {
    let text = try string()
    return text.isEmpty ? nil : text
  }
}

/// Reads a whole buffer as one JSON object.
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
