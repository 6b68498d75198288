import Gateway
import ParleyGatewayPorts
import SocketMessages
import ParleyWebSocketFrames

/// Connections between clients and gateways.
extension Simulation {
  mutating func connect(_ seat: Int) {
    guard let node = nodeToConnect() else { return }
    let id = ConnectionID(nextConnection)
    var link = SimulatedLink(id: id, node: node)
    switch seats[seat].client {
    case .native(let client):
      if random.chance(20) { restart(client, of: seat, keepsFirst: true) }
      let opens = client.connects(now: clock.uptime) { makeToken(for: seat) }
      guard opens, !client.isDead else { return settle(seat, client, sending: []) }
      nextConnection += 1
      nodes[node].gateway.opened(id, as: .native)
      seats[seat].link = link
      let messages = client.connected(now: clock.uptime)
      settle(seat, client, sending: messages)
    case .whaler(let client):
      nodes[node].gateway.opened(
        id, as: .whaler(pool: nil), token: plan.usesTokens ? TimedTokens.endless : nil)
      nextConnection += 1
      link.upstream = [client.connect()]
      seats[seat].link = link
    }
    trace?("client \(seat) opens connection \(id.rawValue)")
    perform(node)
  }

  /// The way in which the gateway learns that a client has lost its connection.
  enum ConnectionFate {
    /// The gateway is notified immediately.
    case noticed
    /// The gateway does not notice, and treats the connection as open.
    case haunting
    /// The gateway has died, too.
    case nobody
  }

  mutating func disconnect(
    _ seat: Int, _ fate: ConnectionFate = .noticed, code: CloseCode? = nil
  ) {
    guard let link = seats[seat].link else { return }
    seats[seat].link = nil
    trace?("client \(seat) loses connection \(link.id.rawValue): \(fate)")
    switch seats[seat].client {
    case .native(let client):
      client.disconnected(code?.rawValue ?? 1006, now: clock.uptime)
      settle(seat, client, sending: [])
    case .whaler(let client):
      client.disconnected()
    }
    // A paused node does not notice the end.
    switch nodes[link.node].isFrozen && fate == .noticed ? .haunting : fate {
    case .haunting: ghosts.append(link)
    case .noticed:
      tally[.messagesDropped] += link.messageCount
      nodes[link.node].network.queuedBytes[link.id] = nil
      nodes[link.node].gateway.closed(link.id)
      perform(link.node)
    case .nobody:
      tally[.messagesDropped] += link.messageCount
      nodes[link.node].network.queuedBytes[link.id] = nil
    }
  }

  mutating func deliverUp(_ seat: Int) {
    guard let id = seats[seat].link?.id, let node = seats[seat].link?.node, !nodes[node].isFrozen,
      let message = seats[seat].link?.popUpstream()
    else { return }
    deliver(message, from: id, to: node)
  }

  private mutating func deliver(_ message: [UInt8], from id: ConnectionID, to node: Int) {
    trace?("\(id.rawValue) ▲ \(String(decoding: message, as: UTF8.self))")
    message.withUnsafeBytes { bytes in
      condense(bytes)
      nodes[node].gateway.received(id, message: bytes, kind: .text)
    }
    perform(node)
  }

  /// Continues a connection that only the gateway treats as open: a message arrives, or the gateway
  /// detects the end.
  mutating func haunt() {
    guard !ghosts.isEmpty else { return }
    let index = random.below(ghosts.count)
    guard !nodes[ghosts[index].node].isFrozen else { return }
    if !ghosts[index].upstream.isEmpty, random.chance(70),
      let message = ghosts[index].popUpstream()
    {
      deliver(message, from: ghosts[index].id, to: ghosts[index].node)
    } else {
      layGhost(at: index)
    }
  }

  mutating func layGhost(at index: Int) {
    let ghost = ghosts.remove(at: index)
    tally[.messagesDropped] += ghost.messageCount
    nodes[ghost.node].network.queuedBytes[ghost.id] = nil
    nodes[ghost.node].gateway.closed(ghost.id)
    perform(ghost.node)
  }

  mutating func deliverDown(_ seat: Int) throws {
    guard let item = seats[seat].link?.popDownstream(), let id = seats[seat].link?.id,
      let node = seats[seat].link?.node
    else { return }
    switch item {
    case .close(let code): disconnect(seat, code: code)
    case .fragment: nodes[node].network.queuedBytes[id] = seats[seat].link?.downstreamBytes
    case .message(let payload):
      payload.withUnsafeBytes { condense($0) }
      trace?("\(id.rawValue) ▼ \(String(decoding: payload, as: UTF8.self))")
      switch seats[seat].client {
      case .native(let client):
        let now = clock.uptime
        let answers = try payload.withUnsafeBytes { try client.receive($0, now: now) }
        settle(seat, client, sending: answers)
      case .whaler(let client):
        let answer = try payload.withUnsafeBytes { try client.receive($0) }
        if let answer { seats[seat].link?.upstream.append(answer) }
      }
      // The client may have closed the connection, or died.
      guard let bytes = seats[seat].link?.downstreamBytes else { return }
      nodes[node].network.queuedBytes[id] = bytes
      if bytes == 0, !nodes[node].isFrozen {
        nodes[node].gateway.drained(id)
        tally[.stalledReaderRanges] += perform(node)
      }
    }
  }

  mutating func tick() throws {
    for node in nodes.indices where !nodes[node].isFrozen {
      nodes[node].gateway.ticked()
      perform(node)
    }
    for seat in seats.indices {
      guard case .native(let client) = seats[seat].client else { continue }
      let now = clock.uptime
      if client.wakeAt ?? .max <= now {
        let messages = try client.wake(now: now)
        settle(seat, client, sending: messages)
      }
      // A token arrives with a delay, and sometimes not at all.
      guard client.wantsToken, random.chance(30) else { continue }
      client.answer(random.chance(80) ? makeToken(for: seat) : nil, now: now)
      settle(seat, client, sending: try client.finish())
    }
  }

  /// Sends messages of a native client, which may also have closed the connection or died.
  mutating func settle(_ seat: Int, _ client: SimulatedClient, sending messages: [[UInt8]]) {
    if !messages.isEmpty { seats[seat].link?.upstream += messages }
    if client.isDead {
      tally[.clientKillsBetweenActions] += 1
      revive(seat)
    } else if client.hasHungUp {
      disconnect(seat)
    }
  }

  mutating func endTurn(of node: Int) {
    guard !nodes[node].isFrozen else { return }
    _ = nodes[node].gateway.endTurn()
    perform(node)
  }

  private mutating func send(_ frame: Frame, to id: ConnectionID, _ network: Network) {
    if let seat = seat(behind: id) {
      seats[seat].link?.push(.frame(frame))
      network.queuedBytes[id] = seats[seat].link?.downstreamBytes
    } else if let ghost = ghosts.firstIndex(where: { $0.id == id }) {
      ghosts[ghost].push(.frame(frame))
      network.queuedBytes[id] = ghosts[ghost].downstreamBytes
    }
  }

  /// Performs the actions that a node's gateway has requested.
  ///
  /// - Returns: The number of sent frames.
  @discardableResult
  mutating func perform(_ node: Int) -> Int {
    let actions = nodes[node].gateway.takeActions()
    guard !actions.isEmpty else { return 0 }
    let network = nodes[node].network
    var frames = 0
    var closed: [ConnectionID] = []
    for action in actions {
      switch action {
      case .send(let frame, let id):
        frames += 1
        send(frame, to: id, network)
      case .broadcast(let frame, let ids):
        frames += ids.count
        for id in ids { send(frame, to: id, network) }
      case .close(let id, let code, _):
        count(code)
        if let seat = seat(behind: id) {
          seats[seat].link?.push(.close(code))
        } else {
          closed.append(id)
        }
      case .respond(let id, let answer): answered(id, answer)
      case .search, .gather, .forget, .admit, .count: break
      case .store(let ticket, let request): nodes[node].storeQueue.append((ticket, request))
      case .publish(let topic, let bytes): publish(bytes, under: topic, from: node)
      case .follow(let topic): nodes[node].topics.insert(topic)
      case .leave(let topic): nodes[node].topics.remove(topic)
      }
    }
    for id in closed {
      if let ghost = ghosts.firstIndex(where: { $0.id == id }) { layGhost(at: ghost) }
    }
    return frames
  }

  /// Returns the seat that has a connection.
  private func seat(behind id: ConnectionID) -> Int? {
    for seat in seats.indices where seats[seat].link?.id == id { return seat }
    return nil
  }

  private mutating func count(_ code: CloseCode) {
    switch CloseReason(rawValue: code.rawValue) {
    case .slowReader: tally[.slowReaderCloses] += 1
    case .replaced: tally[.takeovers] += 1
    case .rejoin: tally[.rejoinCloses] += 1
    case .tooFast: tally[.floodCloses] += 1
    default: break
    }
  }
}
