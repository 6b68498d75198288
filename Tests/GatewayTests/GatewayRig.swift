import Gateway
import ParleyGatewayPorts
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing
import ParleyWebSocketFrames

/// A gateway over a store in memory, whose actions are done at once, unless `isStepwise`.
final class GatewayRig {
  /// Bytes that wait for connections; none by default.
  final class Queues {
    var bytes: [UInt64: Int] = [:]
    /// Connections whose sockets have room: their bytes only wait for a turn of the loop.
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
  /// Fragments of messages whose end is still to come.
  private var beginnings: [UInt64: [UInt8]] = [:]
  private(set) var closeCodes: [UInt64: UInt16] = [:]
  /// The holders of connections, and of responses.
  private(set) var admitted: [UInt64: Holder] = [:]
  private(set) var holders: [UInt64: Holder] = [:]
  private var responses: [UInt64: Response] = [:]
  /// The number of answers to each request.
  private(set) var answerCounts: [UInt64: Int] = [:]
  private var nextID: UInt64 = 1
  /// Whether turns end and the store works only on demand.
  var isStepwise = false
  /// Requests that the store has not done yet.
  private(set) var stored: [(ticket: StoreTicket, request: StoreRequest)] = []
  /// Requests to the store that were cancelled.
  private(set) var forgotten: [StoreTicket] = []
  /// The steps of searches.
  private(set) var searches: [SearchRequest] = []
  /// The index of words; an empty one by default.
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
  /// The length of each of them, in bytes.
  var frameSizes: [Int] = []

  /// - Parameters:
  ///   - isDemo: without it, tokens are checked against the book.
  ///   - users: the source of users, whose sessions end with their passwords; none by default.
  ///   - store: the store of an earlier gateway, after a restart.
  ///   - prefix: the beginning of the names that it makes.
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

  /// Makes documents.
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

  /// Opens a native connection and says hello.
  func greet(
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
  func connect(as opening: Opening, from address: IPAddress? = nil) -> UInt64 {
    defer { nextID += 1 }
    gateway.opened(ConnectionID(nextID), as: opening, limitedBy: address)
    perform()
    return nextID
  }

  /// The response that refuses an upgrade.
  func refusal(ofUpgrade headers: [String: String], query: String = "", as opening: Opening)
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

  /// The number of replies to a message so far.
  func replyCount(_ id: UInt64, to messageID: String) -> Int {
    inboxes[id]?.count { $0.messageID == messageID } ?? 0
  }

  /// Sends text and returns nothing.
  func say(_ id: UInt64, _ text: String) {
    Array(text.utf8).withUnsafeBytes {
      gateway.received(ConnectionID(id), message: $0, kind: .text)
    }
    perform()
  }

  /// The messages pushed to a connection since the last call.
  func pushes(_ id: UInt64) -> [ServerMessage] {
    (inboxes.removeValue(forKey: id) ?? []).map(\.message)
  }

  /// The frames sent to a Whaler connection since the last call.
  func frames(_ id: UInt64) -> [String] { texts.removeValue(forKey: id) ?? [] }

  /// Lets time pass.
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

  /// Breaks a connection.
  func close(_ id: UInt64) {
    gateway.closed(ConnectionID(id))
    perform()
  }

  /// Reports that a message was dropped in part, or was too long.
  func crowd(_ id: UInt64) {
    gateway.crowded(ConnectionID(id))
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

  /// Refuses changes from now on, since the server goes down.
  func goDown() { gateway.drain() }

  /// Asks all clients to reconnect.
  func farewell() {
    gateway.farewell(reconnectAfter: 0...0)
    perform()
  }

  /// Tells a room of an update.
  func publish(_ resource: String, in room: String) {
    gateway.publish(resource: resource, in: room, sender: nil)
    perform()
  }

  // MARK: HTTP

  /// Makes a request and returns status and body.
  func request(
    _ method: String, _ path: String, token: String? = nil, from address: String = "",
    _ body: String = ""
  ) -> (status: Int, body: String) {
    let id = begin(
      method, path, headers: token.map { ["authorization": "Bearer \($0)"] } ?? [:], from: address,
      body)
    // It is not asked for again.
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

  /// The same with a body of any bytes.
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

  /// The client of a request goes away.
  func abandon(_ request: UInt64) {
    gateway.abandoned(RequestID(request))
    perform()
  }

  /// The decision on a long body.
  func decision(onBody byteCount: Int?, of head: RequestHead) -> BodyDecision {
    gateway.decision(onBody: byteCount, of: head)
  }

  /// The answer to a request; `nil` if there is none yet.
  func answer(_ request: UInt64) -> (status: Int, body: String)? {
    responses[request].map { ($0.status, String(decoding: $0.body, as: UTF8.self)) }
  }

  /// The whole answer to a request; `nil` if there is none yet.
  func response(_ request: UInt64) -> Response? { responses[request] }

  /// Asks for work with sessions, as the program around the gateway does.
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

  /// The reason why changes are refused at the moment.
  var unreadiness: String? { gateway.unreadiness }

  // MARK: Step by step

  /// Ends a turn; returns whether another is wanted at once.
  func endTurn() -> Bool { restAfterTurn() == 0 }

  /// Ends a turn; returns the milliseconds after which another is wanted.
  func restAfterTurn() -> Int? {
    let rest = gateway.endTurn()
    for action in gateway.takeActions() { perform(action) }
    return rest
  }

  /// Lets the store do its requests, or the first of them, and reply.
  func storeWorks(on count: Int = .max) {
    let work = stored.prefix(count)
    stored.removeFirst(work.count)
    for (item, reply) in zip(work, store.perform(work.map(\.request))) {
      gateway.stored(item.ticket, reply: reply)
    }
    perform()
  }

  /// Lets the store do its requests and reply, except requests that fail in the given way.
  func storeWorks(failing failure: (StoreRequest) -> StoreError?) {
    let work = stored
    stored = []
    for item in work {
      let reply = failure(item.request).map { StoreReply.failed($0) }
      gateway.stored(item.ticket, reply: reply ?? store.perform([item.request])[0])
    }
    perform()
  }

  /// Loses the answers to all requests at the store, whether they are done or not.
  func losesAnswers(afterDoing isDone: Bool) {
    let work = stored
    stored = []
    if isDone { _ = store.perform(work.map(\.request)) }
    for item in work {
      gateway.stored(item.ticket, reply: .failed(.unknownOutcome("the line broke")))
    }
    perform()
  }

  /// Refuses all requests at the store, without doing any.
  func refusesWork() {
    let work = stored
    stored = []
    for item in work {
      gateway.stored(item.ticket, reply: .failed(.unavailable("nothing is written now")))
    }
    perform()
  }

  /// Has the store answer the first request with a reply, without doing it.
  func storeAnswers(_ reply: StoreReply) {
    gateway.stored(stored.removeFirst().ticket, reply: reply)
    perform()
  }

  /// Lets the store do its requests, and reply later.
  func workBegins() -> [(ticket: StoreTicket, reply: StoreReply)] {
    let work = stored
    stored = []
    return Array(zip(work.map(\.ticket), store.perform(work.map(\.request))))
  }

  /// Has the store reply.
  func workEnds(_ replies: [(ticket: StoreTicket, reply: StoreReply)]) {
    for item in replies { gateway.stored(item.ticket, reply: item.reply) }
    perform()
  }

  /// A hint arrives.
  func hear(_ topic: String, _ bytes: [UInt8]) {
    gateway.heard(topic, bytes)
    perform()
  }

  /// The tags of notes in the index of words have changed.
  func tagsChange() {
    gateway.tagsChanged()
    perform()
  }

  /// Hints arrive from now on.
  func hintsArrive(_ arrive: Bool = true) { gateway.hintsChanged(arrive: arrive) }

  /// The store has reconnected to its database.
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
