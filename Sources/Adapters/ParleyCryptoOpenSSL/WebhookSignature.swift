import ParleyHashing

/// Signs calls to services, so that they can tell them from others' calls.
///
/// The form is that of Standard Webhooks: `v1,` and the HMAC-SHA256, in Base64, of
/// `id.timestamp.body`; one for each secret, with blanks between them, so that a receiver who has
/// either the old secret or the new one finds its own.
public struct WebhookSigner: Sendable {
  private let secrets: [[UInt8]]

  /// Signs with these, the newest first.
  public init(secrets: [[UInt8]]) { self.secrets = secrets }

  /// Returns the value of the header `webhook-signature`; `nil` without a secret.
  ///
  /// - Parameters:
  /// - id: The value of `webhook-id`.
  /// - seconds: The value of `webhook-timestamp`, since 1970.
  ///   - body: what is sent.
  public func signature(id: String, seconds: Int64, body: [UInt8]) -> String? {
    guard !secrets.isEmpty else { return nil }
    let signed = Array("\(id).\(seconds).".utf8) + body
    return secrets.map { "v1," + Base64.standard.encode(hmacSHA256($0, signed)) }.joined(
      separator: " ")
  }
}

/// The secrets that calls are signed with: a file with one on each line, the newest first.
///
/// A line is `whsec_` with Base64 behind it, as services show such secrets, or any text that is a
/// secret itself. Empty lines and those that begin with `#` are passed over.
public enum WebhookSecretFile {
  /// A shorter secret could be guessed.
  private static let bytesMin = 24
  private static let prefix = "whsec_"

  /// Reads a file.
  public static func secrets(path: String) throws(JWTKeyError) -> [[UInt8]] {
    let bytes = try KeyFile(.secret(id: nil), path: path).read()
    var secrets: [[UInt8]] = []
    for line in bytes.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) {
      guard line.first != UInt8(ascii: "#") else { continue }
      secrets.append(try secret(in: line, path: path))
    }
    guard !secrets.isEmpty else { throw .weak(file: path, expected: expectation) }
    return secrets
  }

  private static var expectation: String {
    "secrets of \(bytesMin) bytes or more, one on each line, such as "
      + "whsec_$(openssl rand -base64 32)"
  }

  private static func secret(
    in line: ArraySlice<UInt8>, path: String
  ) throws(JWTKeyError) -> [UInt8] {
    var secret = Array(line)
    if line.starts(with: prefix.utf8) {
      let text = line.dropFirst(prefix.utf8.count)
      guard let decoded = Base64.standard.decode(text, takesBitsLeft: true), !text.isEmpty else {
        throw .weak(file: path, expected: "Base64 behind whsec_")
      }
      secret = decoded
    }
    guard secret.count >= bytesMin else { throw .weak(file: path, expected: expectation) }
    return secret
  }
}
