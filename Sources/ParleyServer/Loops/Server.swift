import CryptoOpenSSL
import Gateway
public import GatewayPorts
import Locks
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
///
/// With several loops there is such a pair for each, as if each were a node of its own:
///
///     loop 0   accepts ─▶ LoopCrew deals out connections ─▶ loops 0 … n
///     loop i   Gateway ◀─▶ LoopBroker ◀─▶ the gateways of the other loops, and of other machines
public final class Server: Sendable {
  /// The loops, as many as the setting says, each with a transport and a store thread of its own.
  private let loops: [ServerLoop]
  private let transports: [LibwebsocketsTransport]
  private let storeThreads: [StoreThread]
  private let company: LoopCompany?
  /// The search thread of all loops.
  private let searchThread: SearchThread
  private let broker: (any ServerBroker)?
  private let loginThread: LoginThread?
  private let packingThread: PackingThread
  private let providerThread: ProviderThread?
  private let revocations: SharedRevocations
  private let hooks: HookInbox?
  private let loopGuard: LoopGuard
  private let users: UserFile?
  private let stopStage = Monitor("requests under way")
  /// The files of certificate and key; `nil` without encryption.
  private let tls: (certificatePath: String, keyPath: String)?
  private let log: any LogSink

  /// Opens the store and the socket, and begins to serve.
  ///
  /// - Parameter manager: The service manager, notified while the server is well, if it asks for that.
  /// - Throws: `FileError`, `JWTKeyError`, `APIKeyFileError`, `StoreOpenError`, `StoreError` or
  ///   `TransportError`, each saying what is in the way and what to do.
  public init(
    configuration: Configuration, log: any LogSink, manager: ServiceManager? = nil
  ) throws {
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
    let store = Handover(try configuration.store.open())
    if let remark = store.prepare({ $0.openingRemark }) {
      log.write(.warning, remark.message, [("reason", remark.reason), ("hint", remark.hint)])
    }
    // Before the first connection, since clients could not resume in a removed room. If the disk is
    // full, the next start removes the rooms.
    let idleSince = SystemClock().now - Self.emptyRoomMilliseconds
    store.prepare { _ = try? $0.removeEmptyRooms(idleSince: idleSince) }
    let resumeSecret = try store.prepare {
      try $0.secret(named: "resume tokens", byteCount: 32)
    }
    let hintSecret = try store.prepare { try $0.secret(named: "hints", byteCount: 32) }
    let secrets = try configuration.webhookSecrets(log: log)
    let users = try configuration.users(log: log)
    var providerSettings = try configuration.providerSettings()
    providerSettings?.users = users
    let count = configuration.loopCount
    // Bounds on memory hold over all loops.
    let own = configuration.share(among: count)
    var stores = [store]
    let provisioning = configuration.store
    for _ in 1..<count { stores.append(Handover(try provisioning.open())) }
    let ownTokensSecret = try store.prepare { try $0.secret(named: "own tokens", byteCount: 32) }
    let signInSecret = try store.prepare { try $0.secret(named: "sign-ins", byteCount: 32) }
    let revocations = try SharedRevocations(
      path: configuration.revocationsPath, hasOthers: configuration.isStoreInDatabase, log: log)
    let knownRevocations = store.prepare { revocations.catchUp(from: $0) }
    let limits = count > 1 ? ProcessLimits(Allowances(configuration.announcedLimits)) : nil
    let settings = Self.transportSettings(own, log: log)
    let crew =
      count > 1
      ? LoopCrew(
        count: count, configuration: settings, home: { Configuration.home(of: $0, among: count) })
      : nil
    let company = count > 1 ? LoopCompany(count: count) : nil
    let nodes = Monitor(NodeBoard())
    let loops = (0..<count).map { ServerLoop(configuration: own, place: $0, log: log) }
    loops[0].exchange.place = knownRevocations
    let transports = loops.map {
      LibwebsocketsTransport(configuration: settings, delegate: $0, crew: crew, place: $0.place)
    }
    let mailboxes = transports.map(\.mailbox)
    let inbox = configuration.hooks.isNeeded ? HookInbox() : nil
    let hub = count > 1 ? LoopBroker(count: count) { mailboxes[$0].wake() } : nil
    let searchThread = SearchThread(
      store: Handover(try provisioning.openForReading()), open: { try provisioning.openIndex() },
      log: log, wakes: mailboxes.map { mailbox in { @Sendable in _ = mailbox.wake() } })
    let outer = configuration.broker(secret: hintSecret, log: log) {
      if let hub { hub.outerHasNews() } else { mailboxes[0].wake() }
    }
    if let outer { hub?.connect(to: outer) } else { hub?.standAlone() }
    let (first, mailbox) = (loops[0], mailboxes[0])
    let loginThread = configuration.usersFile.flatMap { path in
      users.map { users in
        let work = LoginWork(
          users: users, editing: UserEditing(path: path),
          invitations: InvitationFile(path: configuration.invitationsPath))
        return LoginThread(work) { job, outcome in
          mailbox.post { first.finish(job, outcome) }
        }
      }
    }
    let provider = providerSettings.map { settings in
      ServerLoop.ProviderParts(
        settings: settings, seal: SignInSeal(secret: signInSecret),
        thread: ProviderThread(settings) { job, outcome in
          mailbox.post { first.finish(job, outcome) }
        })
    }
    let packingThread = PackingThread()
    let linkAttempts = Monitor(LoginAttempts())
    var storeThreads: [StoreThread] = []
    func end() {
      outer?.stop()
      searchThread.stop()
      for thread in storeThreads { thread.stop() }
      loginThread?.stop()
      packingThread.stop()
      provider?.thread.stop()
      revocations.stop()
    }
    do {
      for (loop, store) in zip(loops, stores) {
        let place = loop.place
        store.prepare { $0.outboxRules = configuration.outboxRules }
        let storeThread = StoreThread(
          store: store, readingStore: Handover(try provisioning.openForReading()), log: log,
          untoldMax: StoreBacklog.Limits(
            requestsMax: own.storeQueueMax, bytesMax: own.storeQueueBytesMax),
          wake: { mailboxes[place].wake() }, committed: { searchThread.note($0) },
          outboxChanged: { inbox?.put(.changed($0)) })
        storeThreads.append(storeThread)
        // The first loop logs changes of files for all.
        let fileLog: (any LogSink)? = place == 0 ? log : nil
        let access = ServerLoop.Access(
          authenticator: try configuration.authenticator(log: fileLog),
          apiKeys: try configuration.apiKeys(log: fileLog),
          ownTokens: try SelfSignedTokens(secret: ownTokensSecret, users: users),
          revocations: revocations, users: users,
          tokens: HMACResumeTokens(secret: resumeSecret), limits: limits,
          linkAttempts: linkAttempts)
        loop.attach(
          transport: transports[place], storeThread: storeThread, searchThread: searchThread,
          access: access, loginThread: place == 0 ? loginThread : nil,
          packingThread: packingThread, provider: place == 0 ? provider : nil, hooks: inbox,
          broker: hub?.end(of: place) ?? outer,
          company: company, nodes: nodes)
        company?.add(loop, mailboxes[place])
      }
      // The first loop starts last, since it listens: the others must be able to take connections by then.
      for place in loops.indices.reversed() {
        do {
          try transports[place].start()
        } catch {
          for transport in transports[(place + 1)...] { transport.stop(within: 0) }
          throw error
        }
      }
    } catch {
      end()
      company?.dissolve()
      throw error
    }
    tls = configuration.transport.tls.map { ($0.certificatePath, $0.keyPath) }
    self.users = users
    self.log = log
    self.loops = loops
    self.transports = transports
    self.storeThreads = storeThreads
    self.searchThread = searchThread
    self.broker = outer
    self.loginThread = loginThread
    self.packingThread = packingThread
    providerThread = provider?.thread
    self.revocations = revocations
    self.company = company
    self.hooks = inbox
    loopGuard = LoopGuard(
      transports.map(\.pulse), limit: configuration.turnTimeMax, manager: manager
    ) { data in
      let hint = "please report this line; the service manager may start the server again"
      ForcedEnd.now(
        ForcedEnd.ExitCode.loopIsStuck, log, "the loop is stuck", data + [("hint", hint)])
    }
    guard let inbox, let scribe = configuration.scribe else { return }
    storeThreads[0].tell(scribe.serverStarted(at: SystemClock().now))
    HookDesk.start(
      configuration.hooks, secrets: secrets, inbox: inbox, store: storeThreads[0],
      isShared: configuration.isStoreInDatabase,
      resolve: { news, goOn in mailbox.post { first.drafts(for: news, then: goOn) } }, log: log)
  }

  /// The transports' settings, with what is logged of them.
  private static func transportSettings(
    _ configuration: Configuration, log: any LogSink
  ) -> LibwebsocketsTransport.Configuration {
    var settings = configuration.transport
    settings.acceptFailed = { reason in
      log.write(
        .warning, "connections cannot be accepted",
        [("reason", reason), ("hint", "raise LimitNOFILE or ulimit -n")])
    }
    settings.memoryRefused = { kind, count in
      let setting =
        switch kind {
        case .reception: "reception-size-max"
        case .uploads: "uploads-size-max"
        case .responses: "responses-size-max"
        }
      log.write(
        .warning, "memory refused",
        [
          ("for", kind.rawValue), ("count", "\(count)"),
          ("hint", "a client or all together reached their share of \(setting)"),
        ])
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
    return settings
  }

  /// Milliseconds for which a room that holds nothing is remembered: a week.
  private static let emptyRoomMilliseconds: Timestamp = 7 * 86_400_000

  /// The port that is listened on, chosen by the system if 0 was asked for.
  public var port: Int { transports[0].boundPort }

  /// The port of ``Configuration/apiListen``; 0 without it.
  public var apiPort: Int { transports[0].boundBackPort }

  /// Reads the files of users, the certificate and its key again. An unusable file is logged, and the former
  /// content stays in use. Callable from any thread.
  public func reload() {
    if let users { _ = transports[0].post { users.reload() } }
    guard let tls else {
      if users == nil { log.write(.notice, "nothing to reload", []) }
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
    // All connections begin at the first loop.
    transports[0].reloadCertificate { failure in
      if let failure {
        log.write(.error, "certificate not reloaded", [("reason", "\(failure)")])
      } else {
        log.write(.notice, "certificate reloaded", [("expires", UTCDate.text(seconds: expiry))])
      }
    }
  }

  /// Asks clients to reconnect, writes what is accepted, ends all threads, and returns when that
  /// is done. Callable from any thread but the loop's.
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
    transports[0].stopAccepting()
    let unsettled = Monitor(0)
    for (loop, transport) in zip(loops, transports) {
      unsettled.withLock { $0 += 1 }
      @Sendable func settle() {
        unsettled.change { $0 -= 1 }
      }
      if !transport.post({ loop.drain(onSettled: settle) }) { settle() }
    }
    unsettled.wait(atMostMilliseconds: left(untilPercent: 50)) { $0 == 0 }
    stopStage.withLock { $0 = "connections" }
    let share = left(untilPercent: 80)
    AtOnce.run(transports) { transport in
      transport.stop(
        code: CloseCode(CloseReason.draining.rawValue),
        reason: "the server is stopping; reconnect", within: share)
    }
    company?.dissolve()
    // Calls under way are repeated after the next start.
    stopStage.withLock { $0 = "calls to services" }
    hooks?.stop()
    stopStage.withLock { $0 = "the broker" }
    broker?.stop()
    stopStage.withLock { $0 = "search" }
    searchThread.stop()
    stopStage.withLock { $0 = "the store" }
    // All at once: each stop interrupts the wait for an unreachable database.
    AtOnce.run(storeThreads) { $0.stop() }
    stopStage.withLock { $0 = "logins" }
    loginThread?.stop()
    packingThread.stop()
    stopStage.withLock { $0 = "the identity provider" }
    providerThread?.stop()
    stopStage.withLock { $0 = "the file of revocations" }
    revocations.stop()
    loopGuard.stop()
  }

  /// The step that ``stop(drainMilliseconds:)`` waits for, in words.
  public var stopWaitsFor: String { stopStage.withLock { $0 } }
}
