import ParleyCryptoOpenSSL
import Gateway
import ParleyGatewayPorts
import Glibc
import ParleyJSON
import ParleyLocks
import ParleyPusher
import SocketMessages
import ParleyTransportLibwebsockets
import ParleyWebSocketFrames

/// Connects one loop's transport and store with its gateway, and performs the gateway's actions.
///
/// Unchecked: created before the loop thread starts, and used only on that thread from then on.
final class ServerLoop: TransportDelegate, @unchecked Sendable {
  /// The objects that a loop uses, attached after their creation. One reference, since each message
  /// reads it.
  final class Attachments {
    // Not `any Transport`: the dynamic dispatch would slow down every frame.
    unowned let transport: LibwebsocketsTransport
    let storeThread: StoreThread
    let searchThread: SearchThread
    let gateway: Gateway
    let ownTokens: SelfSignedTokens
    let sessions: SessionService
    let links: LinkService
    let login: LoginService?
    /// The queue of logins; only the first loop has one.
    let loginThread: LoginThread?
    let packingThread: CompressionThread
    let provider: ProviderService?
    let hooks: WebhookInbox?
    let mail: WebhookInbox?
    let broker: (any ServerBroker)?
    /// Set if this loop exchanges revocations with other gateways.
    let sharedRevocations: SharedRevocations?
    /// The registry of the process's loops; `nil` for a single loop.
    let registry: LoopRegistry?
    /// The gateways on the same database; shared by all loops.
    let nodes: Monitor<ClusterStatus>

    fileprivate init(
      transport: LibwebsocketsTransport, storeThread: StoreThread, searchThread: SearchThread,
      gateway: Gateway, ownTokens: SelfSignedTokens, sessions: SessionService, links: LinkService,
      login: LoginService?, loginThread: LoginThread?, packingThread: CompressionThread,
      provider: ProviderService?, hooks: WebhookInbox?, mail: WebhookInbox?,
      broker: (any ServerBroker)?, sharedRevocations: SharedRevocations?, registry: LoopRegistry?,
      nodes: Monitor<ClusterStatus>
    ) {
      self.transport = transport
      self.storeThread = storeThread
      self.searchThread = searchThread
      self.gateway = gateway
      self.ownTokens = ownTokens
      self.sessions = sessions
      self.links = links
      self.login = login
      self.loginThread = loginThread
      self.packingThread = packingThread
      self.provider = provider
      self.hooks = hooks
      self.mail = mail
      self.broker = broker
      self.sharedRevocations = sharedRevocations
      self.registry = registry
      self.nodes = nodes
    }
  }

  /// The objects that authenticate clients, created before the loop thread starts.
  struct Access {
    let authenticator: JWTAuthenticator?
    let apiKeys: HashedAPIKeys?
    let ownTokens: SelfSignedTokens
    let revocations: SharedRevocations
    let users: UserFile?
    let tokens: any ResumeTokens
    /// Messages with links for new passwords; `nil` if they cannot be sent.
    let resetMail: ResetMail?
    /// Limits that apply to all loops together; `nil` for a single loop.
    let limits: ProcessLimits?
    /// Wrong keys of links, counted over all loops of the process.
    let linkAttempts: Monitor<LoginAttempts>
    /// Apps of Pusher's protocol.
    let pusherApps: [PusherApp]
  }

  let configuration: Configuration
  /// The number of this loop in the process, from 0.
  let place: Int
  let log: any LogSink
  let started = SystemClock().now
  private let origins: OriginPolicy
  private let crossOrigin: CrossOrigin
  private let hosts: HostPolicy
  let proxies: TrustedProxies
  private let ports: PortRule
  private var files: StaticFiles?
  var echo: EchoEndpoint?
  private var attachments: Attachments?
  var recent = RecentActivity()
  var exchange = RevocationExchange()
  /// Whether this loop has subscribed to the reports of other gateways.
  var followsNodes = false
  private var onSettled: (() -> Void)?
  /// Store requests of this turn of the loop, and reads whose client requests were abandoned.
  private var work: [(ticket: StoreTicket?, request: StoreRequest)] = []
  private var forgotten: [StoreTicket] = []
  /// The number of store reconnects that the gateway has been notified of.
  private var reconnections = 0
  /// Whether the gateway was ready at the last report to the other loops.
  private var wasReady = true
  /// Replies of the store that the gateway has not processed yet.
  private var replies = SlicedWork<StoreThread.Completion>(sliceMicroseconds: 8_000)
  /// Requests from other loops for this gateway's part of a response, with their continuations.
  var peerRequests: [RequestID: (Response) -> Void] = [:]
  var nextOwnRequest: UInt64 = 0
  /// Requests that wait for responses of other loops, by number.
  var gatherings: [UInt64: Gathering] = [:]
  var nextGathering: UInt64 = 0

  init(configuration: Configuration, place: Int = 0, log: any LogSink) {
    self.configuration = configuration
    self.place = place
    self.log = log
    origins = OriginPolicy(allowed: configuration.allowedOrigins)
    crossOrigin = CrossOrigin(origins)
    hosts = HostPolicy(configuration)
    proxies = TrustedProxies(configuration.trustedProxies)
    ports = PortRule(isDivided: configuration.apiListen != nil)
    let isKeptOffline = !configuration.forbidsOfflinePage
    files = configuration.webDirectory.map {
      StaticFiles(
        root: $0, isKeptOffline: isKeptOffline, frameAncestors: configuration.frameAncestors)
    }
    echo = configuration.echoPath.map(EchoEndpoint.init(path:))
  }

  /// Attaches the objects that the loop uses. Call it before the transport starts.
  func attach(
    transport: LibwebsocketsTransport, storeThread: StoreThread, searchThread: SearchThread,
    access: Access, loginThread: LoginThread?, packingThread: CompressionThread,
    provider: ProviderParts?, hooks: WebhookInbox?, mail: WebhookInbox?,
    broker: (any ServerBroker)?, registry: LoopRegistry? = nil, nodes: Monitor<ClusterStatus>
  ) {
    var settings = configuration.gateway
    settings.dialects.pusher.apps = access.pusherApps
    settings.dialects.shareDBPath = configuration.shareDBPath
    var people = PeopleHandlers.standard(settings)
    if let recorder = configuration.recorder {
      let posting = OutboxPosting(recorder, store: storeThread)
      if recorder.pushes { people.push = posting }
      people.rooms = posting
    }
    let revocations = LoopRevocations(access.revocations, mailbox: transport.mailbox)
    let gateway = Gateway(
      settings: settings,
      dependencies: Gateway.Dependencies(
        clock: SystemClock(), names: RandomNames(), tokens: access.tokens, log: log,
        authenticator: access.authenticator, apiKeys: access.apiKeys,
        ownTokens: access.ownTokens, revocations: revocations,
        users: access.users, people: people, limits: access.limits, place: place,
        hasOthers: registry != nil,
        queuedBytes: { [unowned transport] in transport.queuedBytes(for: $0) },
        queuedBytesBound: { [unowned transport] in transport.queuedBytesBound },
        isStalled: { [unowned transport] in transport.isStalled($0) },
        makeRoom: { [unowned transport] in transport.makeRoom(for: $0, upTo: $1) }))
    let sessions = SessionService(
      names: RandomNames(), clock: SystemClock(), revocations: revocations, log: log,
      rule: SessionRule(idleMilliseconds: Int64(configuration.refreshTokenTime.milliseconds)),
      gateway: gateway)
    let respond = { [unowned transport] in transport.respond(to: $0, with: $1) }
    var login: LoginService?
    if let users = access.users, let loginThread {
      login = LoginService(
        tokens: access.ownTokens, users: users, thread: loginThread, sessions: sessions,
        cookie: configuration.sessionCookie, clock: SystemClock(),
        revocations: revocations, log: log,
        accessMilliseconds: Int64(configuration.accessTokenTime.milliseconds),
        sessionMilliseconds: Int64(configuration.sessionTime.milliseconds),
        sendReset: access.resetMail.map { $0.sender(by: storeThread) }, respond: respond)
    }
    attachments = Attachments(
      transport: transport, storeThread: storeThread, searchThread: searchThread, gateway: gateway,
      ownTokens: access.ownTokens, sessions: sessions,
      links: LinkService(
        clock: SystemClock(), log: log, gateway: gateway, attempts: access.linkAttempts),
      login: login, loginThread: loginThread, packingThread: packingThread,
      provider: provider.map {
        service(of: $0, access.ownTokens, sessions, revocations, respond: respond)
      }, hooks: hooks, mail: mail,
      broker: broker,
      // Only the first loop exchanges revocations with other nodes, since the process has one file.
      sharedRevocations: configuration.isStoreInDatabase && place == 0 ? access.revocations : nil,
      registry: registry, nodes: nodes)
  }

  var attached: Attachments {
    guard let attachments else { preconditionFailure("attach() comes before start()") }
    return attachments
  }

  var gateway: Gateway { attached.gateway }

  private var transport: LibwebsocketsTransport { attached.transport }

  /// Performs the gateway's actions.
  func perform() {
    let attached = attached
    var gathered: [(request: RequestID, head: RequestHead, body: [UInt8], answer: Response)] = []
    for action in attached.gateway.takeActions() {
      switch action {
      case .send(let frame, let connection): attached.transport.send(frame, to: connection)
      case .broadcast(let frame, let connections):
        attached.transport.send(frame, to: connections)
      case .close(let connection, let code, let reason):
        attached.transport.close(connection, code: code, reason: reason)
      case .admit(let connection, let holder):
        attached.transport.admit(
          connection, messageBytesMax: configuration.messageBytesMax, as: holder)
      case .count(let request, let holder): attached.transport.count(request, towards: holder)
      case .respond(let request, let response):
        if let then = peerRequests.isEmpty ? nil : peerRequests.removeValue(forKey: request) {
          then(response)
        } else {
          respond(to: request, with: response)
        }
      case .store(let ticket, let request): work.append((ticket, request))
      case .forget(let ticket): forgotten.append(ticket)
      case .search(let request, let search):
        attached.searchThread.submit(request, search, by: place)
      case .gather(let request, let head, let body, let answer):
        gathered.append((request, head, body, answer))
      case .publish(let topic, let bytes): attached.broker?.publish(topic, bytes)
      case .follow(let topic): attached.broker?.follow(topic)
      case .leave(let topic): attached.broker?.leave(topic)
      }
    }
    if !attached.transport.isInTurn { submitWork() }
    for part in gathered { gather(part.request, part.head, part.body, part.answer) }
    if let onSettled, attached.gateway.isSettled {
      self.onSettled = nil
      attached.gateway.closeAll(reconnectAfter: 100...2_000)
      perform()
      onSettled()
    }
  }

  /// Responds to a request, after compressing the body if necessary.
  private func respond(to request: RequestID, with response: Response) {
    let (loop, mailbox) = (self, attached.transport.mailbox)
    let isPacked = attached.packingThread.submit(response) { packed in
      mailbox.post { loop.attached.transport.respond(to: request, with: packed) }
    }
    if !isPacked { attached.transport.respond(to: request, with: response) }
  }

  /// Submits the store requests of this turn together: they share one commit, and the store's
  /// thread is woken once.
  private func submitWork() {
    guard !work.isEmpty || !forgotten.isEmpty else { return }
    attached.storeThread.submit(work)
    attached.storeThread.forget(forgotten)
    work.removeAll(keepingCapacity: true)
    forgotten.removeAll(keepingCapacity: true)
  }

  /// Stops accepting changes. When all accepted changes are on disk and acknowledged, asks all
  /// clients to reconnect and calls `onSettled`.
  func drain(onSettled: @escaping () -> Void) {
    self.onSettled = onSettled
    gateway.drain()
    perform()
  }

  /// Passes notifications for the offline followers of a publication's room to `proceed`; `nil` if the
  /// store cannot be read.
  func drafts(
    for news: PublicationExport, then proceed: @escaping @Sendable ([OutboxDraft]?) -> Void
  ) {
    guard let recorder = configuration.recorder else { return proceed([]) }
    gateway.notifications(of: news.publication, epoch: news.epoch, in: news.room) { outcome in
      switch outcome {
      case .success(let notifications): proceed(notifications.map(recorder.push))
      case .failure: proceed(nil)
      }
    }
  }

  // MARK: Upgrades

  /// Whether a request's host is allowed. If not, the log line says which setting to add.
  func allowsHost(_ head: RequestHead) -> Bool {
    if hosts.allows(head) { return true }
    let host = head.headers["x-forwarded-host"] ?? head.headers["host"] ?? ""
    log.write(
      .notice, "host refused",
      [
        ("host", String(host.prefix(200))),
        (
          "hint",
          "anyone may read and write here, so only this machine's own names are answered; if people "
            + "ask for it by this one, add allowed-origin = http://\(host.prefix(200)), or auth-key"
        ),
      ])
    return false
  }

  /// Whether a request's origin is allowed. If not, the log line says which setting to add.
  func allowsOrigin(_ head: RequestHead) -> Bool {
    if origins.allows(head) { return true }
    logRefusal(of: head)
    return false
  }

  private func logRefusal(of head: RequestHead) {
    let origin = String((head.headers["origin"] ?? "").prefix(200))
    log.write(
      .notice, "origin refused",
      [
        ("origin", origin), ("host", String((head.headers["host"] ?? "").prefix(200))),
        (
          "hint",
          "if its pages may use this server, add allowed-origin = \(origin); if it is this "
            + "server's own behind a proxy, have the proxy pass on Host, or add trusted-proxy = "
            + "its address"
        ),
      ])
  }

  /// Whether a Bayeux request may get a script as response (JSONP).
  private func allowsScript(_ head: RequestHead, _ opening: ClientKind?) -> Bool {
    guard head.method == "GET", case .bayeux? = opening,
      // Without messages, the response is not a script.
      QueryFields(head.query)["message"] != nil
    else { return true }
    if origins.allowsScript(head, isOpen: configuration.isDemo) { return true }
    var asking = head
    asking.headers["origin"] = head.headers["origin"] ?? head.headers["referer"] ?? "unknown"
    logRefusal(of: asking)
    return false
  }

  func decide(bodyOf byteCount: Int?, for head: RequestHead) -> BodyDecision {
    let head = proxies.resolved(head)
    guard allowsHost(head) else { return .refuse(HostPolicy.refusal) }
    guard allowsOrigin(head) else { return .refuse(Self.foreignOrigin) }
    guard ports.allows(head, clientKind(of: head)) else { return .refuse(Self.elsewhere) }
    return gateway.decision(onBody: byteCount, of: head)
  }

  /// The response to a page of another site.
  private static let foreignOrigin = Response.problem(
    403, .notAllowed,
    "this origin may not ask for this; the operator can let it in with allowed-origin")

  /// The response at a port that does not serve the path.
  private static let elsewhere = Response.problem(
    404, .notOffered, "not at this port: programs use the port of api-listen")

  /// Returns the party whose limits a request or connection counts towards, if it came through a
  /// proxy; otherwise `nil`, since the transport counts it.
  private func holder(of head: RequestHead, as unresolved: RequestHead) -> Holder? {
    head.remoteAddress == unresolved.remoteAddress ? nil : Holder(address: head.limitedAddress)
  }

  func opened(_ connection: ConnectionID, head unresolved: RequestHead, subprotocol: String?) {
    let head = proxies.resolved(unresolved)
    if let holder = holder(of: head, as: unresolved) {
      transport.count(connection, towards: holder)
    }
    if let echo, echo.answers(head) {
      self.echo?.opened(connection)
      transport.admit(
        connection, messageBytesMax: configuration.messageBytesMax,
        as: Holder(address: head.limitedAddress))
      return
    }
    gateway.opened(
      connection,
      as: subprotocol == Self.subprotocol ? .native : clientKind(of: head) ?? .native,
      at: head.remoteAddress, token: gateway.token(in: head), limitedBy: head.limitedAddress)
    perform()
  }

  // MARK: Messages

  func received(_ connection: ConnectionID, message: UnsafeRawBufferPointer, kind: MessageKind) {
    if echo?.has(connection) ?? false {
      transport.send(Frame(kind, payload: message), to: connection)
      return
    }
    gateway.received(connection, message: message, kind: kind)
    perform()
  }

  func oversized(_ connection: ConnectionID, bytesMax: Int) {
    if echo?.has(connection) ?? false {
      transport.close(connection, code: CloseCode(1009), reason: "message too large")
      return
    }
    gateway.oversized(connection, bytesMax: bytesMax)
    perform()
  }

  func droppedForMemory(_ connection: ConnectionID) {
    if echo?.has(connection) ?? false {
      transport.close(connection, code: CloseCode(1013), reason: "try again later")
      return
    }
    gateway.droppedForMemory(connection)
    perform()
  }

  func drained(_ connection: ConnectionID) {
    gateway.drained(connection)
    perform()
  }

  func closed(_ connection: ConnectionID) {
    if echo?.closed(connection) == true { return }
    gateway.closed(connection)
    perform()
  }

  func woken() {
    let attached = attached
    noteReconnections()
    replies.add(attached.storeThread.takeCompletions())
    takeReplies()
    for (request, reply) in attached.searchThread.takeReplies(of: place) {
      attached.gateway.searched(request, reply: reply)
    }
    if place == 0, attached.searchThread.takeTagNews() { attached.gateway.tagsChanged() }
    for news in attached.broker?.takeEvents() ?? [] {
      switch news {
      case .heard(let topic, let bytes):
        if topic.isExactly(ClusterStatus.topic) {
          heardNode(bytes)
        } else {
          attached.gateway.heard(topic, bytes)
        }
      case .hints(let arrive): attached.gateway.hintsChanged(arrive: arrive)
      }
    }
    perform()
  }

  /// Notifies the gateway of a reconnect of the store, before the gateway processes later replies.
  private func noteReconnections() {
    guard attached.broker != nil else { return }
    let count = attached.storeThread.reconnections
    guard count != reconnections else { return }
    reconnections = count
    gateway.storeReconnected()
  }

  func ticked() {
    recent.tick(now: SystemClock().microseconds) { sample }
    exchangeRevocations()
    attached.login?.recordChanges()
    notifyNodes()
    gateway.storeProblem = attached.storeThread.problem
    gateway.ticked()
    perform()
    attached.registry?.report(report, by: place)
  }

  /// Reports a change of readiness to the other loops at once: the process is ready only if all
  /// loops are.
  private func reportReadiness() {
    guard let registry = attached.registry, (gateway.unreadiness == nil) != wasReady else { return }
    wasReady.toggle()
    registry.report(report, by: place)
  }

  func turnEnded() -> Int? {
    takeReplies()
    let rest = gateway.endTurn()
    perform()
    submitWork()
    replies.endTurn()
    reportReadiness()
    return replies.isEmpty ? rest : 0
  }

  /// Passes the store's replies to the gateway, as many as the turn has time for.
  private func takeReplies() {
    while let reply = replies.next(at: SystemClock().microseconds) {
      gateway.stored(reply.ticket, reply: reply.reply)
    }
  }

  // MARK: HTTP

  func request(_ request: RequestID, head unresolved: RequestHead, body: [UInt8]) {
    var head = proxies.resolved(unresolved)
    if let holder = holder(of: head, as: unresolved) { transport.count(request, towards: holder) }
    guard allowsHost(head) else {
      transport.respond(to: request, with: HostPolicy.refusal)
      return
    }
    // A session that polls sends by `POST` and receives by `GET`.
    let opening = clientKind(of: head)
    let isReading = ["GET", "HEAD"].contains(head.method) && opening == nil
    guard isReading || allowsOrigin(head) else {
      transport.respond(to: request, with: Self.foreignOrigin)
      return
    }
    if let response = generalOptions(head) ?? answerWithoutUpgrade(head, opening) {
      transport.respond(to: request, with: response)
      return
    }
    guard isReading || allowsScript(head, opening) else {
      transport.respond(to: request, with: Self.foreignOrigin)
      return
    }
    guard ports.allows(head, opening) else {
      transport.respond(to: request, with: Self.elsewhere)
      return
    }
    if let preflight = crossOrigin.preflight(head) {
      transport.respond(to: request, with: preflight)
      return
    }
    // Treat HEAD as GET; the transport leaves the body out.
    if head.method == "HEAD", opening == nil { head.method = "GET" }
    let target = RequestTarget(head.path)
    let resource = target?.match?.resource
    if let resource, let response = status(head, at: resource) {
      transport.respond(to: request, with: response)
    } else if let refusal = gateway.refusal(ofRequest: head) {
      transport.respond(to: request, with: refusal)
    } else if let resource, answer(request, head, body, at: resource) {
      perform()
    } else if gateway.request(request, head: head, at: target, body: body) {
      perform()
    } else if files != nil, let find = attached.links.page(at: head) {
      find { [self] in answer(request, head, $0) }
      perform()
    } else if files != nil, isPreviewed(head) {
      let links = attached.links
      links.title(at: head) { [self] in answer(request, head, PagePreview(title: $0, site: site)) }
      perform()
    } else if let response = files?.response(to: head) {
      transport.respond(to: request, with: response)
    } else if head.path.utf8.starts(with: "/api/".utf8) {
      transport.respond(
        to: request,
        with: .problem(
          404, .notOffered, "this path does not exist; /api/openapi.json lists all paths"))
    } else {
      transport.respond(to: request, with: .plain(404, "Nothing is here.\n"))
    }
  }

  /// Whether a request is for a page whose title may appear in link previews. A request of the
  /// page's service worker is not: the worker caches one page for all addresses.
  private func isPreviewed(_ head: RequestHead) -> Bool {
    let destination = head.headers["sec-fetch-dest"] ?? "document"
    return head.method == "GET" && LinkService.isPreviewed(head.path)
      && destination.isExactly("document")
      && (configuration.isDemo || !head.path.hasPrefix("/n/"))
  }

  /// The public address of the site, without a slash at its end; `nil` if it is not set.
  private var site: String? { configuration.publicURL.map(ValueText.withoutSlash) }

  private func answer(_ request: RequestID, _ head: RequestHead, _ preview: PagePreview) {
    if let response = files?.response(to: head, preview: preview) {
      transport.respond(to: request, with: response)
    }
  }

  /// Responds with the page of a published note, or with the page for an unknown name.
  private func answer(
    _ request: RequestID, _ head: RequestHead, _ outcome: LinkService.NameOutcome
  ) {
    var title: String?
    var naming = StaticFiles.Naming.unknown
    switch outcome {
    case .opened(let opened):
      title = opened.title
      naming = configuration.publicNames == .indexed ? .indexed : .unlisted
    case .unknown: break
    // The page retries.
    case .wait, .failed: naming = .unlisted
    }
    let preview = PagePreview(title: title, site: site)
    if let response = files?.response(to: head, preview: preview, naming: naming) {
      transport.respond(to: request, with: response)
    }
  }

  /// Answers a request for a path that the server itself serves; returns `false` for other
  /// requests.
  private func answer(
    _ request: RequestID, _ head: RequestHead, _ body: [UInt8], at resource: Resource
  ) -> Bool {
    let respond = { [unowned transport] in transport.respond(to: request, with: $0) }
    if resource.page == .refresh, let provider = attached.provider,
      attached.login == nil || provider.isMine(head, body)
    {
      if let response = provider.refresh(request, head, body) { respond(response) }
      return true
    }
    switch resource.page {
    case .statistics:
      guard gateway.isOperator(head, request) else { return true }
      transport.respond(to: request, with: statistics(head, at: resource))
    case .ways: transport.respond(to: request, with: ways(head, at: resource))
    case .provider, .providerReturn:
      guard let provider = attached.provider else { return false }
      if let response = provider.answer(request, head, body, at: resource) {
        transport.respond(to: request, with: response)
      }
    case .logout:
      guard attached.login != nil || attached.provider != nil else { return false }
      logOut(head, body, at: resource, respond: respond)
    case .link: attached.links.answer(head, body, at: resource, respond: respond)
    case .publicName: attached.links.answerName(head, at: resource, respond: respond)
    case .login, .refresh, .join, .password, .name, .forgot, .reset:
      guard let login = attached.login else { return false }
      if let response = login.answer(request, head, body, at: resource) {
        transport.respond(to: request, with: response)
      }
    case .health, .readiness, .metrics, .description, .version, nil: return false
    }
    return true
  }

  /// Completes a job of the login thread.
  func finish(_ job: LoginThread.Job, _ outcome: LoginThread.Outcome) {
    attached.login?.finish(job, outcome)
    perform()
  }

  /// Completes a request to the identity provider.
  func finish(_ job: ProviderThread.Job, _ outcome: ProviderExchange.Outcome) {
    guard let provider = attached.provider else { return }
    transport.respond(to: job.request, with: provider.finish(job, outcome))
  }

  func isHeld(_ request: RequestID) -> Bool { gateway.isHeld(request) }

  func abandoned(_ request: RequestID) {
    // The store finishes its work; the transport drops the response to an abandoned request.
    attached.searchThread.forget(request, by: place)
    attached.login?.abandoned(request)
    gateway.abandoned(request)
    perform()
  }
}

extension Substring {
  func trimmingSpaces() -> String {
    var text = self
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
