public import ParleyGatewayPorts
import OTCore
import SocketMessages
public import ParleyWebSocketFrames

/// The gateway: connections, documents and rooms, as one state machine without I/O.
///
/// Its owner reports events to it (``opened(_:as:at:token:limitedBy:)``, ``received(_:message:kind:)``,
/// ``stored(_:reply:)``, …) and then does what ``takeActions()`` returns, in order. Everything happens on
/// one loop; each of its turns must close with ``endTurn()``, which hands changes to the store, and another
/// look at the actions. No call blocks, and time, names and tokens are handed in. So several gateways with
/// all their clients run in one process from one seed.
///
///     received ─▶ decode ─▶ LiveDocument.submit … endTurn ─▶ store(append) … stored ─▶ deliver
///
/// No client sees an edit, its author included, before ``stored(_:reply:)`` says that it is on disk.
public final class Gateway: Part, SwitchboardOwner {
  /// The gateway's ports.
  public struct Dependencies {
    /// For the switchboard, and so for every part.
    fileprivate let board: Switchboard.Ports
    /// For ``Access`` alone.
    fileprivate let access: Access.Ports
    /// For ``Rooms`` alone.
    fileprivate let people: PeopleHandlers?
    /// The number of the gateway among those of its process.
    fileprivate let place: Int

    /// - Parameters:
    ///   - authenticator: checks tokens; without one, and in demo mode, anyone may do everything.
    ///   - apiKeys: knows the keys of programs that make HTTP requests; without it there are none.
    ///   - ownTokens: makes tokens for shared links and checks them; without it there are none.
    ///   - revocations: remembers tokens that were taken back; without it none can be.
    ///   - users: whose rights follow them, as long as they are logged in; without it there are none.
    ///   - people: what is offered to people in rooms; without it, the standard handlers.
    ///   - queuedBytes: bytes that wait for a connection's socket; asked before changes are sent,
    ///     so that a slow reader's queue stays short.
    ///   - queuedBytesBound: a number of bytes that is not exceeded by what waits for any one of them.
    ///   - isStalled: whether a connection's socket was full, and bytes have waited for it since.
    ///   - makeRoom: writes to a connection's socket until at most so many bytes wait, and returns whether that was
    ///     possible; asked before a connection is closed as too slow.
    ///   - limits: holds users and addresses to their limits together with other gateways of the
    ///     process; without it this one does by itself.
    ///   - place: the number of this gateway among them, which is in the ids of its sessions' places.
    ///   - hasOthers: whether there are others in the process, which answer operators together with it.
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
  /// Identities and their rights, and the rate limits used so far.
  let access: Access
  let rights: Rights
  let http: HTTP
  let search: Search
  let files: Files
  let comments: Comments
  let sessions: Sessions
  let links: Links
  let folders: Folders
  /// The counts since the start.
  public internal(set) var metrics: GatewayMetrics {
    _read { yield board.metrics }
    _modify { yield &board.metrics }
  }

  /// The dialects that connections speak.
  let native: NativeDialect
  let whaler: WhalerDialect
  let socketIO: SocketIODialect
  let bayeux: BayeuxDialect
  let pusher: PusherDialect
  /// The sessions of Socket.IO and Bayeux together.
  let sessionTable: SessionTable
  /// Requests in the protocols of other apps.
  let apps: AppRequests

  /// Makes a gateway without connections.
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
    comments = Comments(board, access, rooms)
    sessions = Sessions(board, access, rights)
    links = Links(board, access, rights)
    folders = Folders(board, documents, rooms)
    http = HTTP(
      board, documents, rooms, access, rights, search, files, comments, sessions, links, folders)
    let table = SessionTable(board, access)
    sessionTable = table
    socketIO = SocketIODialect(board, access, rooms, table)
    bayeux = BayeuxDialect(board, access, rooms, table)
    pusher = PusherDialect(board, access, rooms)
    apps = AppRequests(board, access, rooms)
    board.owner = self
    documents.owner = http
    comments.owner = http
    native.owner = rights
    socketIO.owner = self
    bayeux.owner = self
    rooms.owner = self
    rooms.start()
  }

  /// Releases the connections: they refer to their dialects, and these to the switchboard and the sessions,
  /// which refer to the connections.
  deinit {
    board.letGo()
    socketIO.letGo()
    bayeux.letGo()
    pusher.letGo()
  }

  // MARK: Actions

  /// Returns the actions to do, oldest first. Changes are handed to the store by ``endTurn()``.
  public func takeActions() -> [GatewayAction] {
    documents.delivery.countBroadcasts()
    return board.takeActions()
  }

  /// The capabilities that `welcome` names.
  public var capabilities: [String] { native.capabilities }

  // MARK: Access

  /// The token of a request: `Authorization`, with or without `Bearer`, or `token` in the query if
  /// that is allowed.
  public func token(in head: RequestHead) -> String? { access.token(in: head) }

  /// The response to refuse an upgrade with, or `nil` to let it pass.
  ///
  /// A Whaler client has to bring its token now (401 without, 403 with a bad one or one that does
  /// not grant the pool); a `parley.v1` client may, or says it in its hello.
  public func refusal(ofUpgrade head: RequestHead, as opening: Opening) -> Response? {
    if case .socketIO(let query, let address) = opening {
      return socketIO.refusal(ofUpgrade: head, query: query, address: address).map(http.spread)
    }
    return access.refusal(ofUpgrade: head, as: opening).map(http.spread)
  }

  /// The answer to a request from an address that exceeds its rate, counting the request; `nil` if it may
  /// proceed.
  public func refusal(ofRequest head: RequestHead) -> Response? {
    access.refusal(ofRequest: head).map(http.spread)
  }

  // MARK: HTTP

  /// Whether there are apps of Pusher's protocol.
  public var servesPusher: Bool { !pusher.apps.isEmpty }

  /// Answers an HTTP request, now or when the store has replied.
  ///
  /// - Returns: Whether the path is the gateway's at all.
  public func request(_ request: RequestID, head: RequestHead, body: [UInt8]) -> Bool {
    requestOfDialect(request, head: head, body: body)
      || http.request(request, head: head, body: body)
  }

  /// Decides about a body that is too long to be read without a decision, by the head of its request.
  ///
  /// - Parameter byteCount: Its length; `nil` for chunks, whose length is not known.
  public func decision(onBody byteCount: Int?, of head: RequestHead) -> BodyDecision {
    let decision =
      switch Opening(head) {
      case .socketIO: socketIO.decision(onBody: byteCount, of: head)
      case .bayeux: bayeux.decision(onBody: byteCount, of: head)
      case .native, .whaler, .pusher, nil:
        apps.decision(of: head) ?? pusher.decision(of: head)
          ?? http.decision(onBody: byteCount, of: head)
      }
    guard case .refuse(let response) = decision else { return decision }
    return .refuse(http.spread(response))
  }

  /// Whether a request is an operator's; answers it if not.
  public func isOperator(_ head: RequestHead, _ request: RequestID) -> Bool {
    access.answering(request) { () throws(Response) in
      try access.requireOperator(access.identity(of: head))
    } != nil
  }

  // MARK: Connections

  /// A connection is open; a native one says hello next.
  ///
  /// - Parameters:
  ///   - address: where the client is, for operators.
  ///   - token: the token that the upgrade brought, see ``refusal(ofUpgrade:as:)``.
  ///   - limited: the address whose limits it counts towards; `nil` for none.
  public func opened(
    _ id: ConnectionID, as opening: Opening, at address: String = "", token: String? = nil,
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
    case .whaler:
      connection = Connection(
        id: id, dialect: whaler, address: address, openedAt: now, phase: .ready)
      connection.client = dependencies.names.next()
      connection.name = identity.map { access.name(of: $0, claimed: "Whaler") } ?? "Whaler"
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
    guard case .whaler(let pool) = opening else { return }
    guard let identity else {
      // The token has expired since the upgrade was allowed.
      close(connection, .unauthorised, "unauthorised")
      return
    }
    rooms.goOnline(connection)
    if let pool, identity.may(.read, .room(pool)) { rooms.join(room: pool, connection) }
  }

  /// A whole message has arrived.
  public func received(_ id: ConnectionID, message: UnsafeRawBufferPointer, kind: MessageKind) {
    guard let connection = connections[id] else {
      receivedByCarrier(id, message, kind: kind)
      return
    }
    guard connection.isOpen else { return }
    guard rights.hold(connection) else { return }
    let now = dependencies.clock.uptime
    rooms.heard(connection, now: now)
    let excess = excess(of: connection, bytes: message.count, now: now)
    if let excess, rights.closeIfFlooding(connection, excess, now: now) { return }
    connection.dialect.received(message, kind: kind, excess: excess, on: connection)
  }

  /// A message was longer than the limit, and was not read.
  public func oversized(_ id: ConnectionID, bytesMax: Int) {
    guard let connection = connections[id] else {
      oversizedByCarrier(id)
      return
    }
    connection.dialect.oversized(connection, bytesMax: bytesMax)
  }

  /// A connection's message was dropped in part, since its sender holds its share of memory.
  public func crowded(_ id: ConnectionID) {
    guard let connection = connections[id] else {
      crowdedCarrier(id)
      return
    }
    connection.dialect.crowded(connection)
  }

  /// All that was queued for a connection has gone out.
  public func drained(_ id: ConnectionID) {
    if let connection = connections[id] { documents.delivery.drained(connection) }
  }

  /// A connection is gone.
  public func closed(_ id: ConnectionID) {
    access.uncount(id)
    guard let connection = board.leave(id) else {
      closedCarrier(id)
      return
    }
    whaler.closed(id)
    pusher.closed(id)
    leaveEverything(connection)
    // Work that still waits for the store on its behalf sees that the client is gone.
    connection.phase = .closing
    if connectionsByClient[connection.client] == id {
      connectionsByClient[connection.client] = nil
    }
  }

  func respond(_ request: RequestID, _ response: Response) { http.respond(request, response) }

  func close(_ connection: Connection, _ why: CloseReason, _ reason: String) {
    if connection.dialect.endSession(of: connection, comesBack: true) { return }
    // Sending the close reason may itself exceed the queue limit and close the connection.
    guard connection.isOpen else { return }
    connection.phase = .closing
    metrics.closes[why.rawValue, default: 0] += 1
    leaveEverything(connection, mayComeBack: why != .revoked)
    let code = connection.dialect.traits.closeCode(why)
    act(.close(connection.id, code: CloseCode(code), reason: reason))
  }

  /// - Parameter mayComeBack: whether the person is shown in rooms for a while yet.
  func leaveEverything(_ connection: Connection, mayComeBack: Bool = true) {
    documents.leaveAll(connection)
    rooms.leaveAll(connection, mayComeBack: mayComeBack)
    connection.meter.count(towards: nil)
  }

  /// Ends a turn of the loop: followers learn who has come and gone in it, and the changes that it brought
  /// go to the store, by the actions taken next.
  ///
  /// - Complexity: O(*n*) documents and changes of this turn or the one before.
  /// - Returns: the milliseconds after which the next turn should end, whatever happens, since something is left for it;
  ///   `nil` if nothing is.
  public func endTurn() -> Int? {
    if board.hasTurnedAway { answerTurnedAway() }
    let isRevoking = rights.endTurn()
    let pause = documents.endTurn()
    return isRevoking || board.hasTurnedAway ? 0 : pause
  }

  /// Time has passed: hellos that did not come, readers that have drained, documents without readers.
  public func ticked() {
    let now = dependencies.clock.uptime
    rights.ticked()
    socketIO.ticked()
    bayeux.ticked()
    pusher.ticked()
    for connection in connectionsInOrder({ $0.isOverdue(now: now) }) {
      close(connection, .helloMissing, "no hello came in time")
    }
    documents.delivery.catchUpDrained()
    documents.wipeFailedCommits()
    probeStore(now: now)
    documents.lookForNews(now: now)
    documents.people.tickNodes(now: now)
    rooms.lookForNews(now: now)
    rooms.tickPeople(now: now)
    documents.people.tellCounts()
    access.ticked()
    http.ticked()
    files.ticked()
    if !backlog.isFull { whaler.settleOwed() }
    documents.forgetUnused(now: now)
  }

  /// Another node has published a hint, or a stranger has: it may be late, wrong, or come twice.
  public func heard(_ topic: String, _ bytes: [UInt8]) {
    documents.heard(topic, bytes)
    rooms.heard(topic, bytes)
  }

  /// Hints of other nodes arrive from now on, or no longer.
  public func hintsChanged(arrive: Bool) {
    if board.hearsHints, !arrive { board.hasLostHints = true }
    board.hearsHints = arrive
    guard arrive, board.hasLostHints else { return }
    board.hasLostHints = false
    board.mayHaveMissed()
  }

  /// The store has reconnected to its database: changes of other gateways since are read before this one is ready.
  public func storeReconnected() { board.mayHaveMissed() }

  /// Takes no more changes: they are refused as retryable, and reads continue.
  public func drain() { board.isDraining = true }

  /// Whether every change and publication that was taken has been written and answered.
  public var isSettled: Bool {
    rooms.isSettled && documents.isSettled
  }

  /// Asks all clients to reconnect, and closes their connections.
  ///
  /// - Parameter reconnectAfter: milliseconds, from which each client draws its own delay.
  public func farewell(reconnectAfter: ClosedRange<Int>) {
    for connection in connectionsInOrder(\.isOpen) {
      connection.dialect.sendGoodbye(
        reason: "draining", reconnectAfter: reconnectAfter, to: connection)
      close(connection, .draining, "the server is stopping; reconnect")
    }
  }

  /// Why the store writes nothing although no commit has failed, as the program around the gateway found out.
  public var storeProblem: String?

  /// Why changes are refused at the moment, in a sentence; `nil` when they are taken.
  public var unreadiness: String? {
    if board.isDraining { return "the server is going down" }
    if let problem = access.unreadiness { return problem }
    if let backlogProblem { return backlogProblem }
    if let storeProblem { return storeProblem }
    if storeFailure != nil {
      return
        "the last commit failed: check the disk; reading continues, and changes are retried"
    }
    return documents.isBehind || rooms.isBehind
      ? "the store is back: what other gateways have written meanwhile is being read" : nil
  }
}
