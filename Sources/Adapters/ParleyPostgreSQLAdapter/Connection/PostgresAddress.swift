import CParleyPostgres

/// A database, as an operator names it: `postgres://user@host:port/name?option=value`.
///
/// Whatever is shown of it goes through ``description``, which leaves the password out.
public struct PostgresAddress: Sendable, Equatable, CustomStringConvertible,
  CustomReflectable
{
  /// The options that libpq understands, by name.
  private let options: [String: String]

  /// Reads an address; `nil` if libpq does not understand it.
  public init?(_ text: String) {
    guard text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") else { return nil }
    var message: UnsafeMutablePointer<CChar>?
    guard let parsed = PQconninfoParse(text, &message) else {
      // It may repeat the address with its password, so it is never shown.
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

  /// The place of the database and its user: everything but the password.
  public var description: String {
    var text = "postgres://"
    if let user = options["user"] { text += "\(user)@" }
    text += options["host"] ?? options["hostaddr"] ?? ""
    if let port = options["port"] { text += ":\(port)" }
    return text + "/" + (options["dbname"] ?? "")
  }

  /// Nothing: a reflection of the options would show the password.
  public var customMirror: Mirror { Mirror(self, children: []) }

  /// The options for libpq with this module's own; what the operator set is kept.
  func options(application: String) -> [(name: String, value: String)] {
    var all = options
    // Of several machines the one that takes commits is asked, also for what is read: a standby may lag.
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

  /// Words of libpq or the server without the password, should they repeat it.
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
