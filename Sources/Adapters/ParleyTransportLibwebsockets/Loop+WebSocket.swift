import ParleyGatewayPorts
import ParleyWebSocketFrames

/// Handling of messages and closing handshakes.
extension Loop {
  /// Reads frames, and passes their messages to the owner.
  func takeFrames(
    _ bytes: UnsafeMutableRawBufferPointer, _ session: Session, _ webSocket: WebSocketHalf
  ) {
    guard webSocket.closing.readsFrames else { return }
    var input = bytes
    while let event = webSocket.reader.next(&input) {
      switch event {
      case .message(let kind, let message):
        guard webSocket.closing.isOpen else { continue }
        handing(byteCount: message.count)
        delegate?.received(session.id, message: message, kind: kind)
      case .compressed: break
      case .oversized:
        guard webSocket.closing.isOpen else { continue }
        if !webSocket.isAdmitted { accounts.countEarlyRefusal() }
        delegate?.oversized(session.id, bytesMax: webSocket.reader.limits.messageBytesMax)
      case .ping(let payload):
        guard webSocket.closing.isOpen else { continue }
        let pong = Frame.pong(payload)
        bytesOfTurn += pong.byteCount
        _ = webSocket.queue.append(pong: pong)
        markDirty(session)
      case .pong: break
      case .close(let status, _):
        follow(webSocket.closing.received(status, now: now), session, webSocket)
      case .failure(let error):
        follow(webSocket.closing.failed(error, now: now), session, webSocket)
      }
      guard !session.isGone else { return }
    }
    countHeld(by: session)
  }

  func ping(_ session: Session, _ webSocket: WebSocketHalf) {
    let ping = Frame.ping([])
    bytesOfTurn += ping.byteCount
    _ = webSocket.queue.append(ping)
    markDirty(session)
  }

  func close(_ id: ConnectionID, code: CloseCode, reason: String) {
    guard let session = session(id) else { return }
    close(session, code: code, reason: reason)
  }

  func close(_ session: Session, code: CloseCode, reason: String) {
    guard let webSocket = session.webSocket else { return }
    let status = CloseStatus(code.rawValue)
    follow(
      webSocket.closing.close(
        status.isValidOnWire ? status : .normal, reason: reason, now: now), session, webSocket)
  }

  /// Performs an action of a closing handshake.
  func follow(
    _ action: ClosingHandshake.Action, _ session: Session, _ webSocket: WebSocketHalf
  ) {
    switch action {
    case .none: break
    case .send(let frame):
      _ = webSocket.queue.append(.close(frame))
      trackDeadline(of: session)
      markDirty(session)
    case .endSending:
      session.stream.endSending()
    case .closeConnection:
      retire(session)
    }
  }
}
