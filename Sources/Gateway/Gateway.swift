public import ParleyGatewayPorts
import OTCore
import SocketMessages
public import ParleyWebSocketFrames

/// The gateway: connections, documents and rooms, as one state machine without I/O.
///
/// The owner reports events (``opened(_:as:at:token:limitedBy:)``, ``received(_:message:kind:)``,
/// ``stored(_:reply:)``, …) and then performs the actions that ``takeActions()`` returns, in order.
/// All calls happen on one loop. Each turn of the loop ends with ``endTurn()``, which sends changes
/// to the store, and another ``takeActions()``. No call blocks, and time, names and tokens are
/// injected. So a test runs several gateways with all their clients in one process from one seed.
///
///     received ─▶ decode ─▶ LiveDocument.submit … endTurn ─▶ store(append) … stored ─▶ deliver
///
/// No client, the author included, sees an edit before ``stored(_:reply:)`` reports it on disk.
public final class Gateway: Part, SwitchboardOwner {
  /// The gateway's ports.
  public struct Dependencies {
    /// The ports of the switchboard, which every part uses.
    fileprivate let board: Switchboard.Ports
    /// The ports of ``Access``.
    fileprivate let access: Access.Ports
    /// The handlers of ``Rooms``.
    fileprivate let people: PeopleHandlers?
    /// The number of this gateway among the gateways of the process.
    fileprivate let place: Int

    /// - Parameters:
    ///   - authenticator: checks tokens; in demo mode without an authenticator, every client may do
    ///     everything.
    ///   - apiKeys: the API keys of programs that make HTTP requests; `nil` for none.
    ///   - ownTokens: issues and checks tokens of this server, as for shared links; `nil` for none.
    ///   - revocations: stores revoked tokens; without it no token can be revoked.
    ///   - users: the users whose current rights apply to their sessions; `nil` for none.
    ///   - people: the features for people in rooms; `nil` for the standard handlers.
    ///   - queuedBytes: the bytes queued for a connection's socket; read before changes are sent,
    ///     so that a slow reader's queue stays short.
    ///   - queuedBytesBound: an upper bound of `queuedBytes` over all connections.
    ///   - isStalled: whether a connection's socket was full, and bytes have been queued since.
    ///   - makeRoom: writes to a connection's socket until at most the given bytes are queued;
    ///     returns whether it succeeded. Called before a connection is closed as too slow.
    ///   - limits: rate limits shared by all gateways of the process; `nil` for limits of this
    ///     gateway alone.
    ///   - place: the number of this gateway in the process, a part of its session connections'
    ///     ids.
    ///   - hasOthers: whether the process has other gateways, which answer operators together with
    ///     this one.
    public init(
      clock: any Clock, names: any NameSource, tokens: any ResumeTokens, log: any LogSink,
      authenticator: (any Authenticator)? = nil, apiKeys: (any APIKeys)? = nil,
      ownTokens: (any OwnTokens)? = nil, revocations: (any Revocations)? = nil,
      users: (any UserSource)? = nil, people: PeopleHandlers? = nil,
      limits: (any SharedLimits)? = nil, place: Int = 0, hasOthers: Bool = false,
      queuedBytes: @escaping (ConnectionID) -> Int,
      queuedBytesBound: @escaping () -> Int = { .max },
      isStalled: @escaping (ConnectionID) -> Bool = { _ in true },
      makeRoom: @escaping (ConnectionID, Int) -> Bool = { _, _ in false }
    ) {
      board = Switchboard.Ports(
        clock: clock, names: names, tokens: tokens, log: log, queuedBytes: queuedBytes,
        queuedBytesBound: queuedBytesBound, isStalled: isStalled, makeRoom: makeRoom,
        hasOthers: hasOthers)
      access = Access.Ports(
        authenticator: authenticator, apiKeys: apiKeys, ownTokens: ownTokens,
        revocations: revocations, users: users, limits: limits)
      self.people = people
      self.place = place
    }
  }

  /// The connections, and all actions for the owner.
  let board: Switchboard

  let documents: Documents
  let rooms: Rooms
  /// Identities, rights, and rate-limit usage.
  let access: Access
  let rights: Rights
  let http: HTTP
  let search: Search
  let files: Files
  let notices: Notices
  let comments: Comments
  let sessions: Sessions
  let links: Links
  let folders: Folders
  let audit: Audit
  /// The counters since the start.
  public internal(set) var metrics: GatewayMetrics {
    _read { yield board.metrics }
    _modify { yield &board.metrics }
  }

  /// The dialects of connections.
  let native: NativeDialect
  let whaler: WhalerDialect
  let socketIO: SocketIODialect
  let bayeux: BayeuxDialect
  let pusher: PusherDialect
  let shareDB: ShareDBDialect
  let rustpad: RustpadDialect
  /// The sessions of Socket.IO and Bayeux together.
  let sessionTable: SessionTable
  /// Requests in the protocols of other apps.
  let apps: AppRequests

  /// Creates a gateway without connections.
  public init(settings: GatewaySettings, dependencies: Dependencies) {
    board = Switchboard(
      settings: settings, dependencies: dependencies.board, place: dependencies.place)
    access = Access(board, dependencies.access)
    documents = Documents(board)
    rooms = Rooms(board, people: dependencies.people ?? .standard(settings))
    native = NativeDialect(board, documents, rooms, access)
    whaler = WhalerDialect(board, documents, rooms)
    rights = Rights(board, access, documents, rooms)
    search = Search(board, access)
    files = Files(board, access)
    notices = Notices(board, access, rooms)
    comments = Comments(board, access, rooms, notices)
    sessions = Sessions(board, access, rights)
    links = Links(board, access, rights)
    folders = Folders(board, documents, rooms)
    audit = Audit(board)
    http = HTTP(
      board, documents, rooms, access, rights, search, files, notices, comments, sessions, links,
      folders, audit)
    let table = SessionTable(board, access)
    sessionTable = table
    socketIO = SocketIODialect(board, access, rooms, table)
    bayeux = BayeuxDialect(board, access, rooms, table)
    pusher = PusherDialect(board, access, rooms)
    shareDB = ShareDBDialect(board, documents, access)
    rustpad = RustpadDialect(board, documents, access)
    apps = AppRequests(board, access, rooms)
    board.owner = self
    documents.owner = http.notes
    documents.answers = http.once
    comments.owner = http.once
    native.owner = rights
    socketIO.owner = self
    bayeux.owner = self
    rooms.owner = self
    rooms.start()
  }

  /// Breaks reference cycles: connections refer to their dialects, dialects to the switchboard and
  /// the sessions, and these to the connections.
  deinit {
    board.breakReferenceCycles()
    socketIO.breakReferenceCycles()
    bayeux.breakReferenceCycles()
    pusher.breakReferenceCycles()
    shareDB.breakReferenceCycles()
    rustpad.breakReferenceCycles()
  }

  // MARK: Actions

  /// Returns the actions to perform, oldest first. ``endTurn()`` adds the commits of changes.
  public func takeActions() -> [GatewayAction] {
    documents.delivery.countBroadcasts()
    return board.takeActions()
  }

  /// The capabilities listed in `welcome`.
  public var capabilities: [String] { native.capabilities }

  // MARK: Access

  /// The token of a request: from `Authorization`, with or without `Bearer`, or from `token` in the
  /// query if the settings allow it.
  public func token(in head: RequestHead) -> String? { access.token(in: head) }

  /// Returns the response that rejects an upgrade; `nil` if the upgrade may proceed.
  ///
  /// A Whaler client must send its token with the upgrade: 401 if the token is missing or invalid,
  /// 403 if it does not grant the pool. A `parley.v1` client may send its token now or in its
  /// hello.
  public func refusal(ofUpgrade head: RequestHead, as opening: ClientKind) -> Response? {
    if case .socketIO(let query, let address) = opening {
      return socketIO.refusal(ofUpgrade: head, query: query, address: address).map(http.spread)
    }
    return access.refusal(ofUpgrade: head, as: opening).map(http.spread)
  }

  /// Counts a request against its address, and returns the response that rejects it if the address
  /// exceeds its rate; `nil` if the request may proceed.
  public func refusal(ofRequest head: RequestHead) -> Response? {
    access.refusal(ofRequest: head).map(http.spread)
  }

  // MARK: HTTP

  /// Whether any app of Pusher's protocol is configured.
  public var servesPusher: Bool { !pusher.apps.isEmpty }

  /// Answers an HTTP request, now or after the store has replied.
  ///
  /// - Returns: Whether the path belongs to the gateway.
  public func request(_ request: RequestID, head: RequestHead, body: [UInt8]) -> Bool {
    self.request(request, head: head, at: RequestTarget(head.path), body: body)
  }

  /// Answers an HTTP request whose target is known, now or after the store has replied.
  ///
  /// - Returns: Whether the path belongs to the gateway.
  package func request(
    _ request: RequestID, head: RequestHead, at target: RequestTarget?, body: [UInt8]
  ) -> Bool {
    if let other = ClientKind.targetOfText(head) {
      return http.request(request, head: other, at: RequestTarget(other.path)?.match, body: body)
    }
    return requestOfDialect(request, head: head, at: target, body: body)
      || http.request(request, head: head, at: target?.match, body: body)
  }

  /// Decides from its head whether a request's long body may be read; short ones always may.
  ///
  /// - Parameter byteCount: The body's length; `nil` for a chunked body, whose length is unknown.
  public func decision(onBody byteCount: Int?, of head: RequestHead) -> BodyDecision {
    let decision =
      switch clientKind(of: head) {
      case .socketIO: socketIO.decision(onBody: byteCount, of: head)
      case .bayeux: bayeux.decision(onBody: byteCount, of: head)
      case .native, .whaler, .pusher, .shareDB, .rustpad, nil:
        decisionByPath(onBody: byteCount, of: head)
      }
    guard case .refuse(let response) = decision else { return decision }
    return .refuse(http.spread(response))
  }

  private func decisionByPath(onBody byteCount: Int?, of head: RequestHead) -> BodyDecision {
    let target = RequestTarget(head.path)
    let decision: BodyDecision? =
      switch target {
      case .app(let kind, _): apps.decision(on: kind, of: head)
      case .pusher(let kind, let names): pusher.decision(on: kind, names: names, of: head)
      case .resource, nil: nil
      }
    return decision ?? http.decision(onBody: byteCount, of: head, at: target?.match)
  }

  /// Whether a request is an operator's; rejects any other request.
  public func isOperator(_ head: RequestHead, _ request: RequestID) -> Bool {
    access.answering(request) { () throws(Response) in
      try access.requireOperator(access.identity(of: head))
    } != nil
  }

  // MARK: Connections

  /// Handles a new connection. A native client sends its hello next.
  ///
  /// - Parameters:
  ///   - address: the client's address, shown to operators.
  ///   - token: the token of the upgrade, see ``refusal(ofUpgrade:as:)``.
  ///   - limited: the address whose limits apply to the connection; `nil` for none.
  public func opened(
    _ id: ConnectionID, as opening: ClientKind, at address: String = "", token: String? = nil,
    limitedBy limited: IPAddress? = nil
  ) {
    let identity = access.identity(openingWith: token)
    access.count(id, from: limited)
    let connection: Connection
    let now = dependencies.clock.now
    switch opening {
    case .socketIO(let query, let place):
      socketIO.opened(id, query: query, address: place, from: limited)
      return
    case .bayeux(let place):
      bayeux.opened(id, address: place, from: limited)
      return
    case .pusher(let key, let query):
      pusher.opened(id, key: key, query: query, at: address, from: limited)
      return
    case .native:
      connection = Connection(
        id: id, dialect: native, address: address, openedAt: now,
        phase: .greeting(deadline: dependencies.clock.uptime + settings.helloMilliseconds))
    case .whaler: connection = ready(id, whaler, "Whaler", identity, at: address)
    case .shareDB: connection = ready(id, shareDB, "ShareDB", identity, at: address)
    case .rustpad: connection = ready(id, rustpad, "Rustpad", identity, at: address)
    }
    connection.identity = identity
    connection.limitedAddress = limited
    connection.meter = access.meter(from: limited)
    if let identity {
      access.count(connection, towards: identity)
      board.admit(id, as: identity, from: limited)
    }
    board.enter(connection)
    metrics.connectionsOpened += 1
    guard connection.isReady else { return }
    guard let identity else {
      // The token has expired since the upgrade was allowed.
      close(connection, .unauthorised, "unauthorised")
      return
    }
    rooms.presence.goOnline(connection)
    if case .shareDB = opening { shareDB.opened(connection) }
    if case .rustpad(let note) = opening {
      rustpad.opened(connection, note: DocumentID(note))
    }
    guard case .whaler(let pool) = opening else { return }
    if let pool = pool.map({ RoomName($0) }), identity.may(.read, .room(pool)) {
      rooms.join(room: pool, connection)
    }
  }

  /// Creates a connection of a client whose token came with its upgrade.
  ///
  /// - Parameter name: The user's name if the token has none.
  private func ready(
    _ id: ConnectionID, _ dialect: Dialect, _ name: String, _ identity: Identity?,
    at address: String
  ) -> Connection {
    let connection = Connection(
      id: id, dialect: dialect, address: address, openedAt: dependencies.clock.now, phase: .ready)
    connection.client = dependencies.names.next()
    connection.name = identity.map { access.name(of: $0, claimed: name) } ?? name
    return connection
  }

  /// Handles a complete message.
  public func received(_ id: ConnectionID, message: UnsafeRawBufferPointer, kind: MessageKind) {
    guard let connection = connections[id] else {
      receivedByCarrier(id, message, kind: kind)
      return
    }
    guard connection.isOpen else { return }
    guard rights.hold(connection) else { return }
    let now = dependencies.clock.uptime
    rooms.presence.heard(connection, now: now)
    let excess = excess(of: connection, bytes: message.count, now: now)
    if let excess, rights.closeIfFlooding(connection, excess, now: now) { return }
    connection.dialect.received(message, kind: kind, excess: excess, on: connection)
  }

  /// Handles a message that exceeded the size limit and was not read.
  public func oversized(_ id: ConnectionID, bytesMax: Int) {
    guard let connection = connections[id] else {
      oversizedByCarrier(id)
      return
    }
    connection.dialect.oversized(connection, bytesMax: bytesMax)
  }

  /// Handles a message that was dropped in part: its sender has used its share of memory.
  public func droppedForMemory(_ id: ConnectionID) {
    guard let connection = connections[id] else {
      carrierDroppedForMemory(id)
      return
    }
    connection.dialect.droppedForMemory(connection)
  }

  /// Handles a connection whose queued bytes were all sent.
  public func drained(_ id: ConnectionID) {
    guard let connection = connections[id] else { return }
    documents.delivery.drained(connection)
    rooms.drained(connection)
  }

  /// Handles the end of a connection.
  public func closed(_ id: ConnectionID) {
    access.uncount(id)
    guard let connection = board.leave(id) else {
      closedCarrier(id)
      return
    }
    whaler.closed(id)
    pusher.closed(id)
    shareDB.closed(id)
    rustpad.closed(id)
    leaveEverything(connection)
    // Store requests that are still pending for it see that the client is gone.
    connection.phase = .closing
    if connectionsByClient[connection.client] == id {
      connectionsByClient[connection.client] = nil
      rooms.holderLeft(connection.client)
    }
  }

  func respond(_ request: RequestID, _ response: Response) { http.respond(request, response) }

  func close(_ connection: Connection, _ why: CloseReason, _ reason: String) {
    if connection.dialect.endSession(of: connection, mayReconnect: true) { return }
    // Sending the close reason may itself exceed the queue limit and close the connection.
    guard connection.isOpen else { return }
    connection.phase = .closing
    metrics.closes[why.rawValue, default: 0] += 1
    leaveEverything(connection, mayReturn: why != .revoked)
    let code = connection.dialect.traits.closeCode(why)
    act(.close(connection.id, code: CloseCode(code), reason: reason))
  }

  /// - Parameter mayReturn: whether rooms continue to show the person for a while.
  func leaveEverything(_ connection: Connection, mayReturn: Bool = true) {
    documents.leaveAll(connection)
    rooms.leaveAll(connection, mayReturn: mayReturn)
    connection.meter.count(towards: nil)
  }

  /// Ends a turn of the loop: notifies followers who has joined and left during it, and sends its
  /// changes to the store, as actions to be taken next.
  ///
  /// - Complexity: O(*n*) documents and changes of this turn and the previous one.
  /// - Returns: the milliseconds after which the next turn should end even without events, because
  ///   work remains; `nil` if none does.
  public func endTurn() -> Int? {
    if board.hasTurnedAway { answerRejected() }
    let isRevoking = rights.endTurn()
    rooms.sendSignals()
    let pause = documents.endTurn()
    return isRevoking || board.hasTurnedAway ? 0 : pause
  }

  /// Does the periodic work: hello deadlines, readers that have drained, unused documents.
  public func ticked() {
    let now = dependencies.clock.uptime
    rights.ticked()
    socketIO.ticked()
    bayeux.ticked()
    pusher.ticked()
    shareDB.ticked()
    rustpad.ticked()
    for connection in connectionsInOrder({ $0.isOverdue(now: now) }) {
      close(connection, .helloMissing, "no hello within the time limit")
    }
    documents.delivery.catchUpDrained()
    rooms.catchUpDrained()
    documents.rollBackFailedCommits()
    probeStore(now: now)
    documents.readHeads(now: now)
    documents.people.tickNodes(now: now)
    rooms.readHeads(now: now)
    rooms.presence.tickPeople(now: now)
    rooms.tickEnding(now: now)
    documents.people.tellCounts()
    access.ticked()
    http.notes.ticked()
    files.ticked()
    audit.ticked()
    notices.ticked()
    if !backlog.isFull { whaler.settleOwed() }
    documents.forgetUnused(now: now)
  }

  /// Handles a hint, whose sender is unverified. Hints may be late, wrong or repeated.
  public func heard(_ topic: String, _ bytes: [UInt8]) {
    documents.heard(topic, bytes)
    rooms.presence.heard(topic, bytes)
  }

  /// Records whether other nodes' hints arrive. After an interruption, missed changes are read.
  public func hintsChanged(arrive: Bool) {
    if board.hearsHints, !arrive { board.hasLostHints = true }
    board.hearsHints = arrive
    guard arrive, board.hasLostHints else { return }
    board.hasLostHints = false
    board.mayHaveMissed()
  }

  /// Handles a reconnect to the store's database: missed changes of other gateways are read first.
  public func storeReconnected() { board.mayHaveMissed() }

  /// Rejects further changes as retryable; reads continue.
  public func drain() { board.isDraining = true }

  /// Whether every accepted change and publication has been stored and answered.
  public var isSettled: Bool {
    rooms.isSettled && documents.isSettled
  }

  /// Asks all clients to reconnect, and closes their connections.
  ///
  /// - Parameter reconnectAfter: the range in milliseconds from which each client draws its delay.
  public func closeAll(reconnectAfter: ClosedRange<Int>) {
    for connection in connectionsInOrder(\.isOpen) {
      connection.dialect.sendGoodbye(
        reason: "draining", reconnectAfter: reconnectAfter, to: connection)
      close(connection, .draining, "the server is stopping; reconnect")
    }
  }

  /// Why the store cannot write although no commit has failed; set by the surrounding program.
  public var storeProblem: String?

  /// Why changes are rejected now, in a sentence; `nil` if they are accepted.
  public var unreadiness: String? {
    if board.isDraining { return "the server is shutting down" }
    if let problem = access.unreadiness { return problem }
    if let backlogProblem { return backlogProblem }
    if let storeProblem { return storeProblem }
    if storeFailure != nil {
      return
        "the last commit failed: check the disk; reading continues, and changes are retried"
    }
    return documents.isBehind || rooms.isBehind
      ? "the store has reconnected; reading the changes of other gateways" : nil
  }
}
