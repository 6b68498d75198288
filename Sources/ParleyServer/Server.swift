import CLinux
import CryptoOpenSSL
import Gateway
public import GatewayPorts
import SocketMessages
import TransportLibwebsockets

/// A whole Parley: store, gateway and transport, wired together.
///
///     loop thread                               store thread
///     sockets ─▶ Gateway ─▶ StoreThread.submit ─▶ one transaction, one sync
///     sockets ◀─ Gateway ◀─ wake ◀─────────────── completions
///                            └─▶ reading thread: texts and histories, on a connection of its own
///
/// The loop thread owns the connections and all of the gateway; the store thread owns the store.
/// They share two queues and nothing else.
public final class Server: Sendable {
  private let loop: ServerLoop
  private let transport: any TransportControl
  private let storeThread: StoreThread
  private let loginThread: LoginThread?
  private let hooks: HookInbox?
  private let loopGuard: LoopGuard
  private let stopStage = Monitor("requests under way")
  /// The files of certificate and key; `nil` without encryption.
  private let tls: (certificatePath: String, keyPath: String)?
  private let log: any LogSink

  /// Opens the store and the socket, and begins to serve.
  ///
  /// - Parameter manager: told as long as the server is well, if it wants to hear that.
  /// - Throws: `FileError`, `JWTKeyError`, `APIKeyFileError`, `StoreOpenError`, `StoreError` or
  ///   `TransportError`, each saying what is in the way and what to do.
  public init(
    configuration: Configuration, log: any LogSink, manager: ServiceManager? = nil
  ) throws {
    if let tls = configuration.transport.tls {
      _ = try ServerCertificate(certificatePath: tls.certificatePath, keyPath: tls.keyPath)
    }
    let connections =
      configuration.connectionsMax
      + (configuration.apiListen == nil ? 0 : configuration.transport.backConnectionsMax)
    let openFiles = OpenFiles.settle(connections: connections)
    if openFiles < connections + OpenFiles.reserve {
      log.write(
        .warning, "too few open files for connections-max",
        [("allowed", "\(openFiles)"), ("hint", "raise LimitNOFILE or ulimit -n")])
    }
    CLinux_returnLargeBlocks()
    try Files.makeDirectory(configuration.dataDirectory)
    let store = Handover(try configuration.store.open())
    // Before anybody is connected, for it ends what they would come back to. A disk that is full now
    // leaves it to the next start.
    let idleSince = SystemClock().now - Self.emptyRoomMilliseconds
    store.prepare { _ = try? $0.removeEmptyRooms(idleSince: idleSince) }
    let tokens = HMACResumeTokens(
      secret: try store.prepare { try $0.secret(named: "resume tokens", byteCount: 32) })
    let secrets = try configuration.webhookSecrets(log: log)
    let users = try configuration.users(log: log)
    let access = ServerLoop.Access(
      authenticator: try configuration.authenticator(log: log),
      apiKeys: try configuration.apiKeys(log: log),
      ownTokens: try SelfSignedTokens(
        secret: try store.prepare { try $0.secret(named: "own tokens", byteCount: 32) },
        users: users),
      revocations: try RevocationFile(path: configuration.revocationsPath, log: log),
      users: users)
    let loop = ServerLoop(configuration: configuration, tokens: tokens, log: log)
    var settings = configuration.transport
    settings.acceptFailed = { reason in
      log.write(
        .warning, "connections cannot be accepted",
        [("reason", reason), ("hint", "raise LimitNOFILE or ulimit -n")])
    }
    settings.announcementRefused = { proxy, count in
      log.write(
        .warning, "proxy header refused",
        [
          ("proxy", proxy), ("count", "\(count)"),
          (
            "hint",
            "with proxy-protocol, each connection of a trusted-proxy begins with a PROXY header: have "
              + "the proxy send one (send-proxy-v2), or turn proxy-protocol off"
          ),
        ])
    }
    let transport = LibwebsocketsTransport(configuration: settings, delegate: loop)
    let mailbox = transport.mailbox
    store.prepare { $0.outboxRules = configuration.outboxRules }
    let inbox = configuration.hooks.isNeeded ? HookInbox() : nil
    let storeThread = StoreThread(
      store: store, readingStore: Handover(try configuration.store.openForReading()), log: log,
      untoldMax: StoreBacklog.Limits(
        requestsMax: configuration.storeQueueMax, bytesMax: configuration.storeQueueBytesMax),
      wake: { mailbox.wake() },
      outboxChanged: { inbox?.put(.changed($0)) })
    let loginThread = users.map { users in
      LoginThread(users: users) { job, user in
        mailbox.post { loop.finish(job, user) }
      }
    }
    loop.attach(
      transport: transport, storeThread: storeThread, access: access, loginThread: loginThread,
      hooks: inbox)
    do {
      try transport.start()
    } catch {
      storeThread.stop()
      loginThread?.stop()
      throw error
    }
    tls = configuration.transport.tls.map { ($0.certificatePath, $0.keyPath) }
    self.log = log
    self.loop = loop
    self.transport = transport
    self.storeThread = storeThread
    self.loginThread = loginThread
    self.hooks = inbox
    loopGuard = LoopGuard(
      transport.pulse, limit: configuration.turnTimeMax, manager: manager
    ) { data in
      let hint = "please report this line; the service manager may start the server again"
      ForcedEnd.now(
        ForcedEnd.ExitCode.loopIsStuck, log, "the loop is stuck", data + [("hint", hint)])
    }
    guard let inbox, let scribe = configuration.scribe else { return }
    storeThread.tell(scribe.serverStarted(at: SystemClock().now))
    HookDesk.start(
      configuration.hooks, secrets: secrets, inbox: inbox, store: storeThread,
      resolve: { news, goOn in mailbox.post { loop.drafts(for: news, then: goOn) } }, log: log)
  }

  /// Milliseconds for which a room that holds nothing is remembered: a week.
  private static let emptyRoomMilliseconds: Timestamp = 7 * 86_400_000

  /// The port that is listened on, chosen by the system if 0 was asked for.
  public var port: Int { transport.boundPort }

  /// The port of ``Configuration/apiListen``; 0 without it.
  public var apiPort: Int { transport.boundBackPort }

  /// Reads again what may have changed on the disk: the certificate and its key. What cannot be
  /// used is logged, and what was there stays. From any thread.
  public func reload() {
    guard let tls else {
      log.write(.notice, "nothing to reload", [])
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
    transport.reloadCertificate { failure in
      if let failure {
        log.write(.error, "certificate not reloaded", [("reason", "\(failure)")])
      } else {
        log.write(.notice, "certificate reloaded", [("expires", UTCDate.text(seconds: expiry))])
      }
    }
  }

  /// Tells clients to come back, writes what is accepted, ends all threads, and returns when that
  /// is done. From any thread but the loop's.
  ///
  /// It returns late, or never, if the disk does not answer: see ``ForcedEnd``.
  ///
  /// - Parameter drainMilliseconds: The first half of it is for accepted changes to be written and
  ///   acknowledged, a part of the second for clients to close, the rest for the store.
  public func stop(drainMilliseconds: Int) {
    let start = SystemClock().uptime
    func left(untilPercent share: Int) -> Int {
      max(0, drainMilliseconds * share / 100 - Int(SystemClock().uptime - start))
    }
    transport.stopAccepting()
    let settled = Monitor(false)
    let loop = loop
    let stands = transport.post {
      loop.drain {
        settled.withLock { $0 = true }
        settled.signal()
      }
    }
    if stands { settled.wait(atMostMilliseconds: left(untilPercent: 50)) { $0 } }
    stopStage.withLock { $0 = "connections" }
    transport.stop(
      code: CloseCode(CloseReason.draining.rawValue), reason: "the server is going down; come back",
      within: left(untilPercent: 80))
    // Calls that are under way are made again after the next start.
    stopStage.withLock { $0 = "calls to services" }
    hooks?.stop()
    stopStage.withLock { $0 = "the store" }
    storeThread.stop()
    stopStage.withLock { $0 = "logins" }
    loginThread?.stop()
    loopGuard.stop()
  }

  /// The step that ``stop(drainMilliseconds:)`` waits for, in words.
  public var stopWaitsFor: String { stopStage.withLock { $0 } }
}
