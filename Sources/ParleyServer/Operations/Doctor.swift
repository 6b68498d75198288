import ParleyCryptoOpenSSL
import ParleyGatewayPorts
import Glibc
import ParleyTransportLibwebsockets

/// Checks whether this machine can run a configuration, without serving.
package struct Doctor {
  /// The severity of a finding.
  package enum Severity: String, Sendable {
    /// No problem.
    case fine = "ok"
    /// The server will run, but the operator should check the subject.
    case warning
    /// The server will not run, or not safely.
    case problem
  }

  /// The result of one check.
  package struct Finding: Sendable {
    /// The finding's severity.
    package let severity: Severity
    /// The checked subject, as one word.
    package let subject: String
    /// The finding and, unless the severity is `fine`, the remedy.
    package let text: String
  }

  private let configuration: Configuration
  private let executable: String
  private var findings: [Finding] = []
  /// Whether another program listens on the port; it may be a running instance of this server.
  private var isPortTaken = false

  /// Runs all checks, and returns their findings in order.
  package static func examine(_ configuration: Configuration, executable: String) -> [Finding] {
    var doctor = Doctor(configuration: configuration, executable: executable)
    doctor.examineOpenFiles()
    doctor.examineLoops()
    doctor.examineListening()
    doctor.examinePublicAddress()
    doctor.examineEncryption()
    doctor.examineAccess()
    doctor.examineProvider()
    doctor.examineOrigins()
    doctor.examineWebhooks()
    doctor.examineDisk()
    doctor.examineStore()
    doctor.examineClock()
    doctor.examinePage()
    return doctor.findings
  }

  private init(configuration: Configuration, executable: String) {
    self.configuration = configuration
    self.executable = executable
  }

  private mutating func note(_ severity: Severity, _ subject: String, _ text: String) {
    findings.append(Finding(severity: severity, subject: subject, text: text))
  }

  // MARK: Network

  /// Database connections that a gateway leaves free for upkeep and tools.
  private static let connectionsForOthers = 10

  private mutating func examineOpenFiles() {
    let limit = OpenFiles.limit().hard
    let wanted = configuration.openFilesWanted
    if limit >= wanted {
      note(.fine, "files", "\(limit) may be open, \(wanted) are enough for connections-max")
    } else {
      note(
        .warning, "files",
        "the limit is \(limit); connections-max requires \(wanted): raise LimitNOFILE or ulimit -n")
    }
  }

  private mutating func examineLoops() {
    let (count, cores) = (configuration.loopCount, Configuration.cores)
    // With one loop, the only finding is why `auto` has selected it.
    guard count > 1 else {
      if configuration.loops == nil {
        let why = configuration.isStoreInDatabase ? "\(cores) cores" : "a file in data-dir"
        note(.fine, "loops", "one, which is best for \(why)")
      }
      return
    }
    if count > cores {
      note(
        .warning, "loops",
        "\(count), but this process may use \(cores) cores: more loops cost without serving more; "
          + "set loops = \(cores), or auto")
    } else {
      note(
        .fine, "loops",
        "\(count) on \(cores) cores, with \(configuration.databaseConnections) connections to the "
          + "database")
    }
  }

  /// The listen addresses, separated by commas.
  private var hosts: String { configuration.hosts.joined(separator: ", ") }

  private mutating func examineListening() {
    let transport = LibwebsocketsTransport(
      configuration: configuration.transport, delegate: RejectingDelegate())
    do throws(TransportError) {
      try transport.start()
      transport.stop(within: 0)
      note(.fine, "listening", "\(hosts) port \(configuration.port) is free")
    } catch {
      if case .addressInUse = error {
        isPortTaken = true
        note(.warning, "listening", "\(error); ignore this if this Parley is running")
      } else {
        note(.problem, "listening", "\(error)")
      }
    }
  }

  /// Checks whether the proxy forwards WebSockets. Only a running server can be checked.
  private mutating func examinePublicAddress() {
    guard let address = configuration.publicURL else { return }
    guard isPortTaken else {
      note(.fine, "websockets", "\(address) is tested while the server runs: look again then")
      return
    }
    switch UpgradeProbe.ask(address) {
    case .passes: note(.fine, "websockets", "WebSockets pass at \(address)")
    case .removed:
      note(
        .problem, "websockets",
        "the proxy at \(address) removes the headers Upgrade and Connection, so live connections fail: configure "
          + "it to forward WebSockets, as in the examples in Packaging/proxies")
    case .other(let status):
      note(
        .warning, "websockets",
        "\(address) answers a WebSocket request with status \(status): look whether this is the address of this "
          + "server, and whether the proxy forwards WebSockets")
    case .unreachable(let reason):
      note(
        .warning, "websockets",
        "\(address) does not answer this machine (\(reason)): check name, proxy and certificate"
      )
    }
  }

  private mutating func examineEncryption() {
    guard let tls = configuration.transport.tls else {
      if configuration.listensOnLoopbackOnly {
        note(.fine, "tls", "none, and only this machine or a proxy on it can connect")
      } else {
        note(
          .warning, "tls",
          "none, and others can connect: tokens and notes can be read on the way; set "
            + "tls-certificate and tls-key, or listen on loopback behind a proxy")
      }
      return
    }
    do throws(ServerCertificate.Failure) {
      let certificate = try ServerCertificate(
        certificatePath: tls.certificatePath, keyPath: tls.keyPath)
      let days = (certificate.expiry - SystemClock().now / 1_000) / 86_400
      let expiry = UTCDate.text(seconds: certificate.expiry)
      if certificate.expiry * 1_000 <= SystemClock().now {
        note(.problem, "tls", "the certificate expired at \(expiry): renew it, then send SIGHUP")
      } else if days < 14 {
        note(.warning, "tls", "the certificate expires at \(expiry): renew it, then send SIGHUP")
      } else {
        note(.fine, "tls", "certificate and key match; the certificate expires in \(days) days")
      }
    } catch {
      note(.problem, "tls", "\(error)")
    }
  }

  // MARK: People

  private mutating func examineAccess() {
    do {
      let authenticator = try configuration.authenticator(log: nil)
      for warning in authenticator?.warnings ?? [] { note(.warning, "access", warning) }
      _ = try configuration.apiKeys(log: nil)
    } catch {
      note(.problem, "access", "\(error)")
      return
    }
    for warning in configuration.issuerWarnings { note(.warning, "access", warning) }
    if !configuration.isDemo {
      note(.fine, "access", "every client needs a token")
    } else if configuration.listensOnLoopbackOnly {
      note(.warning, "access", "every user of this machine may read and write: set auth-key")
    } else {
      note(
        .warning, "access",
        "everyone who reaches \(hosts) may read and write: set auth-key")
    }
  }

  private mutating func examineProvider() {
    do throws(FileError) {
      guard let provider = try configuration.providerSettings() else { return }
      if let problem = ProviderProbe.problem(with: provider) {
        note(
          .problem, "sign-in",
          "\(provider.issuer): \(problem): look whether oidc-issuer is what the provider calls itself, "
            + "and whether this machine reaches it")
      } else {
        note(
          .fine, "sign-in",
          "\(provider.issuer) answers; register \(provider.returnAddress) there as redirect URI")
      }
    } catch {
      note(.problem, "sign-in", "\(error)")
    }
  }

  private mutating func examineOrigins() {
    if configuration.allowedOrigins.contains("*") {
      note(.warning, "origin", "pages of every site may connect: name those that should")
    } else if configuration.allowedOrigins.isEmpty {
      note(.fine, "origin", "only the server's own page may connect")
    } else {
      note(.fine, "origin", "own page, \(configuration.allowedOrigins.joined(separator: ", "))")
    }
  }

  private mutating func examineWebhooks() {
    let addresses = configuration.hooks.addresses.sorted { $0.key.rawValue < $1.key.rawValue }
    do throws(JWTKeyError) {
      _ = try configuration.webhookSecrets(log: nil)
    } catch {
      note(.problem, "webhooks", "\(error)")
    }
    for (target, address) in addresses where !address.isPrivate {
      note(
        .warning, "webhooks",
        "calls to \(address.host) for \(target.word) can be read on the way: use https")
    }
    if !addresses.isEmpty, configuration.webhookSecretFile == nil {
      note(
        .warning, "webhooks",
        "calls are not signed, so anyone can forge them: set webhook-secret-file")
    }
    examineOutbox(addresses.map(\.key))
  }

  /// Checks the queues of events. A running server may be delivering events at the same time.
  private mutating func examineOutbox(_ targets: [OutboxTarget]) {
    guard configuration.isStoreInDatabase || Files.isFile(configuration.storePath),
      let store = try? configuration.store.openForReading() as? any ServerStore
    else { return }
    let queueStates = store.takeOutboxChanges()
    let dead = queueStates.values.reduce(0) { $0 + $1.deadLetters }
    for target in OutboxTarget.allCases {
      let queued = queueStates[target]?.queued ?? 0
      if target != .followers, queued > 0, !targets.contains(target) {
        note(
          .warning, "webhooks",
          "\(queued) events wait for \(target.word), which no longer has an address")
      } else if targets.contains(target) {
        let age = (SystemClock().now - (queueStates[target]?.oldest ?? SystemClock().now)) / 1_000
        let text = "\(queued) events wait for \(target.word)"
        note(
          age > 600 ? .warning : .fine, "webhooks",
          age > 600 ? text + ", the oldest for \(age / 60) min: check that service" : text)
      }
    }
    if dead > 0 {
      note(
        .warning, "webhooks",
        "\(dead) events were not delivered; parley webhooks lists them")
    }
  }

  // MARK: Machine

  private mutating func examineDisk() {
    let folder = configuration.dataDirectory
    guard Files.isFolder(folder) else {
      note(.fine, "disk", "\(folder) is not there yet; serve makes it")
      return
    }
    var space = statvfs()
    if statvfs(folder, &space) == 0 {
      let free = Int(space.f_bavail) * Int(space.f_frsize)
      let text = "\(free >> 20) MiB are free in \(folder)"
      switch free {
      case ..<(64 << 20): note(.problem, "disk", text + ": changes will soon be refused")
      case ..<(1 << 30): note(.warning, "disk", text + ": make room before it is full")
      default: note(.fine, "disk", text)
      }
    }
    if let kind = FileSystem.doubtful(at: folder) {
      note(.warning, "disk", "\(folder) is on \(kind)")
    }
    do throws(FileError) {
      let microseconds = try FileSystem.syncTime(in: folder)
      let text = "a sync takes \(Double(microseconds) / 1_000) ms"
      note(
        microseconds > 50_000 ? .warning : .fine, "disk",
        microseconds > 50_000 ? text + ", and every change waits for one: use a faster disk" : text)
    } catch {
      note(.problem, "disk", "\(error)")
    }
  }

  /// Checks whether this gateway's connections fit in the database's maximum, with some left for
  /// the database's upkeep and for tools.
  private mutating func examineConnections(_ allowed: Int) {
    let wanted = configuration.databaseConnections
    guard wanted > allowed - Self.connectionsForOthers else { return }
    note(
      .warning, "store",
      "the database allows \(allowed) connections, and this gateway has \(wanted): raise "
        + "max_connections there, or set loops to less than \(configuration.loopCount)")
  }

  /// Checks the store's files, or the connection to the database, without reading the notes.
  private mutating func examineStore() {
    let path = configuration.storeName
    do {
      if let promise = try configuration.storePromise() {
        note(.fine, "store", "\(path) is \(promise)")
      }
      if let allowed = try configuration.databaseConnectionsMax() { examineConnections(allowed) }
      note(
        .fine, "store",
        try configuration.store.exists()
          ? "\(path) is there; parley check reads all of it"
          : "\(path) is not there yet; serve makes it")
    } catch {
      note(.problem, "store", "\(error)")
    }
  }

  private mutating func examineClock() {
    let now = SystemClock().now / 1_000
    // The time of the first release; an earlier time is wrong.
    if now < 1_767_225_600 {
      note(
        .problem, "clock", "it is \(UTCDate.text(seconds: now)): set it, or all tokens are rejected"
      )
    } else if FileSystem.isClockSynchronised {
      note(.fine, "clock", "synchronised, \(UTCDate.text(seconds: now))")
    } else {
      note(
        .warning, "clock",
        "\(UTCDate.text(seconds: now)), and nothing keeps it right: run a time service such as "
          + "systemd-timesyncd or chrony")
    }
  }

  private mutating func examinePage() {
    do throws(ConfigurationError) {
      note(.fine, "page", try configuration.webDirectory(executable: executable))
    } catch {
      note(.problem, "page", "\(error)")
    }
  }
}
