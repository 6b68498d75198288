import CParleyPostgres

/// A database's address, as configured: `postgres://user@host:port/name?option=value`.
///
/// Only ``description`` may be shown, which omits the password.
public struct PostgresAddress: Sendable, Equatable, CustomStringConvertible,
  CustomReflectable
{
  /// The values of libpq's options, by name.
  private let options: [String: String]

  /// Parses an address; `nil` if libpq rejects it.
  public init?(_ text: String) {
    guard text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") else { return nil }
    var message: UnsafeMutablePointer<CChar>?
    guard let parsed = PQconninfoParse(text, &message) else {
      // libpq's message may contain the password, so it is discarded.
      PQfreemem(message)
      return nil
    }
    defer { PQconninfoFree(parsed) }
    var options: [String: String] = [:]
    var option = parsed
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val {
        options[String(cString: keyword)] = String(cString: value)
      }
      option += 1
    }
    self.options = options
  }

  /// The address without the password and other options.
  public var description: String {
    var text = "postgres://"
    if let user = options["user"] { text += "\(user)@" }
    text += options["host"] ?? options["hostaddr"] ?? ""
    if let port = options["port"] { text += ":\(port)" }
    return text + "/" + (options["dbname"] ?? "")
  }

  /// Empty: a reflection of the options would show the password.
  public var customMirror: Mirror { Mirror(self, children: []) }

  /// Returns the options for libpq, with defaults for those that the operator has not set.
  func options(application: String) -> [(name: String, value: String)] {
    var all = options
    // If several hosts are given, connect to the primary, even for reads: a standby may lag.
    let isList = ["host", "hostaddr"].contains { options[$0]?.contains(",") ?? false }
    for (name, value) in [
      "application_name": application, "connect_timeout": "5", "keepalives_idle": "10",
      "keepalives_interval": "5", "keepalives_count": "3", "tcp_user_timeout": "15000",
      "target_session_attrs": isList ? "read-write" : "any",
    ] where all[name] == nil {
      all[name] = value
    }
    all["client_encoding"] = "UTF8"
    return all.map { ($0.key, $0.value) }
  }

  /// Returns a text of libpq or the server as one line, with secrets removed.
  func redacted(_ words: String) -> String {
    var words = words
    for secret in ["password", "sslpassword", "passfile"].compactMap({ options[$0] })
    where !secret.isEmpty {
      words = words.split(separator: secret, omittingEmptySubsequences: false)
        .joined(separator: "…")
    }
    return words.split(separator: "\n").map { String($0) }.joined(separator: "; ")
  }
}
