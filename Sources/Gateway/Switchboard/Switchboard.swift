import ParleyGatewayPorts
import SocketMessages
import ParleyWebSocketFrames

/// The connections, and all that leaves the gateway: frames, closes, answers, and work for the store.
///
/// The gateway's parts share it, and it knows none of them. A reference, owned by the gateway and
/// confined to its loop.
final class Switchboard {
  let settings: GatewaySettings
  let allowances: Allowances
  let dependencies: Ports

  private(set) var connections: [ConnectionID: Connection] = [:]
  /// The connections in the order in which they were opened, with gaps where connections were removed.
  private(set) var openingOrder = GappedArray<ConnectionID>()
  /// The connection of each native client.
  var connectionsByClient: ExactDictionary<ConnectionID> = [:]
  /// The counts since the start.
  var metrics = GatewayMetrics()
  /// The account of what waits for the store.
  var backlog: StoreBacklog
  /// Why the last commit failed; `nil` once one has succeeded again.
  var storeFailure: StoreError? { didSet { if storeFailure != nil { storeFailures += 1 } } }
  /// The number of failures since the start, and of interruptions during which others may have written.
  private(set) var storeFailures = 0

  /// Takes note that other gateways may have written what is not known here.
  func mayHaveMissed() { storeFailures += 1 }

  /// Whether the store is being probed for commits.
  var isProbing = false
  /// The uptime from which it may be probed again.
  var nextProbe: Int64 = 0
  /// Whether changes are refused, for the server is going down.
  var isDraining = false
  /// Whether hints of other nodes arrive.
  var hearsHints = false
  /// Whether hints were lost since they arrived last.
  var hasLostHints = false

  /// Ends connections and answers requests, for all parts.
  unowned var owner: (any SwitchboardOwner)?

  private var actions: [GatewayAction] = []
  /// The frame that was queued last, and its receivers: one frame for many is one action.
  @exclusivity(unchecked) private var lastFrame: Frame?
  @exclusivity(unchecked) private var lastReceivers: [ConnectionID] = []
  private var nextPush: UInt64 = 1
  private var nextTicket: UInt64 = 1
  /// Numbers the places of sessions, with ids that no transport gives out.
  private var nextPlace: UInt64
  private var awaited: [StoreTicket: Work] = [:]
  /// The reads beside the commits that HTTP clients wait for.
  private var reads: [RequestID: StoreTicket] = [:]
  /// The reads that take many steps, by their strangers.
  private var longReads = LongReads()
  /// Work that did not go to the store: too much waits there, or no right covers it.
  private var turnedAway: [(ticket: StoreTicket, error: StoreError)] = []

  /// Work that was given to the store.
  private struct Work {
    let purpose: Awaited
    /// The bytes that it counts for by itself; `nil` for none.
    let weight: Int?
  }

  /// The ports that every part may use.
  struct Ports {
    let clock: any Clock
    let names: any NameSource
    let tokens: any ResumeTokens
    let log: any LogSink
    /// The bytes that wait for a connection's socket.
    let queuedBytes: (ConnectionID) -> Int
    /// A number of bytes that is not exceeded by what waits for any connection's socket. While it is small,
    /// connections are not asked about one by one.
    let queuedBytesBound: () -> Int
    /// Whether a connection's socket was full, and bytes have waited for it since.
    let isStalled: (ConnectionID) -> Bool
    /// Writes to a connection's socket until at most so many bytes wait, and returns whether that was possible.
    let makeRoom: (ConnectionID, Int) -> Bool
    /// Whether there are other gateways in the process.
    let hasOthers: Bool
  }

  /// - Parameter place: The number of the gateway among those of its process, up to 127.
  init(settings: GatewaySettings, dependencies: Ports, place: Int) {
    nextPlace = (1 << 63) + UInt64(place) << 56 + 1
    self.settings = settings
    self.dependencies = dependencies
    allowances = Allowances(settings.limits)
    backlog = StoreBacklog(
      StoreBacklog.Limits(
        requestsMax: settings.storeRequestsMax, bytesMax: settings.storeBytesMax))
  }

  /// Returns the actions to do, oldest first.
  func takeActions() -> [GatewayAction] {
    finishFrame()
    guard !actions.isEmpty else { return [] }
    defer { actions.removeAll(keepingCapacity: true) }
    return actions
  }

  // MARK: Connections

  /// Lets a connection send messages of the full size, since its client has shown a token.
  func admit(_ connection: ConnectionID, as identity: Identity, from address: IPAddress?) {
    act(.admit(connection, as: Holder(Stranger(identity, from: address))))
  }

  /// Adds a connection.
  func enter(_ connection: Connection) {
    connections[connection.id] = connection
    connection.place = openingOrder.append(connection.id)
  }

  /// Removes all connections, which refer to their dialects.
  func letGo() { (connections, openingOrder) = ([:], GappedArray()) }

  /// Removes and returns a connection; `nil` if there is none of this id.
  ///
  /// - Complexity: O(1) over many calls.
  func leave(_ id: ConnectionID) -> Connection? {
    guard let connection = connections.removeValue(forKey: id) else { return nil }
    if openingOrder.remove(at: connection.place) {
      for (place, other) in openingOrder.slots.enumerated() { connections[other]?.place = place }
    }
    return connection
  }

  /// Queues what cannot wait in a log: replies, presence, room updates. A reader that leaves too much of it
  /// unread is closed and reconnects to resume.
  func send(_ frame: Frame, to connection: Connection) {
    guard hasRoom(connection.id, upTo: settings.queuedBytesMax) else {
      return closeSlow(connection)
    }
    push(frame, to: connection)
  }

  /// Queues a frame that cannot wait in a log for each of some connections that are open.
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

  /// Whether few enough bytes wait for a connection's socket, after an attempt to write those that wait for
  /// a turn of the loop.
  func hasRoom(_ connection: ConnectionID, upTo limit: Int) -> Bool {
    allHaveRoom(upTo: limit) || dependencies.queuedBytes(connection) <= limit
      || dependencies.makeRoom(connection, limit)
  }

  /// Whether a connection keeps up with a log: little waits for its socket, or only for a turn of the loop.
  /// Then a frame that all followers share is cheaper than a range of the log for each of them.
  func keepsUp(_ connection: ConnectionID) -> Bool {
    let waiting = dependencies.queuedBytes(connection)
    return waiting <= settings.laggingBytes
      || waiting <= settings.queuedBytesMax / 4 && !dependencies.isStalled(connection)
  }

  /// Whether few enough bytes wait for every connection's socket. Frames queued from here on count once
  /// they have been taken as actions.
  func allHaveRoom(upTo limit: Int) -> Bool { dependencies.queuedBytesBound() <= limit }

  private func closeSlow(_ connection: Connection) {
    close(connection, .slowReader, "too slow; reconnect and resume")
  }

  /// Queues all frames of a message: either all go out or none.
  func send(_ frames: [Frame], to connection: Connection) {
    guard let first = frames.first else { return }
    send(first, to: connection)
    for frame in frames.dropFirst() { push(frame, to: connection) }
  }

  /// Queues a frame for a connection that is known to have room.
  func push(_ frame: Frame, to connection: Connection) {
    if connection.isOpen { queue(frame, for: connection.id) }
  }

  /// Queues a frame for an id that may be no connection's. Receivers of the same frame one after the other
  /// are one action.
  private func queue(_ frame: Frame, for id: ConnectionID) {
    if !(lastFrame?.isIdentical(to: frame) ?? false) {
      finishFrame()
      lastFrame = frame
    }
    lastReceivers.append(id)
  }

  /// Makes an action of the frame that was queued last.
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

  /// Queues an action about a connection that only carries sessions.
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

  /// Milliseconds between reads of the heads of logs and rooms that several nodes share.
  var headsPause: Int64 {
    hearsHints ? settings.headsMilliseconds : settings.headsMillisecondsWithoutHints
  }

  /// A message id for a message that answers none.
  func pushID() -> String {
    defer { nextPush += 1 }
    return "s\(nextPush)"
  }

  /// An id for a session's place among the connections.
  func placeID() -> ConnectionID {
    defer { nextPlace += 1 }
    return ConnectionID(nextPlace)
  }

  // MARK: The store

  /// Gives the store a task.
  ///
  /// - Returns: The ticket that identifies the reply.
  func store(_ task: StoreTask) -> StoreTicket {
    let ticket = StoreTicket(rawValue: nextTicket)
    nextTicket += 1
    guard task.isGranted else { return turnAway(task, ticket, .outOfReach) }
    let traits = task.traits
    guard !backlog.isFull || traits.isPassed else {
      return turnAway(task, ticket, .unavailable("too many requests wait for the disk"))
    }
    let weight = traits.byteCount
    if let weight { backlog.add(bytes: weight) }
    // A long read beside the commits does not mean that the disk hangs.
    if !traits.isAside {
      backlog.begin(ticket.rawValue, at: dependencies.clock.uptime)
    } else if let reader = task.awaited.reader {
      reads[reader] = ticket
    }
    awaited[ticket] = Work(purpose: task.awaited, weight: weight)
    append(.store(ticket, task.request))
    return ticket
  }

  /// Has the index of words do a step of a search.
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

  /// The store has replied: removes and returns the purpose of the work.
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

  /// Begins a read of many steps, now or once other such reads of the stranger have ended.
  func beginLongRead(
    _ request: RequestID, by stranger: Stranger?, _ start: @escaping () -> Void
  ) {
    switch longReads.begin(request, by: stranger, start) {
    case .started: start()
    case .waits: break
    case .refused:
      respond(request, .busy("too many lists are being read; wait for one, then ask again"))
    }
  }

  /// Whether the client of a read of many steps still waits for it.
  func isReading(_ request: RequestID) -> Bool { longReads.contains(request) }

  private func endLongRead(of request: RequestID) {
    if longReads.count > 0, let start = longReads.end(request) { start() }
  }

  /// Whether work was refused.
  var hasTurnedAway: Bool { !turnedAway.isEmpty }

  /// Removes and returns the work that was refused, and why.
  func takeTurnedAway() -> [(ticket: StoreTicket, error: StoreError)] {
    defer { turnedAway = [] }
    return turnedAway
  }
}

/// The gateway, as the switchboard sees it.
protocol SwitchboardOwner: AnyObject {
  /// Ends a connection, and its part in documents and rooms.
  func close(_ connection: Connection, _ why: CloseReason, _ reason: String)
  /// Answers a request; the answer may have to be kept first.
  func respond(_ request: RequestID, _ response: Response)
}
