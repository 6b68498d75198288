import Gateway
import ParleyGatewayPorts
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing
import ParleyWebSocketFrames

/// A gateway with an in-memory store. Its actions are performed at once, unless `isStepwise`.
final class GatewayRig {
  /// Bytes that wait for connections; none by default.
  final class Queues {
    var bytes: [UInt64: Int] = [:]
    /// Connections whose sockets accept data; their bytes wait only for the loop's next turn.
    var withRoom: Set<UInt64> = []

    func makeRoom(_ id: UInt64) -> Bool {
      guard withRoom.contains(id) else { return false }
      bytes[id] = nil
      return true
    }
  }

  let queues = Queues()
  let clock = VirtualClock()
  let book: TokenBook?
  let ownTokens = OwnTokenBook()
  let revocations = RevocationList()
  let store: MemoryStore
  private let gateway: Gateway
  private var inboxes: [UInt64: [(messageID: String, message: ServerMessage)]] = [:]
  private var texts: [UInt64: [String]] = [:]
  /// Fragments of incomplete messages.
  private var beginnings: [UInt64: [UInt8]] = [:]
  private(set) var closeCodes: [UInt64: UInt16] = [:]
  /// The holders that connections and responses count against.
  private(set) var admitted: [UInt64: Holder] = [:]
  private(set) var holders: [UInt64: Holder] = [:]
  private var responses: [UInt64: Response] = [:]
  /// The number of responses to each request.
  private(set) var answerCounts: [UInt64: Int] = [:]
  private var nextID: UInt64 = 1
  /// Whether turns end and the store works only when the test says so.
  var isStepwise = false
  /// Requests that the store has not performed yet.
  private(set) var stored: [(ticket: StoreTicket, request: StoreRequest)] = []
  /// Requests to the store that were cancelled.
  private(set) var forgotten: [StoreTicket] = []
  /// Requests to the search index.
  private(set) var searches: [SearchRequest] = []
  /// The search index; an empty one by default.
  var index: (SearchRequest) -> SearchReply = { search in
    switch search {
    case .find, .tagged: .ids([])
    case .tags: .tags([], isCut: false)
    case .places: .hits([])
    }
  }
  /// Hints for other nodes.
  private(set) var hints: [(topic: String, bytes: [UInt8])] = []

  /// Removes and returns the hints for other nodes.
  func takeHints() -> [(topic: String, bytes: [UInt8])] {
    defer { hints = [] }
    return hints
  }

  /// The topics of hints that the gateway follows.
  private(set) var topics: Set<String> = []
  /// Connections in the order in which frames were sent to them.
  var recipients: [UInt64] = []
  /// The addresses in memory of the payloads of frames that were sent.
  var frameAddresses: [UInt] = []
  /// The lengths of the sent frames in bytes.
  var frameSizes: [Int] = []

  /// - Parameters:
  ///   - isDemo: Whether every client is accepted; otherwise the book must contain the token.
  ///   - users: The source of users, whose sessions end when their passwords change; `nil` by
  ///     default.
  ///   - store: the store of an earlier gateway, after a restart.
  ///   - prefix: The beginning of the ids that the gateway generates.
  init(
    isDemo: Bool = false, users: (any UserSource)? = nil, people: PeopleHandlers? = nil,
    log: any LogSink = NoLog(), store: MemoryStore = MemoryStore(), prefix: String = "g",
    change: (inout GatewaySettings) -> Void = { _ in }
  ) {
    self.store = store
    book = isDemo ? nil : TokenBook()
    var settings = GatewaySettings()
    settings.isDemo = isDemo
    change(&settings)
    gateway = Gateway(
      settings: settings,
      dependencies: Gateway.Dependencies(
        clock: clock, names: SeededNames(prefix: prefix), tokens: PlainTokens(), log: log,
        authenticator: book, apiKeys: KeyBook(), ownTokens: ownTokens, revocations: revocations,
        users: users, people: people, queuedBytes: { [queues] in queues.bytes[$0.rawValue] ?? 0 },
        queuedBytesBound: { [queues] in queues.bytes.values.max() ?? 0 },
        isStalled: { [queues] in !queues.withRoom.contains($0.rawValue) },
        makeRoom: { [queues] id, _ in queues.makeRoom(id.rawValue) }))
  }

  /// Creates documents.
  func make(_ ids: String...) {
    _ = store.perform(
      ids.map { .create(id: DocumentID($0), epoch: "epoch of \($0)", title: $0, time: clock.now) })
  }

  // MARK: Connections

  /// Opens a native connection.
  func connect(token: String? = nil, from address: IPAddress? = nil) -> UInt64 {
    defer { nextID += 1 }
    gateway.opened(ConnectionID(nextID), as: .native, token: token, limitedBy: address)
    perform()
    return nextID
  }

  /// Opens a native connection and sends hello.
  func connectNative(
    _ token: String?, name: String = "Somebody", client: ClientMessage.Hello.Claim? = nil,
    from address: IPAddress? = nil
  ) throws -> (UInt64, ServerMessage.Welcome) {
    let id = connect(from: address)
    let reply = ask(id, .hello(.init(name: name, client: client, token: token)))
    guard case .welcome(let welcome) = reply else { throw Unexpected(message: reply) }
    return (id, welcome)
  }

  /// Opens a Whaler connection.
  func connectWhaler(pool: String?, token: String?) -> UInt64 {
    defer { nextID += 1 }
    gateway.opened(ConnectionID(nextID), as: .whaler(pool: pool), token: token)
    perform()
    return nextID
  }

  /// Opens a connection of another dialect.
  func connect(
    as opening: ClientKind, token: String? = nil, from address: IPAddress? = nil
  ) -> UInt64 {
    defer { nextID += 1 }
    gateway.opened(ConnectionID(nextID), as: opening, token: token, limitedBy: address)
    perform()
    return nextID
  }

  /// Returns the status that rejects an upgrade; `nil` if the upgrade is accepted.
  func refusal(ofUpgrade headers: [String: String], query: String = "", as opening: ClientKind)
    -> Int?
  {
    gateway.refusal(
      ofUpgrade: RequestHead(method: "GET", path: "/", query: query, headers: headers), as: opening
    )?.status
  }

  /// Sends a message and returns its reply.
  @discardableResult
  func ask(_ id: UInt64, _ message: ClientMessage) -> ServerMessage? {
    let messageID = "m\(nextID)"
    nextID += 1
    var bytes: [UInt8] = []
    message.encode(messageID: messageID, into: &bytes)
    bytes.withUnsafeBytes { gateway.received(ConnectionID(id), message: $0, kind: .text) }
    perform()
    guard let index = inboxes[id]?.firstIndex(where: { $0.messageID == messageID }) else {
      return nil
    }
    return inboxes[id]?.remove(at: index).message
  }

  /// Sends a message whose reply may follow later, and returns its id.
  func send(_ id: UInt64, _ message: ClientMessage) -> String {
    let messageID = "m\(nextID)"
    nextID += 1
    var bytes: [UInt8] = []
    message.encode(messageID: messageID, into: &bytes)
    bytes.withUnsafeBytes { gateway.received(ConnectionID(id), message: $0, kind: .text) }
    perform()
    return messageID
  }

  /// Returns the number of replies to a message so far.
  func replyCount(_ id: UInt64, to messageID: String) -> Int {
    inboxes[id]?.count { $0.messageID == messageID } ?? 0
  }

  /// Sends text without waiting for a reply.
  func say(_ id: UInt64, _ text: String) {
    Array(text.utf8).withUnsafeBytes {
      gateway.received(ConnectionID(id), message: $0, kind: .text)
    }
    perform()
  }

  /// Removes and returns the messages sent to a connection, except replies that `ask` has returned.
  func pushes(_ id: UInt64) -> [ServerMessage] {
    (inboxes.removeValue(forKey: id) ?? []).map(\.message)
  }

  /// Removes and returns the messages sent to a connection since the last call, as text.
  func frames(_ id: UInt64) -> [String] { texts.removeValue(forKey: id) ?? [] }

  /// Advances the clock and ticks the gateway.
  func pass(milliseconds: Int64) {
    clock.advance(milliseconds: milliseconds)
    gateway.ticked()
    perform()
  }

  /// Enters a token in the book, and returns it.
  func token(_ user: String, _ grants: [Grant]) -> String {
    book?.enter(user, user: user, name: "The \(user)", grants)
    return user
  }

  /// Closes a connection.
  func close(_ id: UInt64) {
    gateway.closed(ConnectionID(id))
    perform()
  }

  /// Reports that a message was dropped because its sender has used its share of memory.
  func crowd(_ id: UInt64) {
    gateway.droppedForMemory(ConnectionID(id))
    perform()
  }

  func send(_ id: UInt64, oversizedBeyond bytesMax: Int) {
    gateway.oversized(ConnectionID(id), bytesMax: bytesMax)
    perform()
  }

  /// Reports that the bytes that waited for a connection have been sent.
  func drain(_ id: UInt64) {
    gateway.drained(ConnectionID(id))
    perform()
  }

  /// Makes the gateway reject changes, as when the server shuts down.
  func drainGateway() { gateway.drain() }

  /// Asks all clients to reconnect.
  func closeAll() {
    gateway.closeAll(reconnectAfter: 0...0)
    perform()
  }

  /// Publishes a resource update in a room.
  func publish(_ resource: String, in room: RoomName) {
    gateway.publish(resource: resource, in: room, sender: nil)
    perform()
  }

  // MARK: HTTP

  /// Makes a request and returns its status and body.
  func request(
    _ method: String, _ path: String, token: String? = nil, from address: String = "",
    _ body: String = ""
  ) -> (status: Int, body: String) {
    let id = begin(
      method, path, headers: token.map { ["authorization": "Bearer \($0)"] } ?? [:], from: address,
      body)
    // Discard the response: no test reads it again.
    defer { responses[id] = nil }
    return answer(id) ?? (0, "")
  }

  /// Makes a request that may be answered later, and returns its number.
  func begin(
    _ method: String, _ path: String, headers: [String: String], from address: String = "",
    _ body: String = ""
  ) -> UInt64 {
    begin(method, path, headers: headers, from: address, bytes: Array(body.utf8))
  }

  /// Begins a request whose body may be any bytes.
  func begin(
    _ method: String, _ path: String, headers: [String: String], from address: String = "",
    bytes: [UInt8]
  ) -> UInt64 {
    let id = nextID
    nextID += 1
    let parts = path.split(separator: "?", maxSplits: 1).map(String.init)
    var head = RequestHead(
      method: method, path: parts[0], query: parts.count > 1 ? parts[1] : "", headers: headers,
      remoteAddress: address)
    head.limitedAddress = IPAddress(address)
    #expect(gateway.request(RequestID(id), head: head, body: bytes))
    perform()
    return id
  }

  /// Reports that the client of a request has disconnected.
  func abandon(_ request: UInt64) {
    gateway.abandoned(RequestID(request))
    perform()
  }

  /// Returns the decision on a long body.
  func decision(onBody byteCount: Int?, of head: RequestHead) -> BodyDecision {
    gateway.decision(onBody: byteCount, of: head)
  }

  /// Returns the status and body of a response; `nil` before the request is answered.
  func answer(_ request: UInt64) -> (status: Int, body: String)? {
    responses[request].map { ($0.status, String(decoding: $0.body, as: UTF8.self)) }
  }

  /// Returns the whole response; `nil` before the request is answered.
  func response(_ request: UInt64) -> Response? { responses[request] }

  /// Performs a session request, as the program around the gateway does.
  func perform(
    _ request: SessionRequest, then proceed: @escaping (Result<SessionReply, StoreError>) -> Void
  ) {
    gateway.perform(request, then: proceed)
    perform()
  }

  /// Finds the note that a link's key opens, and its title, as the program around the gateway does.
  func openLink(
    _ key: String, then proceed: @escaping (Result<Gateway.OpenedLink?, StoreError>) -> Void
  ) {
    gateway.openLink(key, then: proceed)
    perform()
  }

  /// Finds the note that is published under a name, as the program around the gateway does.
  func openName(
    _ text: String, then proceed: @escaping (Result<Gateway.OpenedLink?, StoreError>) -> Void
  ) {
    guard let name = try? ReadableName(text) else { return proceed(.success(nil)) }
    gateway.openName(name, then: proceed)
    perform()
  }

  /// Finds the title of a note, as the program around the gateway does.
  func openTitle(of note: DocumentID, then proceed: @escaping (String?) -> Void) {
    gateway.openTitle(of: note, then: proceed)
    perform()
  }

  /// Requests that wait for the store.
  var storeBacklog: (requests: Int, bytes: Int, waitMilliseconds: Int64) { gateway.storeBacklog }

  /// The reason why changes are rejected now; `nil` if the gateway is ready.
  var unreadiness: String? { gateway.unreadiness }

  // MARK: Step by step

  /// Ends a turn. Returns whether the gateway wants another turn immediately.
  func endTurn() -> Bool { restAfterTurn() == 0 }

  /// Ends a turn. Returns the milliseconds until the gateway wants another; `nil` if it wants none.
  func restAfterTurn() -> Int? {
    let rest = gateway.endTurn()
    for action in gateway.takeActions() { perform(action) }
    return rest
  }

  /// Lets the store perform its requests, or the first `count`, and reply.
  func performStoreRequests(on count: Int = .max) {
    let work = stored.prefix(count)
    stored.removeFirst(work.count)
    for (item, reply) in zip(work, store.perform(work.map(\.request))) {
      gateway.stored(item.ticket, reply: reply)
    }
    perform()
  }

  /// Lets the store perform its requests and reply, except those that `failure` fails.
  func performStoreRequests(failing failure: (StoreRequest) -> StoreError?) {
    let work = stored
    stored = []
    for item in work {
      let reply = failure(item.request).map { StoreReply.failed($0) }
      gateway.stored(item.ticket, reply: reply ?? store.perform([item.request])[0])
    }
    perform()
  }

  /// Fails all requests at the store with an unknown outcome, after performing them if `isDone`.
  func failWithUnknownOutcome(afterDoing isDone: Bool) {
    let work = stored
    stored = []
    if isDone { _ = store.perform(work.map(\.request)) }
    for item in work {
      gateway.stored(item.ticket, reply: .failed(.unknownOutcome("the line broke")))
    }
    perform()
  }

  /// Fails all requests at the store as unavailable, without performing any.
  func failAsUnavailable() {
    let work = stored
    stored = []
    for item in work {
      gateway.stored(item.ticket, reply: .failed(.unavailable("nothing is written now")))
    }
    perform()
  }

  /// Answers the store's first request with a reply, without performing it.
  func storeAnswers(_ reply: StoreReply) {
    gateway.stored(stored.removeFirst().ticket, reply: reply)
    perform()
  }

  /// Lets the store perform its requests. Returns the replies for `deliver`.
  func performWithoutReplying() -> [(ticket: StoreTicket, reply: StoreReply)] {
    let work = stored
    stored = []
    return Array(zip(work.map(\.ticket), store.perform(work.map(\.request))))
  }

  /// Delivers the store's replies.
  func deliver(_ replies: [(ticket: StoreTicket, reply: StoreReply)]) {
    for item in replies { gateway.stored(item.ticket, reply: item.reply) }
    perform()
  }

  /// Delivers a hint from another node.
  func hear(_ topic: String, _ bytes: [UInt8]) {
    gateway.heard(topic, bytes)
    perform()
  }

  /// Reports that the tags of notes in the search index have changed.
  func tagsChange() {
    gateway.tagsChanged()
    perform()
  }

  /// Reports whether hints from other nodes arrive.
  func hintsArrive(_ arrive: Bool = true) { gateway.hintsChanged(arrive: arrive) }

  /// Reports that the store has reconnected to its database.
  func storeReconnects() { gateway.storeReconnected() }

  /// The gateway's counts.
  var metrics: GatewayMetrics { gateway.metrics }

  /// Whether all accepted work is done.
  var isSettled: Bool { gateway.isSettled }

  // MARK: Inside

  private func perform() {
    while true {
      let rest = isStepwise ? nil : gateway.endTurn()
      let actions = gateway.takeActions()
      if actions.isEmpty {
        guard let rest else { return }
        if rest > 0 { clock.advance(milliseconds: Int64(rest)) }
      }
      for action in actions { perform(action) }
    }
  }

  private func perform(_ action: GatewayAction) {
    switch action {
    case .broadcast(let frame, let connections):
      for connection in connections { perform(.send(frame, to: connection)) }
    case .send(let frame, let connection):
      recipients.append(connection.rawValue)
      frameAddresses.append(frame.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) })
      frameSizes.append(frame.byteCount)
      beginnings[connection.rawValue, default: []] += frame.payload
      guard frame.isFinal else { return }
      (beginnings.removeValue(forKey: connection.rawValue) ?? []).withUnsafeBytes { bytes in
        if let (messageID, message) = try? ServerMessage.decode(bytes) {
          inboxes[connection.rawValue, default: []].append((messageID, message))
        }
        texts[connection.rawValue, default: []].append(String(decoding: bytes, as: UTF8.self))
      }
    case .close(let connection, let code, _):
      closeCodes[connection.rawValue] = code.rawValue
      gateway.closed(connection)
    case .admit(let connection, let holder): admitted[connection.rawValue] = holder
    case .count(let request, let holder): holders[request.rawValue] = holder
    case .respond(let request, let response):
      responses[request.rawValue] = response
      answerCounts[request.rawValue, default: 0] += 1
    case .search(let request, let search):
      searches.append(search)
      gateway.searched(request, reply: index(search))
    case .gather(let request, _, _, let answer): gateway.gathered(request, answer)
    case .publish(let topic, let bytes): hints.append((topic, bytes))
    case .follow(let topic): topics.insert(topic)
    case .leave(let topic): topics.remove(topic)
    case .forget(let ticket): forgotten.append(ticket)
    case .store(let ticket, let request) where isStepwise: stored.append((ticket, request))
    case .store(let ticket, let request):
      for reply in store.perform([request]) { gateway.stored(ticket, reply: reply) }
    }
  }
}

/// A message other than the expected one.
struct Unexpected: Error {
  let message: ServerMessage?
}
