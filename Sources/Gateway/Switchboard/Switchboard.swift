import ParleyGatewayPorts
import SocketMessages
import ParleyWebSocketFrames

/// The connections, and all output of the gateway: frames, closes, answers and store requests.
///
/// The gateway's parts share it; it knows none of them. A reference, owned by the gateway and
/// confined to its loop.
final class Switchboard {
  let settings: GatewaySettings
  let allowances: Allowances
  let dependencies: Ports

  private(set) var connections: [ConnectionID: Connection] = [:]
  /// The connections in the order of opening, with gaps for removed connections.
  private(set) var openingOrder = GappedArray<ConnectionID>()
  /// The connection of each native client.
  var connectionsByClient: ExactDictionary<ConnectionID> = [:]
  /// The counts since the gateway's start.
  var metrics = GatewayMetrics()
  /// The accounting of requests that wait for the store.
  var backlog: StoreBacklog
  /// The store's last failure; `nil` after a successful commit.
  var storeFailure: StoreError? { didSet { if storeFailure != nil { storeFailures += 1 } } }
  /// Failures since the start, and interruptions in which other gateways may have written.
  private(set) var storeFailures = 0

  /// Records that other gateways may have written entries that are unknown here.
  func mayHaveMissed() { storeFailures += 1 }

  /// Whether the store is being probed for commits.
  var isProbing = false
  /// The uptime from which the store may be probed again.
  var nextProbe: Int64 = 0
  /// Whether changes are refused because the server is stopping.
  var isDraining = false
  /// Whether hints of other nodes arrive.
  var hearsHints = false
  /// Whether hints have been lost since they last arrived.
  var hasLostHints = false

  /// The owner, which closes connections and answers requests for all parts.
  unowned var owner: (any SwitchboardOwner)?

  private var actions: [GatewayAction] = []
  /// The frame that was queued last, and its receivers, which one action combines.
  @exclusivity(unchecked) private var lastFrame: Frame?
  @exclusivity(unchecked) private var lastReceivers: [ConnectionID] = []
  private var nextPush: UInt64 = 1
  private var nextTicket: UInt64 = 1
  /// The next id for a session's place; no transport issues these ids.
  private var nextPlace: UInt64
  private var awaited: [StoreTicket: Work] = [:]
  /// Reads beside the commits that HTTP clients wait for.
  private var reads: [RequestID: StoreTicket] = [:]
  /// Reads of many steps, by the rate-limited clients that requested them.
  private var longReads = LongReads()
  /// Requests that were not sent to the store: the backlog was full, or no right covers them.
  private var turnedAway: [(ticket: StoreTicket, error: StoreError)] = []

  /// A request that was sent to the store.
  private struct Work {
    let purpose: Awaited
    /// The bytes that the request adds to the backlog; `nil` if it adds none.
    let weight: Int?
  }

  /// The ports that every part may use.
  struct Ports {
    let clock: any Clock
    let names: any NameSource
    let tokens: any ResumeTokens
    let log: any LogSink
    /// Returns the bytes that wait for a connection's socket.
    let queuedBytes: (ConnectionID) -> Int
    /// Returns an upper bound of the bytes that wait for any connection's socket. While it is
    /// small, single connections are not checked.
    let queuedBytesBound: () -> Int
    /// Whether a connection's socket was full, and bytes have waited since.
    let isStalled: (ConnectionID) -> Bool
    /// Writes to a connection's socket until at most the given bytes wait; returns the success.
    let makeRoom: (ConnectionID, Int) -> Bool
    /// Whether there are other gateways in the process.
    let hasOthers: Bool
  }

  /// - Parameter place: The number of the gateway in its process; maximum 127.
  init(settings: GatewaySettings, dependencies: Ports, place: Int) {
    nextPlace = (1 << 63) + UInt64(place) << 56 + 1
    self.settings = settings
    self.dependencies = dependencies
    allowances = Allowances(settings.limits)
    backlog = StoreBacklog(
      StoreBacklog.Limits(
        requestsMax: settings.storeRequestsMax, bytesMax: settings.storeBytesMax))
  }

  /// Removes and returns the actions to perform, oldest first.
  func takeActions() -> [GatewayAction] {
    finishFrame()
    guard !actions.isEmpty else { return [] }
    defer { actions.removeAll(keepingCapacity: true) }
    return actions
  }

  // MARK: Connections

  /// Lets a connection send messages of the full size, since its client has presented a token.
  func admit(_ connection: ConnectionID, as identity: Identity, from address: IPAddress?) {
    act(.admit(connection, as: Holder(LimitedClient(identity, from: address))))
  }

  /// Adds a connection.
  func enter(_ connection: Connection) {
    connections[connection.id] = connection
    connection.openingIndex = openingOrder.append(connection.id)
  }

  /// Removes all connections, which retain their dialects.
  func breakReferenceCycles() { (connections, openingOrder) = ([:], GappedArray()) }

  /// Removes and returns a connection; `nil` if no connection has this id.
  ///
  /// - Complexity: Amortized O(1).
  func leave(_ id: ConnectionID) -> Connection? {
    guard let connection = connections.removeValue(forKey: id) else { return nil }
    if openingOrder.remove(at: connection.openingIndex) {
      for (index, other) in openingOrder.slots.enumerated() {
        connections[other]?.openingIndex = index
      }
    }
    return connection
  }

  /// Queues a frame that cannot wait in a log: a reply, presence or a room update. A reader with
  /// too many unread bytes is closed, and reconnects to resume.
  func send(_ frame: Frame, to connection: Connection) {
    guard hasRoom(connection.id, upTo: settings.queuedBytesMax) else {
      return closeSlow(connection)
    }
    push(frame, to: connection)
  }

  /// Queues a frame that cannot wait in a log for each of some open connections.
  func broadcast(_ frame: Frame, to members: [ConnectionID]) {
    let limit = settings.queuedBytesMax
    var others = members
    var slow: [ConnectionID] = []
    if !allHaveRoom(upTo: limit) {
      slow = members.filter { !hasRoom($0, upTo: limit) }
      if !slow.isEmpty {
        let left = Set(slow)
        others = members.filter { !left.contains($0) }
      }
    }
    if !others.isEmpty {
      metrics.framesSent += others.count
      append(.broadcast(frame, to: others))
    }
    for connection in slow.compactMap({ connections[$0] }) { closeSlow(connection) }
  }

  /// Whether at most `limit` bytes wait for a connection's socket, if necessary after writing the
  /// bytes that wait for a turn of the loop.
  func hasRoom(_ connection: ConnectionID, upTo limit: Int) -> Bool {
    allHaveRoom(upTo: limit) || dependencies.queuedBytes(connection) <= limit
      || dependencies.makeRoom(connection, limit)
  }

  /// Whether a connection keeps up with a log: few bytes wait for its socket, or they only wait for
  /// a turn of the loop. A shared frame is then cheaper than a separate range of the log.
  func keepsUp(_ connection: ConnectionID) -> Bool {
    let waiting = dependencies.queuedBytes(connection)
    return waiting <= settings.laggingBytes
      || waiting <= settings.queuedBytesMax / 4 && !dependencies.isStalled(connection)
  }

  /// Whether at most `limit` bytes wait for each connection's socket. Frames queued from now on
  /// count once they have been taken as actions.
  func allHaveRoom(upTo limit: Int) -> Bool { dependencies.queuedBytesBound() <= limit }

  private func closeSlow(_ connection: Connection) {
    close(connection, .slowReader, "too slow; reconnect and resume")
  }

  /// Queues all frames of a message, or none of them.
  func send(_ frames: [Frame], to connection: Connection) {
    guard let first = frames.first else { return }
    send(first, to: connection)
    for frame in frames.dropFirst() { push(frame, to: connection) }
  }

  /// Queues a frame for a connection whose queue has capacity.
  func push(_ frame: Frame, to connection: Connection) {
    if connection.isOpen { queue(frame, for: connection.id) }
  }

  /// Queues a frame for an id, which may belong to no connection. Consecutive receivers of the same
  /// frame are one action.
  private func queue(_ frame: Frame, for id: ConnectionID) {
    if !(lastFrame?.isIdentical(to: frame) ?? false) {
      finishFrame()
      lastFrame = frame
    }
    lastReceivers.append(id)
  }

  /// Turns the frame that was queued last into an action.
  private func finishFrame() {
    guard let frame = lastFrame else { return }
    lastFrame = nil
    metrics.framesSent += lastReceivers.count
    if lastReceivers.count == 1 {
      actions.append(.send(frame, to: lastReceivers[0]))
      lastReceivers.removeAll(keepingCapacity: true)
    } else {
      actions.append(.broadcast(frame, to: lastReceivers))
      lastReceivers = []
    }
  }

  private func append(_ action: GatewayAction) {
    finishFrame()
    actions.append(action)
  }

  /// Queues an action, also for a connection that only carries sessions.
  func act(_ action: GatewayAction) {
    switch action {
    case .send(let frame, let id): return queue(frame, for: id)
    case .respond(let request, _):
      append(action)
      return endLongRead(of: request)
    default: break
    }
    append(action)
  }

  func close(_ connection: Connection, _ why: CloseReason, _ reason: String) {
    owner?.close(connection, why, reason)
  }

  func respond(_ request: RequestID, _ response: Response) { owner?.respond(request, response) }

  /// Milliseconds between reads of the heads of shared logs and rooms.
  var headsPause: Int64 {
    hearsHints ? settings.headsMilliseconds : settings.headsMillisecondsWithoutHints
  }

  /// Returns a message id for a push, which answers no message.
  func pushID() -> String {
    defer { nextPush += 1 }
    return "s\(nextPush)"
  }

  /// Returns an id for a session's place among the connections.
  func placeID() -> ConnectionID {
    defer { nextPlace += 1 }
    return ConnectionID(nextPlace)
  }

  // MARK: The store

  /// Sends a task to the store.
  ///
  /// - Returns: The ticket that identifies the reply.
  @discardableResult
  func store(_ task: StoreTask) -> StoreTicket {
    let ticket = StoreTicket(rawValue: nextTicket)
    nextTicket += 1
    guard task.isGranted else { return turnAway(task, ticket, .outOfReach) }
    let traits = task.traits
    guard !backlog.isFull || traits.bypassesQueueLimit else {
      return turnAway(task, ticket, .unavailable("too many requests wait for the disk"))
    }
    let weight = traits.byteCount
    if let weight { backlog.add(bytes: weight) }
    // A read that runs beside the commits may be long, so it does not count as a sign of a hanging
    // disk.
    if !traits.isParallel {
      backlog.begin(ticket.rawValue, at: dependencies.clock.uptime)
    } else if let reader = task.awaited.reader {
      reads[reader] = ticket
    }
    awaited[ticket] = Work(purpose: task.awaited, weight: weight)
    append(.store(ticket, task.request))
    return ticket
  }

  /// Requests a step of a search from the word index.
  func search(_ request: RequestID, _ step: SearchRequest, under right: StoreRight) {
    guard right.coversLists else { return respond(request, .notGranted) }
    append(.search(request, step))
  }

  private func turnAway(
    _ task: StoreTask, _ ticket: StoreTicket, _ error: StoreError
  ) -> StoreTicket {
    awaited[ticket] = Work(purpose: task.awaited, weight: nil)
    turnedAway.append((ticket, error))
    return ticket
  }

  /// Handles a reply of the store: removes and returns the purpose of the request.
  func finish(_ ticket: StoreTicket) -> Awaited {
    guard let work = awaited.removeValue(forKey: ticket) else {
      preconditionFailure("no work with ticket \(ticket.rawValue) was given to the store")
    }
    if let weight = work.weight { backlog.remove(bytes: weight) }
    backlog.end(ticket.rawValue)
    if let reader = work.purpose.reader, reads[reader] == ticket { reads[reader] = nil }
    return work.purpose
  }

  /// Cancels the reads of a request whose client is gone.
  func forgetRead(of request: RequestID) {
    if let ticket = reads.removeValue(forKey: request) { append(.forget(ticket)) }
    endLongRead(of: request)
  }

  /// Begins a read of many steps, now or after the client's other reads of many steps.
  func beginLongRead(_ request: RequestID, by limitedClient: LimitedClient?, _ first: StoreTask) {
    switch longReads.begin(request, by: limitedClient, first) {
    case .started: store(first)
    case .waits: break
    case .refused:
      respond(request, .busy("too many lists are being read; wait for one, then ask again"))
    }
  }

  /// Whether a client still waits for its read of many steps.
  func isReading(_ request: RequestID) -> Bool { longReads.contains(request) }

  private func endLongRead(of request: RequestID) {
    if longReads.count > 0, let first = longReads.end(request) { store(first) }
  }

  /// Whether requests were refused.
  var hasTurnedAway: Bool { !turnedAway.isEmpty }

  /// Removes and returns the refused requests and their errors.
  func takeRejected() -> [(ticket: StoreTicket, error: StoreError)] {
    defer { turnedAway = [] }
    return turnedAway
  }
}

/// The gateway, as used by the switchboard.
protocol SwitchboardOwner: AnyObject {
  /// Closes a connection, and ends its subscriptions to documents and rooms.
  func close(_ connection: Connection, _ why: CloseReason, _ reason: String)
  /// Answers a request, after the answer is stored if necessary.
  func respond(_ request: RequestID, _ response: Response)
}
