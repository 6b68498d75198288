import ParleyCryptoOpenSSL
import Gateway
import ParleyGatewayPorts
import ParleyLocks
import ParleyTransportLibwebsockets

/// The threads and services that all loops of a process share.
struct SharedParts: Sendable {
  let users: UserFile?
  let revocations: SharedRevocations
  let searchThread: SearchThread
  /// The broker to gateways on other machines.
  let broker: (any ServerBroker)?
  let loginThread: LoginThread?
  let packingThread: CompressionThread
  let provider: ServerLoop.ProviderParts?
  let hooks: WebhookInbox?
  /// The inbox of the thread that sends mail.
  let mail: WebhookInbox?
  private let nodes = Monitor(ClusterStatus())
  private let linkAttempts = Monitor(LoginAttempts())
  private let configuration: Configuration
  private let log: any LogSink

  /// Starts the threads that do not depend on a loop.
  ///
  /// - Parameter users: The users with passwords; `nil` without a file of users.
  init(
    _ configuration: Configuration, users: UserFile?, provider settings: ProviderSettings?,
    revocations: SharedRevocations, stores: OpenStores, group: LoopGroup, log: any LogSink
  ) throws {
    let (first, mailbox) = (group.loops[0], group.transports[0].mailbox)
    self.configuration = configuration
    self.users = users
    self.revocations = revocations
    self.log = log
    hooks = configuration.hooks.isNeeded ? WebhookInbox() : nil
    mail = configuration.mailServer == nil ? nil : WebhookInbox()
    searchThread = SearchThread(
      store: try stores.reading(),
      open: { [stores = stores.provisioning] in try stores.openIndex() },
      log: log,
      wakes: group.transports.map { transport in
        { @Sendable [mailbox = transport.mailbox] in _ = mailbox.wake() }
      })
    packingThread = CompressionThread()
    let hub = group.hub
    broker = configuration.broker(secret: stores.secrets.hints, log: log) {
      if let hub { hub.outerHasNews() } else { mailbox.wake() }
    }
    if let broker { hub?.connect(to: broker) } else { hub?.reportConnected() }
    loginThread = configuration.usersFile.flatMap { path in
      users.map { users in
        let work = LoginWork(
          users: users, editing: UserEditing(path: path),
          invitations: InvitationFile(path: configuration.invitationsPath),
          resets: PasswordResets(secret: stores.secrets.resets))
        return LoginThread(work) { job, outcome in
          mailbox.post { first.finish(job, outcome) }
        }
      }
    }
    provider = settings.map { settings in
      ServerLoop.ProviderParts(
        settings: settings, seal: SignInSeal(secret: stores.secrets.signIns),
        thread: ProviderThread(settings) { job, outcome in
          mailbox.post { first.finish(job, outcome) }
        })
    }
  }

  /// Starts the store thread of a loop.
  func startStoreThread(
    of loop: ServerLoop, in group: LoopGroup, on stores: OpenStores
  ) throws -> StoreThread {
    let store = stores.all[loop.place]
    store.prepare { $0.outboxRules = configuration.outboxRules }
    let mailbox = group.transports[loop.place].mailbox
    return StoreThread(
      store: store, readingStore: try stores.reading(), log: log,
      unrecordedMax: StoreBacklog.Limits(
        requestsMax: group.settings.storeQueueMax, bytesMax: group.settings.storeQueueBytesMax),
      wake: { mailbox.wake() }, committed: { [searchThread] in searchThread.note($0) },
      outboxChanged: { [hooks, mail] in
        hooks?.put(.changed($0))
        mail?.put(.changed($0))
      })
  }

  /// Connects a loop with its store thread and the shared parts.
  func attach(
    _ loop: ServerLoop, _ storeThread: StoreThread, in group: LoopGroup,
    _ secrets: OpenStores.Secrets
  ) throws {
    let isFirst = loop.place == 0
    // Only the first loop logs changes of files, since all loops read the same files.
    let fileLog: (any LogSink)? = isFirst ? log : nil
    let access = ServerLoop.Access(
      authenticator: try configuration.authenticator(log: fileLog),
      apiKeys: try configuration.apiKeys(log: fileLog),
      ownTokens: try SelfSignedTokens(secret: secrets.ownTokens, users: users),
      revocations: revocations, users: users,
      tokens: HMACResumeTokens(secret: secrets.resumeTokens),
      resetMail: configuration.resetMail(PasswordResets(secret: secrets.resets)),
      limits: group.limits,
      linkAttempts: linkAttempts, pusherApps: try configuration.readPusherApps())
    let transport = group.transports[loop.place]
    loop.attach(
      transport: transport, storeThread: storeThread, searchThread: searchThread,
      access: access, loginThread: isFirst ? loginThread : nil, packingThread: packingThread,
      provider: isFirst ? provider : nil, hooks: hooks, mail: mail,
      broker: group.hub?.end(of: loop.place) ?? broker, registry: group.registry, nodes: nodes)
    group.registry?.add(loop, transport.mailbox)
  }

  /// Stops all threads of a server that has failed to start.
  func stop(with storeThreads: [StoreThread]) {
    broker?.stop()
    searchThread.stop()
    for thread in storeThreads { thread.stop() }
    loginThread?.stop()
    packingThread.stop()
    provider?.thread.stop()
    revocations.stop()
  }
}
