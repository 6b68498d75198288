import ParleyHashing

/// A signer of requests to external services, by which they can authenticate the sender.
///
/// The format is that of Standard Webhooks: `v1,` and the Base64 of an HMAC-SHA256 of
/// `id.timestamp.body`. There is one signature for each secret, separated by spaces, so that a
/// receiver can verify with either the old or the new secret.
public struct WebhookSigner: Sendable {
  private let secrets: [[UInt8]]

  /// Signs with these secrets, the newest first.
  public init(secrets: [[UInt8]]) { self.secrets = secrets }

  /// Returns the value of the header `webhook-signature`; `nil` without a secret.
  ///
  /// - Parameters:
  ///   - id: The value of `webhook-id`.
  ///   - seconds: The value of `webhook-timestamp`, in seconds since 1970.
  ///   - body: The body of the request.
  public func signature(id: String, seconds: Int64, body: [UInt8]) -> String? {
    guard !secrets.isEmpty else { return nil }
    let signed = Array("\(id).\(seconds).".utf8) + body
    return secrets.map { "v1," + Base64.standard.encode(hmacSHA256($0, signed)) }.joined(
      separator: " ")
  }
}

/// The secrets that sign webhooks: a file with one secret on each line, the newest first.
///
/// A line is `whsec_` followed by Base64, the form in which services show secrets, or any other
/// text, which is itself the secret. Empty lines and lines that begin with `#` are ignored.
public enum WebhookSecretFile {
  /// The minimum length of a secret in bytes.
  private static let bytesMin = 24
  private static let prefix = "whsec_"

  /// Reads the secrets from a file.
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
