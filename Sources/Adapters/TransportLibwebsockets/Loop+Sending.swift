import GatewayPorts
import WebSocketFrames

/// Sending: what is queued for a connection is joined, and written at the end of a turn.
extension Loop {
  func send(_ frame: Frame, to id: ConnectionID) {
    guard let session = session(id), let webSocket = session.webSocket, webSocket.closing.isOpen
    else { return }
    _ = webSocket.queue.append(frame)
    if webSocket.queue.byteCount > configuration.queuedBytesMax {
      webSocket.queue.removeUnsent()
      return close(
        session, code: CloseCode(4001), reason: "too slow: resume from your last revision")
    }
    markDirty(session)
  }

  func queuedBytes(for id: ConnectionID) -> Int { session(id)?.unsentByteCount ?? 0 }

  /// Has a session written to at the end of this turn.
  func markDirty(_ session: Session) {
    if session.isDirty { return }
    session.isDirty = true
    dirty.append(session)
  }

  /// Writes what this turn has queued. `drained` may queue more, which goes in the same pass.
  func flush() {
    var index = 0
    while index < dirty.count {
      let session = dirty[index]
      index += 1
      session.isDirty = false
      guard !session.isGone, !session.stream.isShaking else { continue }
      if let webSocket = session.webSocket {
        writeFrames(session, webSocket)
      } else if let http = session.http {
        writeResponses(session, http)
      }
    }
    dirty.removeAll(keepingCapacity: true)
  }

  /// A queue that held more than this at the start of a flush gets a `drained` when it is empty.
  private static let drainedThreshold = 16 << 10

  /// Writes until the queue is empty or the socket is full.
  private func writeFrames(_ session: Session, _ webSocket: WebSocketHalf) {
    let stream = session.stream
    guard stream.mayWrite else { return webSocket.owesDrained = true }
    if webSocket.queue.byteCount > Self.drainedThreshold { webSocket.owesDrained = true }
    guard stream.flushHeld() else { return retire(session) }
    while !webSocket.queue.isEmpty {
      guard stream.mayWrite else { return webSocket.owesDrained = true }
      let sent = webSocket.queue.writeNext(joiningIn: scratch) {
        stream.write($0, mayHold: true)
      }
      guard sent >= 0 else { return retire(session) }
    }
    guard stream.heldByteCount == 0 else { return webSocket.owesDrained = true }
    follow(webSocket.closing.drained(now: now), session, webSocket)
    guard webSocket.owesDrained else { return }
    webSocket.owesDrained = false
    if !session.isGone, webSocket.closing.isOpen { delegate?.drained(session.id) }
  }
}
