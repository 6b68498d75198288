import Gateway
import ParleyGatewayPorts
import ParleyJSON
import SocketMessages
import ParleyTransportLibwebsockets

/// A setting: its names, its values and its effect.
///
/// The name is the key in the configuration file. `ping-interval` is `--ping-interval` as a flag
/// and `PARLEY_PING_INTERVAL` in the environment.
package struct Setting: Sendable {
  /// A section of the help.
  package enum Section: String, Sendable, CaseIterable {
    case listening = "Listening"
    case access = "Access"
    case storage = "Storage"
    case connections = "Connections"
    case limits = "Limits"
    case documents = "Documents"
    case rooms = "Rooms"
    case webhooks = "Webhooks"
    case mail = "Mail"
    case running = "Running"
  }

  /// The syntax of a setting: a flag, one value, or a list of values.
  package enum Shape: Sendable {
    /// `--name`, which means `true`.
    case flag
    /// `--name VALUE`, once.
    case value
    /// `--name VALUE`, repeatable, or several values with separators.
    case list
  }

  /// The name in the file, in lower case, with hyphens.
  package let name: String
  /// The section of the help in which the setting is listed.
  package let section: Section
  /// The setting's syntax.
  package let shape: Shape
  /// The placeholder of the value in the help.
  package let placeholder: String
  /// The help text: one or two sentences without the default.
  package let help: String
  /// The accepted values, as they follow "expects" in an error message.
  package let expected: String

  /// Whether a value may contain a secret, which error messages must not repeat.
  package let isSecret: Bool

  private let change: @Sendable (inout Configuration, [String]) -> Bool
  private let show: @Sendable (Configuration) -> String
  private let explain: @Sendable ([String]) -> String?

  /// The name of the environment variable.
  package var variable: String {
    "PARLEY_" + String(name.map { $0 == "-" ? "_" : $0 }).uppercased()
  }

  /// Sets the value; returns `false` if the setting does not accept it.
  ///
  /// - Parameter values: One value, or any number for a list.
  package func set(_ values: [String], in configuration: inout Configuration) -> Bool {
    change(&configuration, values)
  }

  /// Returns the accepted values, for an error message about rejected ones.
  package func expected(inPlaceOf values: [String]) -> String { explain(values) ?? expected }

  /// The value as an operator would write it; empty if it is not set.
  package func text(in configuration: Configuration) -> String { show(configuration) }

}

extension Setting {
  /// Creates a setting of any type from functions that read and write its value.
  private init<Value>(
    _ name: String, _ property: any WritableKeyPath<Configuration, Value> & Sendable,
    _ section: Section, _ shape: Shape, _ placeholder: String, expected: String, help: String,
    isSecret: Bool = false, read: @escaping @Sendable (String) -> Value?,
    write: @escaping @Sendable (Value) -> String
  ) {
    self.init(
      name: name, section: section, shape: shape, placeholder: placeholder, help: help,
      expected: expected, isSecret: isSecret,
      change: { configuration, values in
        guard let text = values.last, let value = read(text) else { return false }
        configuration[keyPath: property] = value
        return true
      }, show: { write($0[keyPath: property]) }, explain: { _ in nil })
  }

  /// The range of rates and counts; 0 means no limit.
  static let rates = 0...1_000_000_000
  /// The range of rates in bytes.
  static let byteRates = 0...(1 << 40)

  /// Creates a setting with the values `true` and `false`.
  static func flag(
    _ name: String, _ property: any WritableKeyPath<Configuration, Bool> & Sendable,
    _ section: Section, help: String
  ) -> Setting {
    Setting(
      name, property, section, .flag, "", expected: "true or false", help: help,
      read: ValueText.bool, write: { $0 ? "true" : "false" })
  }

  /// Creates a setting with any text, which may be empty only if `mayBeEmpty`.
  static func text(
    _ name: String, _ property: any WritableKeyPath<Configuration, String> & Sendable,
    _ section: Section, _ placeholder: String, mayBeEmpty: Bool = false, help: String
  ) -> Setting {
    Setting(
      name, property, section, .value, placeholder,
      expected: mayBeEmpty ? "any text" : "a non-empty text", help: help,
      read: { $0.isEmpty && !mayBeEmpty ? nil : $0 }, write: { $0 })
  }

  /// Creates a setting with the path of a dialect, or nothing.
  static func path(
    _ name: String, _ property: any WritableKeyPath<Configuration, String> & Sendable,
    _ section: Section, help: String
  ) -> Setting {
    Setting(
      name, property, section, .value, "PATH",
      expected: "nothing, or a path such as /sharedb that the server does not use otherwise",
      help: help, read: { $0.isEmpty || isFreePath($0) ? $0 : nil }, write: { $0 })
  }

  /// Whether a path is in its shortest form, and outside the server's own paths.
  private static func isFreePath(_ path: String) -> Bool {
    let words = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard words.count > 1, words[0].isEmpty, words.dropFirst().allSatisfy({ !$0.isEmpty }) else {
      return false
    }
    let own = [
      "api", "app", "apps", "admin", "bayeux", "faye", "metrics", "n", "p", "socket", "socket.io",
      "ws",
    ]
    let first = String(words[1]) ?? ""
    return !own.contains { first.isExactly($0) }
      && path.utf8.allSatisfy {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
          || (UInt8(ascii: "-")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "_")
      }
  }

  /// Creates an optional setting with a kind of text.
  static func text(
    _ name: String, _ property: any WritableKeyPath<Configuration, String?> & Sendable,
    _ section: Section, _ placeholder: String, _ kind: TextKind = .any, help: String
  ) -> Setting {
    Setting(
      name, property, section, .value, placeholder, expected: kind.expected, help: help,
      isSecret: kind.isSecret, read: { kind.isValid($0) ? .some($0) : nil },
      write: { $0.map(kind.shown) ?? "" })
  }

  /// A kind of text that a setting accepts.
  struct TextKind: Sendable {
    let expected: String
    var isSecret = false
    let isValid: @Sendable (String) -> Bool
    var shown: @Sendable (String) -> String = { $0 }

    /// Any text that is not empty.
    static let any = TextKind(expected: "a non-empty text", isValid: { !$0.isEmpty })
    /// An address that is encrypted or on this machine.
    static let privateAddress = TextKind(
      expected: "an address such as https://notes.example.org, without ? and #; http:// only for "
        + "this machine", isValid: Configuration.isPrivateAddress)
    /// The URL of a service.
    static let hook = TextKind(
      expected: "an address such as https://app.example.org/parley, without a password",
      isValid: { HookAddress($0) != nil })
    /// The address of a database, whose password is never shown.
    static let store = TextKind(
      expected: "an address such as postgres://parley@db.example.org/parley", isSecret: true,
      isValid: Configuration.isStoreURL, shown: Configuration.shownStoreURL)
    /// The address of a broker, whose password is never shown.
    static let broker = TextKind(
      expected: "an address such as nats://broker.example.org:4222 or "
        + "postgres://parley@db.example.org/parley, or none", isSecret: true,
      isValid: Configuration.isBrokerURL, shown: Configuration.shownBrokerURL)
    /// An address to listen on.
    static let listenAddress = TextKind(
      expected: "an address and a port such as 127.0.0.1:8081",
      isValid: { ListenAddress($0) != nil })
  }

  /// Creates a setting with a whole number in a range.
  static func number(
    _ name: String, _ property: any WritableKeyPath<Configuration, Int> & Sendable,
    _ section: Section, _ placeholder: String = "NUMBER", in range: ClosedRange<Int>,
    help: String
  ) -> Setting {
    Setting(
      name, property, section, .value, placeholder,
      expected: "a whole number from \(range.lowerBound) to \(range.upperBound)", help: help,
      read: { text in ValueText.number(text).flatMap { range.contains($0) ? $0 : nil } },
      write: { "\($0)" })
  }

  /// Creates a setting with a number of loops, or `auto`.
  static func loops(
    _ name: String, _ property: any WritableKeyPath<Configuration, Int?> & Sendable,
    _ section: Section, help: String
  ) -> Setting {
    let range = 1...ConnectionBalancer.countMax
    return Setting(
      name, property, section, .value, "NUMBER",
      expected: "a whole number from \(range.lowerBound) to \(range.upperBound), or auto",
      help: help,
      read: { text in
        if text == "auto" { return .some(nil) }
        return ValueText.number(text).flatMap { range.contains($0) ? .some($0) : nil }
      }, write: { $0.map(String.init) ?? "auto" })
  }

  /// Creates a setting with a number of bytes in a range.
  static func bytes(
    _ name: String, _ property: any WritableKeyPath<Configuration, Int> & Sendable,
    _ section: Section, in range: ClosedRange<Int>, help: String
  ) -> Setting {
    let lower = ValueText.text(bytes: range.lowerBound)
    let upper = ValueText.text(bytes: range.upperBound)
    return Setting(
      name, property, section, .value, "SIZE",
      expected: "a size from \(lower) to \(upper), in bytes or with KiB, MiB or GiB", help: help,
      read: { text in ValueText.bytes(text).flatMap { range.contains($0) ? $0 : nil } },
      write: { ValueText.text(bytes: $0) })
  }

  /// Creates a setting with a duration in a range.
  static func duration(
    _ name: String, _ property: any WritableKeyPath<Configuration, Duration> & Sendable,
    _ section: Section, in range: ClosedRange<Duration>, help: String
  ) -> Setting {
    let lower = ValueText.text(range.lowerBound)
    let upper = ValueText.text(range.upperBound)
    return Setting(
      name, property, section, .value, "TIME",
      expected: "a time from \(lower) to \(upper), with its unit: ms, s, m or h", help: help,
      read: { text in ValueText.duration(text).flatMap { range.contains($0) ? $0 : nil } },
      write: { ValueText.text($0) })
  }

  /// Creates a setting with one of several words.
  static func choice<Value: Sendable>(
    _ name: String, _ property: any WritableKeyPath<Configuration, Value> & Sendable,
    _ section: Section, _ placeholder: String, of choices: [(word: String, value: Value)],
    help: String, word: @escaping @Sendable (Value) -> String
  ) -> Setting {
    Setting(
      name, property, section, .value, placeholder,
      expected: "one of " + choices.map(\.word).joined(separator: ", "), help: help,
      read: { text in choices.first { $0.word == text }?.value }, write: word)
  }

  /// Creates a setting with a list of texts that `isValid` accepts.
  static func list(
    _ name: String, _ property: any WritableKeyPath<Configuration, [String]> & Sendable,
    _ section: Section, _ placeholder: String, expected: String, isRequired: Bool = false,
    help: String, isValid: @escaping @Sendable (String) -> Bool = { !$0.isEmpty }
  ) -> Setting {
    list(
      name, property, section, placeholder, separator: ",", expected: expected,
      isRequired: isRequired, help: help, problem: { isValid($0) ? nil : expected })
  }

  /// Creates a setting with a list of texts, at least one if `isRequired`. `problem` returns what
  /// was expected instead of a text, or `nil` if the text is valid.
  static func list(
    _ name: String, _ property: any WritableKeyPath<Configuration, [String]> & Sendable,
    _ section: Section, _ placeholder: String, separator: Character, expected: String,
    isRequired: Bool = false, help: String, problem: @escaping @Sendable (String) -> String?
  ) -> Setting {
    let items = { @Sendable (values: [String]) in
      values.flatMap { ValueText.list($0, separator: separator) }
    }
    return Setting(
      name: name, section: section, shape: .list, placeholder: placeholder, help: help,
      expected: expected, isSecret: false,
      change: { configuration, values in
        let items = items(values)
        guard items.allSatisfy({ problem($0) == nil }), !(isRequired && items.isEmpty) else {
          return false
        }
        configuration[keyPath: property] = items
        return true
      },
      show: { $0[keyPath: property].joined(separator: "\(separator) ") },
      explain: { values in items(values).lazy.compactMap(problem).first })
  }

}

extension Configuration {
  /// Every setting, in the order of the help.
  package static let settings: [Setting] = plainSettings + providerSettingList + mailSettingList

  private static let plainSettings: [Setting] = [
    .list(
      "host", \.hosts, .listening, "ADDRESS", expected: "IP addresses or host names",
      isRequired: true,
      help:
        "IP address or host name to listen on; :: is every address, of IPv4 too. Repeat for more."),
    .number(
      "port", \.port, .listening, "PORT", in: 0...65_535,
      help: "Port for the page, the HTTP API and WebSockets; 0 picks a free port."),
    .text(
      "api-listen", \.apiListen, .listening, "HOST:PORT", .listenAddress,
      help:
        "Separate address for programs: it serves /metrics and the whole HTTP API, and API "
        + "keys work only there. The main port then serves only what the page needs. By "
        + "default, the main port serves everything."),
    .flag(
      "allow-open-network", \.allowOpenNetwork, .listening,
      help:
        "Allow a host beyond loopback although no authentication is configured: anyone who "
        + "can connect may read and write."),
    .list(
      "allowed-origin", \.allowedOrigins, .listening, "ORIGIN",
      expected: "origins such as https://notes.example.org, or *",
      help:
        "Origins of other sites whose pages may connect; the server's own page always may. "
        + "Repeat for more; * allows every site.",
      isValid: ValueText.isOrigin),
    .list(
      "frame-ancestor", \.frameAncestors, .listening, "ORIGIN",
      expected: "origins such as https://intranet.example.org, or *",
      help:
        "Origins of sites that may embed the page in a frame; by default none may. Repeat for "
        + "more; * allows every site.",
      isValid: ValueText.isOrigin),
    .list(
      "trusted-proxy", \.trustedProxies, .listening, "ADDRESS",
      expected: "addresses or ranges such as 10.0.0.0/8 or ::1",
      help:
        "Addresses of proxies whose headers X-Forwarded-For, -Proto and -Host are trusted for "
        + "a client's address and the requested scheme and host. Repeat for more.",
      isValid: { AddressRange($0) != nil }),
    .flag(
      "proxy-protocol", \.proxyProtocol, .listening,
      help:
        "Require a PROXY protocol header (version 1 or 2) with the client's address at the start "
        + "of each connection from a trusted-proxy; without it, the connection is closed."),
    .text(
      "tls-certificate", \.certificatePath, .listening, "FILE",
      help: "Certificate in PEM form, followed by its chain; enables TLS. Reloaded on SIGHUP."),
    .text(
      "tls-key", \.certificateKeyPath, .listening, "FILE",
      help: "Private key of tls-certificate, in PEM form. Reloaded on SIGHUP."),
    .text(
      "web-dir", \.webDirectory, .listening, "FOLDER",
      help:
        "Folder with the page. By default the installed one, or Web/built or Web beside the "
        + "program, in a folder above it, or in the current folder."),
    .flag(
      "no-offline-page", \.forbidsOfflinePage, .listening,
      help:
        "Keep browsers from storing the page and copies of notes for offline use, and remove "
        + "existing copies."),
    .list(
      "auth-key", \.keyFiles, .access, "[KID=]FILE",
      expected: "file paths, each with an optional prefix KID=",
      help:
        "PEM public key (RSA, P-256 or Ed25519) that verifies tokens. Repeat for more. With "
        + "any key, secret or key set, every client needs a token."),
    .list(
      "hmac-secret-file", \.secretFiles, .access, "[KID=]FILE",
      expected: "file paths, each with an optional prefix KID=",
      help:
        "File with a shared secret that verifies HS256 tokens: at least 32 bytes, raw or as "
        + "base64url:TEXT. Repeat for more."),
    .list(
      "jwks-file", \.keySetFiles, .access, "FILE", expected: "file paths",
      help:
        "File with a JSON Web Key Set that verifies tokens. Reloaded when it changes, like "
        + "key files."),
    .list(
      "audience", \.audiences, .access, "NAME", expected: "names",
      help:
        "Accepted audiences: the aud claim of a token must contain one of these. By default, "
        + "tokens with an aud claim are rejected."),
    .list(
      "issuer", \.issuers, .access, "NAME", expected: "names",
      help:
        "Accepted issuers: the iss claim of a token must be one of these. By default, every "
        + "issuer is accepted."),
    .list(
      "issuer-profile", \.issuerProfiles, .access, "PROFILE", separator: ";",
      expected: "profiles such as app hmac-secret-file:FILE user-claim:userID",
      help:
        "Additional issuer of tokens, with its own keys and rules: a NAME, then words such as "
        + "hmac-secret-file:FILE, audience:NAME, user-claim:CLAIM, room:MATCH=MAY; see "
        + "Operations.md. Repeat for more, or separate them by semicolons.",
      problem: { text in
        do throws(IssuerProfile.Problem) {
          _ = try IssuerProfile.profile(text)
          return nil
        } catch {
          return error.description
        }
      }),
    .list(
      "pusher-app", \.pusherApps, .access, "APP", separator: ";",
      expected: "apps such as KEY id:7 secret-file:FILE",
      help:
        "App whose clients and back end speak Pusher's protocol: its KEY, then words such as "
        + "id:NUMBER, secret-file:FILE, origin:ORIGIN, client-events:yes, rooms:PREFIX/; see "
        + "Pusher.md. Repeat for more, or separate them by semicolons. With it, every other client "
        + "needs a token.",
      problem: { text in
        do throws(IssuerProfile.Problem) {
          _ = try PusherProfile(text)
          return nil
        } catch {
          return error.description
        }
      }),
    .list(
      "room-token-audience", \.roomTokenAudiences, .access, "NAME", expected: "names",
      help:
        "Accepted audiences of Twake room tokens: the aud claim must contain one of these. By "
        + "default, room tokens are rejected."),
    .duration(
      "clock-skew", \.clockSkew, .access, in: .zero...(.seconds(600)),
      help: "Allowed difference between the clocks of a token's issuer and this server."),
    .text(
      "api-key-file", \.apiKeyFile, .access, "FILE",
      help:
        "File with one line for each API key; parley apikey prints them. Reloaded when it "
        + "changes."),
    .text(
      "users-file", \.usersFile, .access, "FILE",
      help:
        "File of users who log in with a password; parley user edits it. Reloaded when it "
        + "changes. With it, every client needs a token."),
    .duration(
      "access-token-time", \.accessTokenTime, .access, in: .seconds(10)...(.seconds(86_400)),
      help: "Lifetime of an access token that is issued at a login."),
    .duration(
      "refresh-token-time", \.refreshTokenTime, .access,
      in: .seconds(60)...(.seconds(366 * 86_400)),
      help:
        "Lifetime of a refresh token, which renews the tokens of a session: a session that is "
        + "not used for this long expires."),
    .duration(
      "session-time", \.sessionTime, .access, in: .seconds(60)...(.seconds(10 * 366 * 86_400)),
      help: "Maximum length of a session, counted from its login, even while it is used."),
    .choice(
      "public-names", \.publicNames, .access, "WHETHER",
      of: PublicNames.allCases.map { (word: $0.rawValue, value: $0) },
      help:
        "Let people who may manage a note publish it under a readable name such as /p/minutes, to "
        + "everyone who can reach the server: off, on, or indexed, which lets search engines list "
        + "these notes.", word: \.rawValue),
    .path(
      "sharedb-path", \.shareDBPath, .access,
      help:
        "Path of the WebSocket for clients of ShareDB, see ShareDB.md; nothing turns it off."),
    .flag(
      "allow-token-in-url", \.allowTokenInURL, .access,
      help:
        "Accept tokens in the URL (?token=) of WebSocket upgrades and HTTP requests. Logs and "
        + "browser histories may store such URLs."),
    .flag(
      "allow-legacy-room-tokens", \.allowLegacyRoomTokens, .access,
      help:
        "Accept the old Twake room token \"twake\", which opens every room to every user, and "
        + "rooms that begin with previous:: without a token."),
    .text(
      "data-dir", \.dataDirectory, .storage, "FOLDER",
      help: "Folder of the database and other data; created if missing."),
    .text(
      "store-url", \.storeURL, .storage, "URL", .store,
      help:
        "Address of a PostgreSQL database that stores everything instead of a file in "
        + "data-dir. It may contain a password if it is set in the file or the environment; the "
        + "password is never shown."),
    .text(
      "broker-url", \.brokerURL, .storage, "URL", .broker,
      help:
        "Message broker for hints between gateways that share a database: a nats:// or "
        + "postgres:// address, or none; by default store-url. Without hints, gateways poll the "
        + "database for changes."
    ),
    .text(
      "node-name", \.nodeName, .storage, "NAME",
      help:
        "Name of this gateway among those that share a database, shown to operators; by "
        + "default the machine's name and the port."),
    .number(
      "store-queue-max", \.storeQueueMax, .storage, in: 10...10_000_000,
      help:
        "Maximum number of changes, publications and other requests that wait for the disk, "
        + "in total; further ones are rejected as busy."),
    .bytes(
      "store-queue-size-max", \.storeQueueBytesMax, .storage, in: (64 << 10)...(64 << 30),
      help:
        "Maximum size of the requests that wait for the disk, in total; further changes and "
        + "publications are rejected as busy."),
    .duration(
      "store-stall-time", \.storeStallTime, .storage, in: (.milliseconds(100))...(.seconds(3600)),
      help:
        "Time without a response from the disk after which /ready reports that changes are "
        + "not accepted."),
    .number(
      "history-changes-min", \.historyChangesMin, .storage, in: 0...1_000_000_000,
      help:
        "Number of newest changes kept for each note; older ones are removed once they are "
        + "also older than history-age-min. If both are 0, all changes are kept."),
    .duration(
      "history-age-min", \.historyAgeMin, .storage, in: .zero...(.seconds(100 * 366 * 86_400)),
      help: "Changes younger than this are kept, regardless of their number."),
    .duration(
      "deleted-age-max", \.deletedAgeMax, .storage, in: .zero...(.seconds(100 * 366 * 86_400)),
      help: "Time for which deleted notes are kept and can be restored; 0 removes them at once."),
    .duration(
      "audit-age-max", \.auditAgeMax, .storage,
      in: .seconds(86_400)...(.seconds(100 * 366 * 86_400)),
      help:
        "Time for which the audit log keeps records of changed rights and accounts; records of "
        + "refused sign-ins for 30 days at most."),
    .bytes(
      "file-size-max", \.fileBytesMax, .storage, in: 0...(256 << 20),
      help: "Maximum size of a picture or other file in a note; 0 disables files."),
    .bytes(
      "note-files-size-max", \.noteFilesBytesMax, .storage, in: 0...(1 << 40),
      help: "Maximum size of all files of one note together; further ones are rejected."),
    .bytes(
      "files-disk-reserve", \.filesDiskReserve, .storage, in: 0...(1 << 40),
      help:
        "Disk space reserved for text: if less is free, files are rejected. The disk of a "
        + "database in store-url is not checked."),
    .bytes(
      "uploads-size-max", \.uploadsBytesMax, .storage, in: (1 << 20)...(1 << 34),
      help:
        "Maximum memory for uploads in progress, of which one client has a share; further "
        + "uploads are rejected as busy."),
    .duration(
      "unused-files-age-min", \.unusedFilesAgeMin, .storage,
      in: .seconds(1)...(.seconds(100 * 366 * 86_400)),
      help: "Age at which a file is removed if no stored revision of its note refers to it."),
    .duration(
      "ping-interval", \.pingInterval, .connections, in: .seconds(1)...(.seconds(3600)),
      help: "Interval between pings to a connection that sends nothing."),
    .duration(
      "idle-timeout", \.idleTimeout, .connections, in: .seconds(2)...(.seconds(7200)),
      help: "Timeout of a connection that sends nothing, not even a pong; it is then closed."),
    .number(
      "sessions-max", \.sessionsMax, .connections, in: 1...1_000_000,
      help:
        "Maximum number of Socket.IO and Bayeux sessions, including polling ones; further "
        + "ones are rejected. Sessions without a token have at most a quarter of it."),
    .duration(
      "authenticate-time", \.authenticateTime, .connections, in: .seconds(1)...(.seconds(600)),
      help:
        "Timeout for a Socket.IO or Bayeux client to show a token; its session then ends."),
    .duration(
      "recovery-time", \.recoveryTime, .connections, in: .zero...(.seconds(3600)),
      help:
        "Time for which a Socket.IO client that requests recovery can resume its session "
        + "after a connection loss; 0 disables recovery."),
    .bytes(
      "recovery-size-max", \.recoveryBytesMax, .connections, in: (64 << 10)...(1 << 30),
      help:
        "Maximum memory for the events that such clients can recover, for all clients "
        + "together; beyond it, the oldest are dropped."),
    .flag(
      "recover-all-sessions", \.recoversAllSessions, .connections,
      help:
        "Enable session recovery for every client of Socket.IO 3 or later, not only on "
        + "request; each event then has one more argument."),
    .duration(
      "connect-hold", \.connectHold, .connections, in: .seconds(1)...(.seconds(600)),
      help: "Time after which a Bayeux connect request without an event is answered."),
    .number(
      "connections-max", \.connectionsMax, .connections, in: 1...1_000_000,
      help: "Maximum number of connections; further ones are rejected."),
    .bytes(
      "message-size-max", \.messageBytesMax, .connections, in: 1024...(64 << 20),
      help:
        "Maximum size of one message from a client; a larger one is rejected and its "
        + "connection closed."),
    .bytes(
      "queue-size-max", \.queuedBytesMax, .connections, in: (64 << 10)...(1 << 30),
      help:
        "Maximum size of the data that waits for one slow connection; beyond it, the "
        + "connection is closed, and the client can resume."),
    .bytes(
      "reception-size-max", \.receptionBytesMax, .connections, in: 0...(64 << 30),
      help:
        "Maximum size of the messages and request bodies that have arrived in part, over all "
        + "connections; one client has a share of it. Beyond it, they are rejected as busy; 0 "
        + "disables the limit."),
    .bytes(
      "responses-size-max", \.responseBytesMax, .connections, in: (1 << 20)...(64 << 30),
      help:
        "Maximum size of the HTTP responses that wait for slow readers, over all connections; "
        + "identical ones count once, and one client has a share of it. Beyond it, requests are "
        + "answered with 503."),
    .number(
      "documents-per-connection-max", \.documentsPerConnectionMax, .connections, in: 1...10_000,
      help: "Maximum number of documents that one connection can join."),
    .number(
      "rooms-per-connection-max", \.roomsPerConnectionMax, .connections, in: 1...10_000,
      help: "Maximum number of rooms that one connection can subscribe to."),
    .duration(
      "hello-time", \.helloTime, .connections, in: .milliseconds(100)...(.seconds(600)),
      help: "Timeout for a parley.v1 client to send hello; its connection is then closed."),
    .duration(
      "request-time", \.requestTime, .connections, in: .seconds(1)...(.seconds(600)),
      help:
        "Timeout for receiving the head of a request, and for receiving its body, with one "
        + "second more for every 16 KiB of the body."),
    .duration(
      "keep-alive-time", \.keepAliveTime, .connections, in: .seconds(1)...(.seconds(3600)),
      help: "Timeout of an HTTP connection without a request; it is then closed."),
    .number(
      "rate-burst-seconds", \.limits.burstSeconds, .limits, "SECONDS", in: 1...3_600,
      help: "Burst of the rate limits per connection, user and address, in seconds of each rate."),
    .number(
      "connection-message-rate", \.limits.messagesPerSecondMax, .limits, in: Setting.rates,
      help:
        "Rate limit for messages of one connection, per second; further ones are rejected as "
        + "tooFast. 0 disables a rate limit."),
    .bytes(
      "connection-byte-rate", \.limits.bytesPerSecondMax, .limits, in: Setting.byteRates,
      help: "Rate limit for the bytes of one connection's messages, per second."),
    .number(
      "user-connections-max", \.limits.userConnectionsMax, .limits, in: Setting.rates,
      help: "Maximum number of connections of one user; 0 disables the limit."),
    .number(
      "user-connect-rate", \.limits.userConnectsPerSecondMax, .limits, in: Setting.rates,
      help: "Rate limit for new connections of one user, per second."),
    .number(
      "user-message-rate", \.limits.userMessagesPerSecondMax, .limits, in: Setting.rates,
      help: "Rate limit for messages of one user, per second, over all connections."),
    .bytes(
      "user-byte-rate", \.limits.userBytesPerSecondMax, .limits, in: Setting.byteRates,
      help: "Rate limit for the bytes of one user's messages, per second, over all connections."),
    .number(
      "user-request-rate", \.limits.userRequestsPerSecondMax, .limits, in: Setting.rates,
      help:
        "Rate limit for HTTP requests with tokens of one user, or with one API key, per "
        + "second."),
    .bytes(
      "comment-size-max", \.commentBytesMax, .limits, in: 64...4_096,
      help: "Maximum size of a comment's text."),
    .number(
      "note-comments-max", \.noteCommentsMax, .limits, in: 1...10_000,
      help: "Maximum number of comments of one note, including answers."),
    .number(
      "user-comment-rate", \.userCommentsPerMinuteMax, .limits, in: 0...100_000,
      help: "Rate limit for new comments of one user, per minute; 0 disables it."),
    .number(
      "address-connections-max", \.limits.addressConnectionsMax, .limits, in: Setting.rates,
      help:
        "Maximum number of connections from one address; 0 disables the limit. For IPv6, the "
        + "first 64 bits are the address."),
    .number(
      "address-connect-rate", \.limits.addressConnectsPerSecondMax, .limits, in: Setting.rates,
      help: "Rate limit for new connections from one address, per second."),
    .number(
      "address-message-rate", \.limits.addressMessagesPerSecondMax, .limits, in: Setting.rates,
      help: "Rate limit for messages from one address, per second, over all connections."),
    .bytes(
      "address-byte-rate", \.limits.addressBytesPerSecondMax, .limits, in: Setting.byteRates,
      help:
        "Rate limit for the bytes of messages from one address, per second, over all "
        + "connections."),
    .number(
      "address-request-rate", \.limits.addressRequestsPerSecondMax, .limits, in: Setting.rates,
      help: "Rate limit for HTTP requests from one address, per second."),
    .number(
      "signs-rate", \.limits.signsPerSecondMax, .limits, in: 1...10_000,
      help:
        "Rate limit for signs of life (typing, receipts, flags, subscribing) of one "
        + "connection, per second."),
    .number(
      "grants-max", \.limits.grantsMax, .limits, in: 1...1_000,
      help: "Maximum number of additional tokens of one connection."),
    .bytes(
      "name-size-max", \.limits.nameBytesMax, .limits, in: 16...4_096,
      help: "Maximum size of a person's name."),
    .bytes(
      "title-size-max", \.limits.titleBytesMax, .limits, in: 16...65_536,
      help: "Maximum size of a note's title."),
    .bytes(
      "document-id-size-max", \.limits.documentIDBytesMax, .limits, in: 32...1_024,
      help: "Maximum size of a document's id."),
    .bytes(
      "room-name-size-max", \.limits.roomBytesMax, .limits, in: 32...1_024,
      help: "Maximum size of a room's name."),
    .bytes(
      "key-size-max", \.limits.keyBytesMax, .limits, in: 16...4_096,
      help: "Maximum size of a publication's key, a sender's name, and a flag's reason."),
    .number(
      "selections-max", \.limits.selectionsMax, .limits, in: 1...1_000,
      help: "Maximum number of selections of one client in one document."),
    .number(
      "page-max", \.limits.pageMax, .limits, in: 1...10_000,
      help: "Maximum number of publications in one page of a room's history, or in one batch."),
    .number(
      "present-max", \.limits.presentMax, .limits, in: 1...100_000,
      help:
        "Maximum number of people present in one room; further ones can subscribe without "
        + "presence."),
    .number(
      "presence-list-max", \.presenceListMax, .limits, in: 1...10_000,
      help:
        "Number of people following a note up to which all are listed; beyond it, clients get "
        + "a count, and the names of this many who were active last."),
    .duration(
      "presence-lease", \.presenceLease, .limits, in: .seconds(1)...(.seconds(86_400)),
      help: "Time after which a person who sends nothing is no longer shown as present."),
    .duration(
      "typing-time", \.typingTime, .limits, in: .milliseconds(500)...(.seconds(600)),
      help: "Time after which a typing sign expires unless it is renewed."),
    .number(
      "operation-components-max", \.limits.operationComponentsMax, .limits, in: 3...10_000_000,
      help:
        "Maximum number of components of one operation; a component retains, inserts or "
        + "deletes a run of text."),
    .number(
      "history-components-max", \.historyComponentsMax, .limits, in: 3...10_000_000,
      help:
        "Maximum number of components in all changes that the server rebases one change over; "
        + "beyond it, the author's client rebases the change."),
    .number(
      "document-length-max", \.documentScalarsMax, .documents, "CHARACTERS",
      in: 1...100_000_000,
      help: "Maximum length of a document, in Unicode scalars; an edit beyond it is rejected."),
    .number(
      "room-history-max", \.roomHistoryMax, .rooms, in: 0...1_000_000,
      help: "Number of newest publications that a room stores; 0 stores none."),
    .duration(
      "room-history-age-max", \.roomHistoryAgeMax, .rooms,
      in: .zero...(.seconds(100 * 366 * 86_400)),
      help: "Age at which a room's publications expire, regardless of their number."),
    .list(
      "room-history", \.roomHistories, .rooms, "RULE",
      expected: "rules such as chat-*=500/24h",
      help:
        "History limits for rooms that match a pattern, instead of the two above, as "
        + "PATTERN=NUMBER/TIME; a * at the end of the pattern matches anything. Repeat for "
        + "more; the first match applies.",
      isValid: { RoomHistoryRule($0) != nil }),
    .bytes(
      "publication-size-max", \.publicationBytesMax, .rooms, in: 1...(4 << 20),
      help: "Maximum size of a publication's data."),
    .number(
      "room-values-max", \.roomValuesMax, .rooms, in: 0...100_000,
      help: "Maximum number of named values of one room."),
    .bytes(
      "room-value-size-max", \.roomValueBytesMax, .rooms, in: 1...(64 << 10),
      help: "Maximum size of one value of a room."),
    .bytes(
      "room-values-size-max", \.roomValuesBytesMax, .rooms, in: 1...(64 << 20),
      help: "Maximum size of all values of one room, with their names."),
    .number(
      "signals-per-second-max", \.signalsPerSecondMax, .rooms, in: 0...10_000,
      help: "Rate limit for signals in rooms of one connection, per second; 0 disables it."),
    .duration(
      "presence-grace", \.presenceGrace, .rooms, in: .zero...(.seconds(3600)),
      help: "Time for which people stay shown in a room after a connection loss."),
    .flag(
      "block-both-ways", \.blocksBothWays, .rooms,
      help:
        "Apply each block in both directions: the blocked person does not receive from the "
        + "blocker either."),
    .duration(
      "last-online-interval", \.lastOnlineInterval, .rooms, in: .seconds(1)...(.seconds(3600)),
      help:
        "Interval at which the server stores that connected people are online; a killed "
        + "server loses at most this much."),
    .text(
      "webhook-url", \.webhookURL, .webhooks, "URL", .hook,
      help: "URL of an app's backend that receives the events of notes and rooms."),
    .text(
      "webhook-secret-file", \.webhookSecretFile, .webhooks, "FILE",
      help:
        "File with the secrets that sign all calls, one on each line, the newest first. "
        + "Reloaded when it changes."),
    .list(
      "webhook-events", \.webhookEvents, .webhooks, "EVENT",
      expected: "some of " + WebhookEvent.allCases.map(\.rawValue).joined(separator: ", "),
      help: "Events sent to webhook-url: "
        + WebhookEvent.allCases.map(\.rawValue).joined(separator: ", ") + ".",
      isValid: { WebhookEvent(rawValue: $0) != nil }),
    .list(
      "webhook-values", \.webhookValues, .webhooks, "RULE",
      expected: "rules such as board-*=card-*",
      help:
        "Values of rooms whose changes are sent as values.changed, as ROOMS=NAMES; a * at the "
        + "end of either pattern matches anything. Repeat for more.",
      isValid: { WebhookValueRule($0) != nil }),
    .duration(
      "webhook-change-interval", \.webhookChangeInterval, .webhooks,
      in: .zero...(.seconds(86_400)),
      help:
        "Minimum interval between note.changed events of one note; 0 sends one for each "
        + "commit."),
    .number(
      "webhook-batch-max", \.webhookBatchMax, .webhooks, in: 1...10_000,
      help: "Maximum number of events in one call."),
    .bytes(
      "webhook-batch-size-max", \.webhookBatchBytesMax, .webhooks, in: 1024...(64 << 20),
      help: "Maximum size of the data in one call of several events."),
    .duration(
      "webhook-batch-delay", \.webhookBatchDelay, .webhooks, in: .zero...(.seconds(3600)),
      help: "Time that an event waits for others, to be sent in one call."),
    .text(
      "push-url", \.pushURL, .webhooks, "URL", .hook,
      help:
        "URL called once for each offline follower of a room, when something is published "
        + "with push."),
    .text(
      "room-events-url", \.roomEventsURL, .webhooks, "URL", .hook,
      help: "URL called when a room gets its first subscriber and when it loses its last."),
    .duration(
      "webhook-timeout", \.webhookTimeout, .webhooks, in: .milliseconds(100)...(.seconds(300)),
      help: "Timeout of a call to any of these services."),
    .duration(
      "webhook-retry-min", \.webhookRetryMin, .webhooks, in: .milliseconds(10)...(.seconds(3600)),
      help: "Delay before the first retry of a failed call; it doubles with each further retry."),
    .duration(
      "webhook-retry-max", \.webhookRetryMax, .webhooks, in: .milliseconds(10)...(.seconds(86_400)),
      help: "Maximum delay before a retry."),
    .duration(
      "webhook-give-up-age", \.webhookGiveUpAge, .webhooks,
      in: .zero...(.seconds(366 * 86_400)),
      help: "Age beyond which an event becomes a dead letter when its call fails."),
    .number(
      "webhook-queue-max", \.webhookQueueMax, .webhooks, in: 1...10_000_000,
      help:
        "Maximum number of events that wait for one service; beyond it, the oldest become "
        + "dead letters."),
    .number(
      "webhook-dead-letters-max", \.webhookDeadLettersMax, .webhooks, in: 0...1_000_000,
      help: "Maximum number of stored dead letters; beyond it, the oldest are removed."),
    .duration(
      "drain-time", \.drainTime, .running, in: .zero...(.seconds(3600)),
      help:
        "Timeout for an orderly shutdown after SIGTERM; connections that are still open are then "
        + "closed by force."),
    .loops(
      "loops", \.loops, .running,
      help:
        "Number of threads that serve connections; more than one requires store-url. auto "
        + "uses one for each core if there are four or more cores, up to 16, otherwise one."),
    .duration(
      "turn-time-max", \.turnTimeMax, .running, in: .zero...(.seconds(3600)),
      help:
        "Maximum processor time of one turn of the server's loop, which no message should "
        + "reach; beyond it, the process logs where it was and exits. 0 disables the limit."),
    .choice(
      "log-level", \.logLevel, .running, "LEVEL",
      of: LogLevel.named.map { (word: $0.word, value: $0.level) },
      help:
        "Lowest level of log lines that are written: trace, debug, info, notice, warning or "
        + "error.", word: \.word),
    .choice(
      "log-format", \.logFormat, .running, "FORMAT",
      of: LogFormat.allCases.map { (word: $0.rawValue, value: $0) },
      help: "Format of log lines: text, for people, or json, one object a line.", word: \.rawValue),
    .choice(
      "metrics", \.metricsAudience, .running, "WHO",
      of: MetricsAudience.allCases.map { (word: $0.rawValue, value: $0) },
      help:
        "Clients that may read /metrics: local (programs on this machine that connect without "
        + "a proxy), anyone, or nobody (it is switched off).", word: \.rawValue),
    .text(
      "echo-path", \.echoPath, .running, "PATH",
      help:
        "Path of a WebSocket endpoint that returns every message, without a token; only for "
        + "tests and load programs."),
  ]

  /// Whether the flag of this name takes a value.
  package static func takesValue(_ name: String) -> Bool {
    if name == "config" { return true }
    guard let setting = setting(named: name) else { return false }
    if case .flag = setting.shape { return false }
    return true
  }

  /// Returns the setting with exactly this name.
  package static func setting(named name: some StringProtocol) -> Setting? {
    settings.first { $0.name == name }
  }
}

extension LogLevel {
  fileprivate static let named: [(level: LogLevel, word: String)] = [
    LogLevel.trace, .debug, .info, .notice, .warning, .error,
  ].map { ($0, $0.word) }

  /// The level's name in log lines and settings.
  package var word: String {
    switch self {
    case .trace: "trace"
    case .debug: "debug"
    case .info: "info"
    case .notice: "notice"
    case .warning: "warning"
    case .error: "error"
    }
  }
}
