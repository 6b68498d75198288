import GatewayPorts
import WebSocketFrames

/// Sending: what is queued for a connection is joined, and written at the end of a turn.
extension Loop {
  func send(_ frame: Frame, to id: ConnectionID) {
    bytesOfTurn += frame.byteCount
    enqueue(frame, for: id)
  }

  func send(_ frame: Frame, to ids: [ConnectionID]) {
    // Each gets it once, so the bytes count once for all of them.
    bytesOfTurn += frame.byteCount
    for id in ids { enqueue(frame, for: id) }
  }

  @inline(__always)
  private func enqueue(_ frame: Frame, for id: ConnectionID) {
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

  /// A number of bytes that is not exceeded by what is queued for any WebSocket: while none is stalled,
  /// the bytes that have been queued since the last flush.
  var queuedBytesBound: Int { stalledCount == 0 ? bytesOfTurn : .max }

  /// Notes whether bytes wait for a session's socket beyond the turn that has queued them.
  @inline(__always)
  private func note(_ isStalled: Bool, of session: Session) {
    guard session.isStalled != isStalled else { return }
    session.isStalled = isStalled
    stalledCount += isStalled ? 1 : -1
  }

  /// Has a session written to at the end of this turn.
  func markDirty(_ session: Session) {
    if session.isDirty { return }
    session.isDirty = true
    dirty.append(session)
  }

  /// The number of connections that a flush writes to between two looks for replies.
  static let connectionsBetweenLooks = 64
  /// The bytes that may be queued before a flush looks for no more: what is there goes out first.
  static let bytesUntilNoLook = 64 << 10

  /// Writes what this turn has queued. `drained` may queue more, which goes in the same pass; so do
  /// replies that come meanwhile: a connection whose turn to be written to has not come gets both in one
  /// write. Nothing is read from sockets before the end, so the pass is as long as the work that was
  /// begun.
  func flush() {
    var index = 0
    while index < dirty.count {
      if index % Self.connectionsBetweenLooks == Self.connectionsBetweenLooks - 1,
        bytesOfTurn < Self.bytesUntilNoLook
      {
        lookForReplies()
      }
      let session = dirty[index]
      index += 1
      session.isDirty = false
      guard !session.isGone, !session.stream.isShaking else { continue }
      if let webSocket = session.webSocket {
        let stream = session.stream
        writeFrames(session, webSocket, stream)
        // A connection that is gone has been counted out.
        if !session.isGone {
          note(!webSocket.queue.isEmpty || stream.heldByteCount > 0, of: session)
        }
      } else if let http = session.http {
        writeResponses(session, http)
      }
    }
    dirty.removeAll(keepingCapacity: true)
    bytesOfTurn = 0
  }

  /// A queue that held more than this at the start of a flush gets a `drained` when it is empty.
  private static let drainedThreshold = 16 << 10

  /// Writes until the queue is empty or the socket is full.
  private func writeFrames(
    _ session: Session, _ webSocket: WebSocketHalf, _ stream: ByteStream
  ) {
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
