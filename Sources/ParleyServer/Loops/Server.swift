import ParleyCryptoOpenSSL
import Gateway
public import ParleyGatewayPorts
import ParleyLocks
import SocketMessages
import ParleyTransportLibwebsockets

/// A complete Parley server: store, gateway and transport, connected with each other.
///
///     loop thread                               store thread
///     sockets ─▶ Gateway ─▶ StoreThread.submit ─▶ one transaction, one sync
///     sockets ◀─ Gateway ◀─ wake ◀─────────────── completions
///                            └─▶ reading thread: texts and histories, on a separate connection
///
/// The loop thread owns the connections and the whole gateway; the store thread owns the store.
/// They share only two queues.
///
/// With several loops, each has its own pair of threads, like a separate node:
///
///     loop 0   accepts ─▶ ConnectionBalancer deals out connections ─▶ loops 0 … n
///     loop i   Gateway ◀─▶ LoopBroker ◀─▶ the gateways of the other loops, and of other machines
public final class Server: Sendable {
  private let group: LoopGroup
  private let shared: SharedParts
  /// The store thread of each loop.
  private let storeThreads: [StoreThread]
  private let loopGuard: LoopWatchdog
  private let stopStage = Monitor("requests under way")
  /// The paths of certificate and key; `nil` without TLS.
  private let tls: (certificatePath: String, keyPath: String)?
  private let log: any LogSink

  /// Opens the store and the socket, and starts to serve.
  ///
  /// - Parameter manager: The service manager, which receives watchdog messages while the server is
  ///   healthy, if it uses a watchdog.
  /// - Throws: `FileError`, `JWTKeyError`, `APIKeyFileError`, `StoreOpenError`, `StoreError` or
  ///   `TransportError`, with the problem and its remedy.
  public init(
    configuration: Configuration, log: any LogSink, manager: ServiceManager? = nil
  ) throws {
    try Self.prepareProcess(configuration, log: log)
    let stores = try OpenStores(configuration, log: log)
    let hookSecrets = try configuration.webhookSecrets(log: log)
    let users = try configuration.users(log: log)
    var provider = try configuration.providerSettings()
    provider?.users = users
    let revocations = try SharedRevocations(
      path: configuration.revocationsPath, hasOthers: configuration.isStoreInDatabase, log: log)
    let group = LoopGroup(configuration, log: log)
    group.loops[0].exchange.place = stores.first.prepare { revocations.catchUp(from: $0) }
    let shared = try SharedParts(
      configuration, users: users, provider: provider, revocations: revocations, stores: stores,
      group: group, log: log)
    var storeThreads: [StoreThread] = []
    do {
      for loop in group.loops {
        let storeThread = try shared.startStoreThread(of: loop, in: group, on: stores)
        storeThreads.append(storeThread)
        try shared.attach(loop, storeThread, in: group, stores.secrets)
      }
      try group.start()
    } catch {
      shared.stop(with: storeThreads)
      group.registry?.dissolve()
      throw error
    }
    tls = configuration.transport.tls.map { ($0.certificatePath, $0.keyPath) }
    self.log = log
    self.group = group
    self.shared = shared
    self.storeThreads = storeThreads
    loopGuard = LoopWatchdog(
      group.transports.map(\.pulse), limit: configuration.turnTimeMax, manager: manager
    ) { data in
      let hint = "please report this line; the service manager may start the server again"
      ForcedEnd.now(
        ForcedEnd.ExitCode.loopIsStuck, log, "the loop is stuck", data + [("hint", hint)])
    }
    startHooks(configuration, hookSecrets)
    startMail(configuration)
  }

  /// Checks the certificate, raises the limit of open files and creates the data folder.
  private static func prepareProcess(_ configuration: Configuration, log: any LogSink) throws {
    if let tls = configuration.transport.tls {
      _ = try ServerCertificate(certificatePath: tls.certificatePath, keyPath: tls.keyPath)
    }
    let wanted = configuration.openFilesWanted
    let openFiles = OpenFiles.settle(wanted: wanted)
    if openFiles < wanted {
      log.write(
        .warning, "too few open files for connections-max",
        [("allowed", "\(openFiles)"), ("hint", "raise LimitNOFILE or ulimit -n")])
    }
    try Files.makeDirectory(configuration.dataDirectory)
  }

  /// Starts the thread that calls webhooks, if any are configured.
  private func startHooks(_ configuration: Configuration, _ secrets: WebhookSecrets) {
    guard let inbox = shared.hooks, let recorder = configuration.recorder else { return }
    storeThreads[0].tell(recorder.serverStarted(at: SystemClock().now))
    let (first, mailbox) = (group.loops[0], group.transports[0].mailbox)
    WebhookDispatcher.start(
      configuration.hooks, secrets: secrets, inbox: inbox, store: storeThreads[0],
      isShared: configuration.isStoreInDatabase,
      resolve: { news, proceed in mailbox.post { first.drafts(for: news, then: proceed) } },
      log: log)
  }

  /// Starts the thread that sends mail, if a mail server is configured.
  private func startMail(_ configuration: Configuration) {
    guard let inbox = shared.mail, let server = configuration.mailServer else { return }
    MailDispatcher.start(
      server, configuration.mailSchedule, inbox: inbox, store: storeThreads[0],
      isShared: configuration.isStoreInDatabase, log: log)
  }

  /// The listen port; chosen by the system if the setting is 0.
  public var port: Int { group.transports[0].boundPort }

  /// The port of ``Configuration/apiListen``; 0 without it.
  public var apiPort: Int { group.transports[0].boundBackPort }

  /// Reloads the file of users, the certificate and its key. If a file is unusable, logs the error
  /// and continues with the former content. May be called on any thread.
  public func reload() {
    if let users = shared.users { _ = group.transports[0].post { users.reload() } }
    guard let tls else {
      if shared.users == nil { log.write(.notice, "nothing to reload", []) }
      return
    }
    let log = log
    let expiry: Int64
    do throws(ServerCertificate.Failure) {
      expiry = try ServerCertificate(
        certificatePath: tls.certificatePath, keyPath: tls.keyPath
      ).expiry
    } catch {
      log.write(.error, "certificate not reloaded", [("reason", "\(error)")])
      return
    }
    // Only the first loop accepts connections, so only it needs the certificate.
    group.transports[0].reloadCertificate { failure in
      if let failure {
        log.write(.error, "certificate not reloaded", [("reason", "\(failure)")])
      } else {
        log.write(.notice, "certificate reloaded", [("expires", UTCDate.text(seconds: expiry))])
      }
    }
  }

  /// Asks clients to reconnect, writes accepted changes, stops all threads, and returns when they
  /// have ended. May be called on any thread but a loop's.
  ///
  /// If the disk does not respond, it returns late or never: see ``ForcedEnd``.
  ///
  /// - Parameter drainMilliseconds: The time limit: 50 % for writing and acknowledging accepted
  ///   changes, up to 80 % for closing connections, the rest for the store.
  public func stop(drainMilliseconds: Int) {
    let start = SystemClock().uptime
    func left(untilPercent share: Int) -> Int {
      max(0, drainMilliseconds * share / 100 - Int(SystemClock().uptime - start))
    }
    group.transports[0].stopAccepting()
    let unsettled = Monitor(0)
    for (loop, transport) in zip(group.loops, group.transports) {
      unsettled.withLock { $0 += 1 }
      @Sendable func settle() {
        unsettled.change { $0 -= 1 }
      }
      if !transport.post({ loop.drain(onSettled: settle) }) { settle() }
    }
    unsettled.wait(atMostMilliseconds: left(untilPercent: 50)) { $0 == 0 }
    // Before the connections are closed, since they still receive its responses.
    stopStage.withLock { $0 = "the compression of lists" }
    shared.packingThread.stop()
    stopStage.withLock { $0 = "connections" }
    let share = left(untilPercent: 80)
    Concurrently.run(group.transports) { transport in
      transport.stop(
        code: CloseCode(CloseReason.draining.rawValue),
        reason: "the server is stopping; reconnect", within: share)
    }
    group.registry?.dissolve()
    // Calls without a response are repeated after the next start.
    stopStage.withLock { $0 = "calls to services" }
    shared.hooks?.stop()
    stopStage.withLock { $0 = "mail" }
    shared.mail?.stop()
    stopStage.withLock { $0 = "the broker" }
    shared.broker?.stop()
    stopStage.withLock { $0 = "search" }
    shared.searchThread.stop()
    stopStage.withLock { $0 = "the store" }
    // Concurrently, since each stop interrupts the wait for an unreachable database.
    Concurrently.run(storeThreads) { $0.stop() }
    stopStage.withLock { $0 = "logins" }
    shared.loginThread?.stop()
    stopStage.withLock { $0 = "the identity provider" }
    shared.provider?.thread.stop()
    stopStage.withLock { $0 = "the file of revocations" }
    shared.revocations.stop()
    loopGuard.stop()
  }

  /// The step that ``stop(drainMilliseconds:)`` is waiting for, in words.
  public var stopWaitsFor: String { stopStage.withLock { $0 } }
}
