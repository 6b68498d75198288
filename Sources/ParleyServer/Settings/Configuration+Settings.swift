import Gateway
import GatewayPorts
import SocketMessages
import TransportLibwebsockets

/// A setting as operators know it: its names, its value and its effect.
///
/// The name is the key of the configuration file. `ping-interval` is `--ping-interval` as a flag
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
    case running = "Running"
  }

  /// The shape of a setting: a flag, one value, or a list of values.
  package enum Shape: Sendable {
    /// `--name` alone means yes.
    case flag
    /// `--name VALUE`, once.
    case value
    /// `--name VALUE`, repeated, or several separated by commas.
    case list
  }

  /// In lower case, with hyphens.
  package let name: String
  /// The setting's section of the help.
  package let section: Section
  /// The setting's shape.
  package let shape: Shape
  /// The value's name in the help.
  package let placeholder: String
  /// The help text: one or two sentences without the default.
  package let help: String
  /// The accepted values, as an error names them.
  package let expected: String

  /// Whether a value may hold a secret, so that no error repeats it.
  package private(set) var isSecret = false

  private let change: @Sendable (inout Configuration, [String]) -> Bool
  private let show: @Sendable (Configuration) -> String
  private let explain: @Sendable ([String]) -> String?

  /// The name in the environment.
  package var variable: String {
    "PARLEY_" + String(name.map { $0 == "-" ? "_" : $0 }).uppercased()
  }

  /// Sets it from what was written; `false` when that is not what the setting takes.
  ///
  /// - Parameter values: one value, or any number for a list.
  package func set(_ values: [String], in configuration: inout Configuration) -> Bool {
    change(&configuration, values)
  }

  /// The accepted values, as an error about rejected ones names them.
  package func expected(inPlaceOf values: [String]) -> String { explain(values) ?? expected }

  /// The value as an operator would write it; empty for nothing.
  package func text(in configuration: Configuration) -> String { show(configuration) }

  /// Declares a setting of any type through how it is read and written.
  private init<Value>(
    _ name: String, _ property: any WritableKeyPath<Configuration, Value> & Sendable,
    _ section: Section, _ shape: Shape, _ placeholder: String, expected: String, help: String,
    read: @escaping @Sendable (String) -> Value?, write: @escaping @Sendable (Value) -> String
  ) {
    self.name = name
    self.section = section
    self.shape = shape
    self.placeholder = placeholder
    self.help = help
    self.expected = expected
    change = { configuration, values in
      guard let text = values.last, let value = read(text) else { return false }
      configuration[keyPath: property] = value
      return true
    }
    show = { write($0[keyPath: property]) }
    explain = { _ in nil }
  }

  /// The range of rates and counts; 0 is no limit.
  static let rates = 0...1_000_000_000
  /// The range of rates in bytes.
  static let byteRates = 0...(1 << 40)

  /// Yes or no.
  static func flag(
    _ name: String, _ property: any WritableKeyPath<Configuration, Bool> & Sendable,
    _ section: Section, help: String
  ) -> Setting {
    Setting(
      name, property, section, .flag, "", expected: "true or false", help: help,
      read: ValueText.bool, write: { $0 ? "true" : "false" })
  }

  /// Any text but none at all.
  static func text(
    _ name: String, _ property: any WritableKeyPath<Configuration, String> & Sendable,
    _ section: Section, _ placeholder: String, help: String
  ) -> Setting {
    Setting(
      name, property, section, .value, placeholder, expected: "a text that is not empty",
      help: help, read: { $0.isEmpty ? nil : $0 }, write: { $0 })
  }

  /// Any text, or none.
  static func text(
    _ name: String, _ property: any WritableKeyPath<Configuration, String?> & Sendable,
    _ section: Section, _ placeholder: String, help: String
  ) -> Setting {
    Setting(
      name, property, section, .value, placeholder, expected: "a text that is not empty",
      help: help, read: { $0.isEmpty ? nil : .some($0) }, write: { $0 ?? "" })
  }

  /// Any text, or none, where an empty one is meant.
  static func text(
    _ name: String, _ property: any WritableKeyPath<Configuration, String> & Sendable,
    _ section: Section, _ placeholder: String, mayBeEmpty: Bool, help: String
  ) -> Setting {
    Setting(
      name, property, section, .value, placeholder, expected: "a text", help: help,
      read: { $0.isEmpty && !mayBeEmpty ? nil : $0 }, write: { $0 })
  }

  /// A setting for an address that is reached encrypted, or on this machine; it may be empty.
  static func privateAddress(
    _ name: String, _ property: any WritableKeyPath<Configuration, String?> & Sendable,
    _ section: Section, help: String
  ) -> Setting {
    Setting(
      name, property, section, .value, "URL",
      expected: "an address such as https://notes.example.org, without ? and #; http:// only for "
        + "this machine", help: help,
      read: { Configuration.isPrivateAddress($0) ? .some($0) : nil }, write: { $0 ?? "" })
  }

  /// A setting for a service's URL, which may be empty.
  static func hook(
    _ name: String, _ property: any WritableKeyPath<Configuration, String?> & Sendable,
    _ section: Section, help: String
  ) -> Setting {
    Setting(
      name, property, section, .value, "URL",
      expected: "an address such as https://app.example.org/parley, without a password",
      help: help, read: { HookAddress($0) == nil ? nil : .some($0) }, write: { $0 ?? "" })
  }

  /// A setting for a database's address, whose password is never shown.
  static func address(
    _ name: String, _ property: any WritableKeyPath<Configuration, String?> & Sendable,
    _ section: Section, help: String
  ) -> Setting {
    var setting = Setting(
      name, property, section, .value, "URL",
      expected: "an address such as postgres://parley@db.example.org/parley", help: help,
      read: { Configuration.isStoreURL($0) ? .some($0) : nil },
      write: { $0.map(Configuration.shownStoreURL) ?? "" })
    setting.isSecret = true
    return setting
  }

  /// A setting for a broker's address, whose password is never shown.
  static func broker(
    _ name: String, _ property: any WritableKeyPath<Configuration, String?> & Sendable,
    _ section: Section, help: String
  ) -> Setting {
    var setting = Setting(
      name, property, section, .value, "URL",
      expected: "an address such as nats://broker.example.org:4222 or "
        + "postgres://parley@db.example.org/parley, or none", help: help,
      read: { Configuration.isBrokerURL($0) ? .some($0) : nil },
      write: { $0.map(Configuration.shownBrokerURL) ?? "" })
    setting.isSecret = true
    return setting
  }

  /// A setting for an address to listen on, which may be empty.
  static func listenAddress(
    _ name: String, _ property: any WritableKeyPath<Configuration, String?> & Sendable,
    _ section: Section, help: String
  ) -> Setting {
    Setting(
      name, property, section, .value, "HOST:PORT",
      expected: "an address and a port such as 127.0.0.1:8081",
      help: help, read: { ListenAddress($0) == nil ? nil : .some($0) }, write: { $0 ?? "" })
  }

  /// A number within bounds.
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

  /// A number of loops, or as many as the machine is good for.
  static func loops(
    _ name: String, _ property: any WritableKeyPath<Configuration, Int?> & Sendable,
    _ section: Section, help: String
  ) -> Setting {
    let range = 1...LoopCrew.countMax
    return Setting(
      name, property, section, .value, "NUMBER",
      expected: "a whole number from \(range.lowerBound) to \(range.upperBound), or auto",
      help: help,
      read: { text in
        if text == "auto" { return .some(nil) }
        return ValueText.number(text).flatMap { range.contains($0) ? .some($0) : nil }
      }, write: { $0.map(String.init) ?? "auto" })
  }

  /// A number of bytes within bounds.
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

  /// A time within bounds.
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

  /// A setting with one of a few words.
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

  /// Any number of texts that `isValid` accepts.
  static func list(
    _ name: String, _ property: any WritableKeyPath<Configuration, [String]> & Sendable,
    _ section: Section, _ placeholder: String, expected: String, help: String,
    isValid: @escaping @Sendable (String) -> Bool
  ) -> Setting {
    list(
      name, property, section, placeholder, separator: ",", expected: expected, help: help,
      problem: { isValid($0) ? nil : expected })
  }

  /// Any number of texts for which `problem` returns `nil`; otherwise it says what was expected.
  static func list(
    _ name: String, _ property: any WritableKeyPath<Configuration, [String]> & Sendable,
    _ section: Section, _ placeholder: String, separator: Character, expected: String,
    help: String, problem: @escaping @Sendable (String) -> String?
  ) -> Setting {
    let items = { @Sendable (values: [String]) in
      values.flatMap { ValueText.list($0, separator: separator) }
    }
    return Setting(
      list: name, section, placeholder, expected: expected, help: help,
      change: { configuration, values in
        let items = items(values)
        guard items.allSatisfy({ problem($0) == nil }) else { return false }
        configuration[keyPath: property] = items
        return true
      },
      show: { $0[keyPath: property].joined(separator: "\(separator) ") },
      explain: { values in items(values).lazy.compactMap(problem).first })
  }

  private init(
    list name: String, _ section: Section, _ placeholder: String, expected: String, help: String,
    change: @escaping @Sendable (inout Configuration, [String]) -> Bool,
    show: @escaping @Sendable (Configuration) -> String,
    explain: @escaping @Sendable ([String]) -> String?
  ) {
    self.name = name
    self.section = section
    shape = .list
    self.placeholder = placeholder
    self.help = help
    self.expected = expected
    self.change = change
    self.show = show
    self.explain = explain
  }
}

extension Configuration {
  /// Every setting, in the order of the help.
  package static let settings: [Setting] = plainSettings + providerSettingList

  private static let plainSettings: [Setting] = [
    .text(
      "host", \.host, .listening, "ADDRESS",
      help: "Address to listen on."),
    .number(
      "port", \.port, .listening, "PORT", in: 0...65_535,
      help: "Port for the page, the HTTP API and WebSockets; 0 takes a free one."),
    .listenAddress(
      "api-listen", \.apiListen, .listening,
      help: "Address of its own for programs: /metrics and all of the HTTP API, to which API keys "
        + "open only there then; the page keeps what it needs. Without it all is at one port."),
    .flag(
      "allow-open-network", \.allowOpenNetwork, .listening,
      help: "Accept a host other than loopback although anyone who connects may read and write."),
    .list(
      "allowed-origin", \.allowedOrigins, .listening, "ORIGIN",
      expected: "origins such as https://notes.example.org, or *",
      help: "Pages of other sites that may connect; the server's own page always may. "
        + "Repeat for more; * lets every site in.",
      isValid: ValueText.isOrigin),
    .list(
      "frame-ancestor", \.frameAncestors, .listening, "ORIGIN",
      expected: "origins such as https://intranet.example.org, or *",
      help: "Sites whose pages may show the page of notes in a frame; without it none may. "
        + "Repeat for more; * lets every site.",
      isValid: ValueText.isOrigin),
    .list(
      "trusted-proxy", \.trustedProxies, .listening, "ADDRESS",
      expected: "addresses or ranges such as 10.0.0.0/8 or ::1",
      help:
        "Proxies that are believed when X-Forwarded-For, -Proto and -Host say where a client is "
        + "and what it asked for. Repeat for more.",
      isValid: { AddressRange($0) != nil }),
    .flag(
      "proxy-protocol", \.proxyProtocol, .listening,
      help:
        "Connections from a trusted-proxy begin with a header of the PROXY protocol, version 1 or "
        + "2, which says where the client is."),
    .text(
      "tls-certificate", \.certificatePath, .listening, "FILE",
      help: "Certificate in PEM form, its chain behind it: connections are encrypted. Read again "
        + "on SIGHUP."),
    .text(
      "tls-key", \.certificateKeyPath, .listening, "FILE",
      help: "Private key of tls-certificate, in PEM form."),
    .text(
      "web-dir", \.webDirectory, .listening, "FOLDER",
      help: "Folder with the page. Without it: Web beside or above the program, or here."),
    .flag(
      "no-offline-page", \.forbidsOfflinePage, .listening,
      help:
        "Browsers keep neither the page nor copies of notes for working while this server cannot be "
        + "reached, and remove what they have kept."),
    .list(
      "auth-key", \.keyFiles, .access, "[KID=]FILE", expected: "files, each perhaps behind KID=",
      help: "PEM public key (RSA, P-256 or Ed25519) that tokens are checked with; repeat for more. "
        + "With any key, secret or key set, every client needs a token.",
      isValid: { !$0.isEmpty }),
    .list(
      "hmac-secret-file", \.secretFiles, .access, "[KID=]FILE",
      expected: "files, each perhaps behind KID=",
      help: "File with a secret of at least 32 bytes, as it is or behind base64url:, that HS256 "
        + "tokens are checked with.",
      isValid: { !$0.isEmpty }),
    .list(
      "jwks-file", \.keySetFiles, .access, "FILE", expected: "files",
      help: "JSON Web Key Set; it is read again when it changes, as key files are.",
      isValid: { !$0.isEmpty }),
    .list(
      "audience", \.audiences, .access, "NAME", expected: "names",
      help: "A token has to name one of these as its aud. Without any, a token with an aud is "
        + "refused.",
      isValid: { !$0.isEmpty }),
    .list(
      "issuer", \.issuers, .access, "NAME", expected: "names",
      help: "A token's iss has to be one of these. Without any, every issuer is accepted.",
      isValid: { !$0.isEmpty }),
    .list(
      "issuer-profile", \.issuerProfiles, .access, "PROFILE", separator: ";",
      expected: "profiles such as app hmac-secret-file:FILE user-claim:userID",
      help: "Another issuer of tokens, with keys and rules of its own: a NAME, then words such as "
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
      "room-token-audience", \.roomTokenAudiences, .access, "NAME", expected: "names",
      help: "Accept room tokens of Twake's kind that name one of these as their aud. Without any, "
        + "none is accepted.",
      isValid: { !$0.isEmpty }),
    .duration(
      "clock-skew", \.clockSkew, .access, in: .zero...(.seconds(600)),
      help: "By how much the clocks of issuer and server may differ."),
    .text(
      "api-key-file", \.apiKeyFile, .access, "FILE",
      help: "File with a line for each API key; parley apikey makes them. Read again when it "
        + "changes."),
    .text(
      "users-file", \.usersFile, .access, "FILE",
      help: "File of users who log in with passwords; parley user makes its lines. Read again when "
        + "it changes. With it, every client needs a token."),
    .duration(
      "access-token-time", \.accessTokenTime, .access, in: .seconds(10)...(.seconds(86_400)),
      help: "How long a token is good for that a login gives."),
    .duration(
      "refresh-token-time", \.refreshTokenTime, .access,
      in: .seconds(60)...(.seconds(366 * 86_400)),
      help:
        "How long a session lasts without being used: until then a refresh token gives new tokens."),
    .duration(
      "session-time", \.sessionTime, .access, in: .seconds(60)...(.seconds(10 * 366 * 86_400)),
      help: "How long after a login its session ends, however it is used."),
    .flag(
      "allow-token-in-url", \.allowTokenInURL, .access,
      help: "Accept ?token= at upgrades and requests, where logs and histories may keep it."),
    .flag(
      "allow-legacy-room-tokens", \.allowLegacyRoomTokens, .access,
      help: "Let the room token \"twake\" open every room to every user, as old Twake servers did."),
    .text(
      "data-dir", \.dataDirectory, .storage, "FOLDER",
      help: "Folder of the database, made when missing."),
    .address(
      "store-url", \.storeURL, .storage,
      help:
        "Address of a PostgreSQL database that holds everything in place of a file in data-dir. "
        + "It may have a password in the file and the environment; it is never shown."),
    .broker(
      "broker-url", \.brokerURL, .storage,
      help:
        "Carrier of hints between gateways that share a database: a nats:// or a postgres:// "
        + "address, by default store-url, or none. Without hints, changes of other gateways are found by looking."
    ),
    .text(
      "node-name", \.nodeName, .storage, "NAME",
      help:
        "Name of this gateway for operators, among those on one database; without it, the machine's "
        + "name and the port."),
    .number(
      "store-queue-max", \.storeQueueMax, .storage, in: 10...10_000_000,
      help: "Changes, publications and other requests waiting for the disk, over all; beyond, new "
        + "ones are refused as busy."),
    .bytes(
      "store-queue-size-max", \.storeQueueBytesMax, .storage, in: (64 << 10)...(64 << 30),
      help: "Bytes of what waits for the disk, over all; beyond, new changes and publications are "
        + "refused as busy."),
    .duration(
      "store-stall-time", \.storeStallTime, .storage, in: (.milliseconds(100))...(.seconds(3600)),
      help: "When the disk has not answered for this long, /ready says that changes are not taken."),
    .number(
      "history-changes-min", \.historyChangesMin, .storage, in: 0...1_000_000_000,
      help: "Newest changes of each note that are kept; older ones are forgotten once they are "
        + "also older than history-age-min. 0 for both keeps everything."),
    .duration(
      "history-age-min", \.historyAgeMin, .storage, in: .zero...(.seconds(100 * 366 * 86_400)),
      help: "Changes younger than this are kept, however many they are."),
    .duration(
      "deleted-age-max", \.deletedAgeMax, .storage, in: .zero...(.seconds(100 * 366 * 86_400)),
      help: "Deleted notes are kept for this time and may come back; 0 removes them at once."),
    .bytes(
      "file-size-max", \.fileBytesMax, .storage, in: 0...(256 << 20),
      help: "Bytes of a picture or other file in a note; 0 takes none."),
    .bytes(
      "note-files-size-max", \.noteFilesBytesMax, .storage, in: 0...(1 << 40),
      help: "Bytes of all files of one note."),
    .bytes(
      "files-disk-reserve", \.filesDiskReserve, .storage, in: 0...(1 << 40),
      help: "Bytes of the disk that are left to text: with less, no file is taken. A database in "
        + "store-url is not looked at."),
    .bytes(
      "uploads-size-max", \.uploadsBytesMax, .storage, in: (1 << 20)...(1 << 34),
      help:
        "Bytes of memory for files that are being uploaded; beyond, uploads are refused as busy."),
    .duration(
      "unused-files-age-min", \.unusedFilesAgeMin, .storage,
      in: .seconds(1)...(.seconds(100 * 366 * 86_400)),
      help: "Files that no kept revision of their note names are removed when they are older."),
    .duration(
      "ping-interval", \.pingInterval, .connections, in: .seconds(1)...(.seconds(3600)),
      help: "A quiet connection is sent a ping this often."),
    .duration(
      "idle-timeout", \.idleTimeout, .connections, in: .seconds(2)...(.seconds(7200)),
      help: "A connection that sends nothing, not even a pong, is closed after this time."),
    .number(
      "sessions-max", \.sessionsMax, .connections, in: 1...1_000_000,
      help: "Sessions of Socket.IO and Bayeux at once, polling ones included; more are refused."),
    .duration(
      "authenticate-time", \.authenticateTime, .connections, in: .seconds(1)...(.seconds(600)),
      help: "A Socket.IO client that has not authenticated after this time is disconnected."),
    .duration(
      "recovery-time", \.recoveryTime, .connections, in: .zero...(.seconds(3600)),
      help: "Time within which a Socket.IO client that asked for it can recover its session; 0 for "
        + "never."),
    .bytes(
      "recovery-size-max", \.recoveryBytesMax, .connections, in: (64 << 10)...(1 << 30),
      help: "Bytes kept of what such clients were sent, for all together."),
    .flag(
      "recover-all-sessions", \.recoversAllSessions, .connections,
      help: "Let every client of Socket.IO 3 or later recover its session, unasked: each event "
        + "then has one more argument."),
    .duration(
      "connect-hold", \.connectHold, .connections, in: .seconds(1)...(.seconds(600)),
      help: "A Bayeux connect without an event is answered after this time."),
    .number(
      "connections-max", \.connectionsMax, .connections, in: 1...1_000_000,
      help: "Connections at once; more are refused."),
    .bytes(
      "message-size-max", \.messageBytesMax, .connections, in: 1024...(64 << 20),
      help: "One message from a client; a larger one is refused and its connection closed."),
    .bytes(
      "queue-size-max", \.queuedBytesMax, .connections, in: (64 << 10)...(1 << 30),
      help: "Bytes waiting for one slow connection; beyond, it is closed and resumes."),
    .bytes(
      "responses-size-max", \.responseBytesMax, .connections, in: (1 << 20)...(64 << 30),
      help: "Bytes of HTTP responses waiting for slow readers, over all connections; equal ones "
        + "count once, and beyond, 503 is answered."),
    .number(
      "documents-per-connection-max", \.documentsPerConnectionMax, .connections, in: 1...10_000,
      help: "Documents joined by one connection."),
    .number(
      "rooms-per-connection-max", \.roomsPerConnectionMax, .connections, in: 1...10_000,
      help: "Rooms subscribed to by one connection."),
    .duration(
      "hello-time", \.helloTime, .connections, in: .milliseconds(100)...(.seconds(600)),
      help: "A parley.v1 client that has not said hello after this time is closed."),
    .duration(
      "request-time", \.requestTime, .connections, in: .seconds(1)...(.seconds(600)),
      help: "A request's head must be here after this time, and so must its body, which has one "
        + "second more for every 16 KiB."),
    .duration(
      "keep-alive-time", \.keepAliveTime, .connections, in: .seconds(1)...(.seconds(3600)),
      help: "An HTTP connection without a request is closed after this time."),
    .number(
      "rate-burst-seconds", \.limits.burstSeconds, .limits, "SECONDS", in: 1...3_600,
      help: "Burst of each of the following rates, in seconds of that rate."),
    .number(
      "connection-message-rate", \.limits.messagesPerSecondMax, .limits, in: Setting.rates,
      help: "Messages of one connection in a second; 0, as for all rates, is no limit."),
    .bytes(
      "connection-byte-rate", \.limits.bytesPerSecondMax, .limits, in: Setting.byteRates,
      help: "Bytes of one connection's messages in a second."),
    .number(
      "user-connections-max", \.limits.userConnectionsMax, .limits, in: Setting.rates,
      help: "Connections of one user at once; 0 is no limit."),
    .number(
      "user-connect-rate", \.limits.userConnectsPerSecondMax, .limits, in: Setting.rates,
      help: "Connections that one user opens in a second."),
    .number(
      "user-message-rate", \.limits.userMessagesPerSecondMax, .limits, in: Setting.rates,
      help: "Messages of one user in a second, over all connections."),
    .bytes(
      "user-byte-rate", \.limits.userBytesPerSecondMax, .limits, in: Setting.byteRates,
      help: "Bytes of one user's messages in a second."),
    .number(
      "user-request-rate", \.limits.userRequestsPerSecondMax, .limits, in: Setting.rates,
      help: "HTTP requests in a second with tokens of one user, or with one API key."),
    .bytes(
      "comment-size-max", \.commentBytesMax, .limits, in: 64...4_096,
      help: "A comment's text."),
    .number(
      "note-comments-max", \.noteCommentsMax, .limits, in: 1...10_000,
      help: "Comments of one note, answers included."),
    .number(
      "user-comment-rate", \.userCommentsPerMinuteMax, .limits, in: 0...100_000,
      help: "Comments that one user makes in a minute; 0 is no limit."),
    .number(
      "address-connections-max", \.limits.addressConnectionsMax, .limits, in: Setting.rates,
      help: "Connections from one address at once; 0 is no limit. Of IPv6, 64 bits are an address."),
    .number(
      "address-connect-rate", \.limits.addressConnectsPerSecondMax, .limits, in: Setting.rates,
      help: "Connections that are opened from one address in a second."),
    .number(
      "address-message-rate", \.limits.addressMessagesPerSecondMax, .limits, in: Setting.rates,
      help: "Messages from one address in a second, over all connections."),
    .bytes(
      "address-byte-rate", \.limits.addressBytesPerSecondMax, .limits, in: Setting.byteRates,
      help: "Bytes of messages from one address in a second."),
    .number(
      "address-request-rate", \.limits.addressRequestsPerSecondMax, .limits, in: Setting.rates,
      help: "HTTP requests from one address in a second."),
    .number(
      "signs-rate", \.limits.signsPerSecondMax, .limits, in: 1...10_000,
      help: "Signs of life (typing, receipts, flags, subscribing) of a connection in a second."),
    .number(
      "grants-max", \.limits.grantsMax, .limits, in: 1...1_000,
      help: "Further tokens of one connection."),
    .bytes(
      "name-size-max", \.limits.nameBytesMax, .limits, in: 16...4_096,
      help: "A person's name."),
    .bytes(
      "title-size-max", \.limits.titleBytesMax, .limits, in: 16...65_536,
      help: "A note's title."),
    .bytes(
      "document-id-size-max", \.limits.documentIDBytesMax, .limits, in: 32...1_024,
      help: "A document's id."),
    .bytes(
      "room-name-size-max", \.limits.roomBytesMax, .limits, in: 32...1_024,
      help: "A room's name."),
    .bytes(
      "key-size-max", \.limits.keyBytesMax, .limits, in: 16...4_096,
      help: "A publication's key, a sender's name, a flag's reason."),
    .number(
      "selections-max", \.limits.selectionsMax, .limits, in: 1...1_000,
      help: "Selections of one client in one document."),
    .number(
      "page-max", \.limits.pageMax, .limits, in: 1...10_000,
      help: "Publications of one page of a room's history, or of one batch."),
    .number(
      "present-max", \.limits.presentMax, .limits, in: 1...100_000,
      help: "People present in one room."),
    .number(
      "presence-list-max", \.presenceListMax, .limits, in: 1...10_000,
      help: "People following a note up to which all are listed; beyond it, clients get a count, "
        + "and the names of as many who acted last."),
    .duration(
      "presence-lease", \.presenceLease, .limits, in: .seconds(1)...(.seconds(86_400)),
      help: "Who sends nothing for so long is not shown as present any more."),
    .duration(
      "typing-time", \.typingTime, .limits, in: .milliseconds(500)...(.seconds(600)),
      help: "Typing that is not renewed ends after so long."),
    .number(
      "operation-components-max", \.limits.operationComponentsMax, .limits, in: 3...10_000_000,
      help: "Components of one operation, each a run of kept, inserted or deleted text."),
    .number(
      "history-components-max", \.historyComponentsMax, .limits, in: 3...10_000_000,
      help: "Components of all changes that one change is rebased over; beyond, its author's "
        + "client rebases it."),
    .number(
      "document-length-max", \.documentScalarsMax, .documents, "CHARACTERS",
      in: 1...100_000_000,
      help: "Unicode scalars in one document; an edit beyond is refused."),
    .number(
      "room-history-max", \.roomHistoryMax, .rooms, in: 0...1_000_000,
      help: "Newest publications that a room remembers; 0 remembers none."),
    .duration(
      "room-history-age-max", \.roomHistoryAgeMax, .rooms,
      in: .zero...(.seconds(100 * 366 * 86_400)),
      help: "Publications older than this are forgotten, however few they are."),
    .list(
      "room-history", \.roomHistories, .rooms, "RULE",
      expected: "rules such as chat-*=500/24h",
      help: "Another memory for the rooms of a pattern, as PATTERN=NUMBER/TIME; a * at its end "
        + "matches anything. Repeat for more; the first that matches a room applies.",
      isValid: { RoomHistoryRule($0) != nil }),
    .bytes(
      "publication-size-max", \.publicationBytesMax, .rooms, in: 1...(4 << 20),
      help: "Data of one publication."),
    .duration(
      "presence-grace", \.presenceGrace, .rooms, in: .zero...(.seconds(3600)),
      help: "Time for which people whose connection broke stay shown in a room."),
    .flag(
      "block-both-ways", \.blocksBothWays, .rooms,
      help: "Hide blockers from the people they block, too."),
    .duration(
      "last-online-interval", \.lastOnlineInterval, .rooms, in: .seconds(1)...(.seconds(3600)),
      help: "Interval at which connected people are recorded; a killed server loses at most so "
        + "much."),
    .hook(
      "webhook-url", \.webhookURL, .webhooks,
      help: "An app's backend, called with what happens to notes and rooms."),
    .text(
      "webhook-secret-file", \.webhookSecretFile, .webhooks, "FILE",
      help: "File of secrets that all calls are signed with, one on each line, the newest first; "
        + "read again when it changes."),
    .list(
      "webhook-events", \.webhookEvents, .webhooks, "EVENT",
      expected: "some of " + WebhookEvent.allCases.map(\.rawValue).joined(separator: ", "),
      help: "What the backend is called with: "
        + WebhookEvent.allCases.map(\.rawValue).joined(separator: ", ") + ".",
      isValid: { WebhookEvent(rawValue: $0) != nil }),
    .duration(
      "webhook-change-interval", \.webhookChangeInterval, .webhooks,
      in: .zero...(.seconds(86_400)),
      help: "note.changed comes at most once in this time for each note; 0 for each commit."),
    .number(
      "webhook-batch-max", \.webhookBatchMax, .webhooks, in: 1...10_000,
      help: "Events in one call."),
    .bytes(
      "webhook-batch-size-max", \.webhookBatchBytesMax, .webhooks, in: 1024...(64 << 20),
      help: "Data in one call of several events."),
    .duration(
      "webhook-batch-delay", \.webhookBatchDelay, .webhooks, in: .zero...(.seconds(3600)),
      help: "An event waits for others to join its call for this long."),
    .hook(
      "push-url", \.pushURL, .webhooks,
      help: "Called once for each follower of a room who is offline, when something is published "
        + "with push."),
    .hook(
      "room-events-url", \.roomEventsURL, .webhooks,
      help: "Called when a room gets its first subscriber and loses its last."),
    .duration(
      "webhook-timeout", \.webhookTimeout, .webhooks, in: .milliseconds(100)...(.seconds(300)),
      help: "How long a call to any of these services may take."),
    .duration(
      "webhook-retry-min", \.webhookRetryMin, .webhooks, in: .milliseconds(10)...(.seconds(3600)),
      help: "The first pause after a call that failed; it doubles with each further one."),
    .duration(
      "webhook-retry-max", \.webhookRetryMax, .webhooks, in: .milliseconds(10)...(.seconds(86_400)),
      help: "The longest pause."),
    .duration(
      "webhook-give-up-age", \.webhookGiveUpAge, .webhooks,
      in: .zero...(.seconds(366 * 86_400)),
      help: "Events older than this that a call has failed for become dead letters."),
    .number(
      "webhook-queue-max", \.webhookQueueMax, .webhooks, in: 1...10_000_000,
      help: "Events that wait for a service; beyond, the oldest become dead letters."),
    .number(
      "webhook-dead-letters-max", \.webhookDeadLettersMax, .webhooks, in: 0...1_000_000,
      help: "Dead letters that are kept; beyond, the oldest are forgotten."),
    .duration(
      "drain-time", \.drainTime, .running, in: .zero...(.seconds(3600)),
      help: "After SIGTERM, connections have this long to end in good order; what has not ended by "
        + "then is ended by force."),
    .loops(
      "loops", \.loops, .running,
      help: "Threads that serve connections, each with a part of them; more than one takes a "
        + "store-url. auto is one for each core where there are four or more, up to 16; else 1."),
    .duration(
      "turn-time-max", \.turnTimeMax, .running, in: .zero...(.seconds(3600)),
      help: "When one turn of the server's loop has taken so much processor time, which no message "
        + "should ever do, the process ends and says where it was; 0 is no limit."),
    .choice(
      "log-level", \.logLevel, .running, "LEVEL",
      of: LogLevel.named.map { (word: $0.word, value: $0.level) },
      help: "trace, debug, info, notice, warning or error.", word: \.word),
    .choice(
      "log-format", \.logFormat, .running, "FORMAT",
      of: LogFormat.allCases.map { (word: $0.rawValue, value: $0) },
      help: "text, for people, or json, one object a line.", word: \.rawValue),
    .choice(
      "metrics", \.metricsAudience, .running, "WHO",
      of: MetricsAudience.allCases.map { (word: $0.rawValue, value: $0) },
      help: "Who is answered at /metrics: local (programs on this machine that come without a "
        + "proxy), anyone or nobody.", word: \.rawValue),
    .text(
      "echo-path", \.echoPath, .running, "PATH",
      help: "For tests and load programs only: WebSocket messages to this path are answered with "
        + "themselves, without a token."),
  ]

  /// Whether the flag of this name is followed by a value.
  package static func takesValue(_ name: String) -> Bool {
    if name == "config" { return true }
    guard let setting = setting(named: name) else { return false }
    if case .flag = setting.shape { return false }
    return true
  }

  /// The setting with this name, hyphens and case as in the configuration file.
  package static func setting(named name: some StringProtocol) -> Setting? {
    settings.first { $0.name == name }
  }
}

extension LogLevel {
  fileprivate static let named: [(level: LogLevel, word: String)] = [
    LogLevel.trace, .debug, .info, .notice, .warning, .error,
  ].map { ($0, $0.word) }

  /// The level as log lines and settings name it.
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
