import ParleyGatewayPorts
import ParleyWebSocketFrames

/// Sending: what is queued for a connection is joined, and written at the end of a turn; a long queue in slices, over
/// several turns.
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
    markDirty(session)
    let bytesMax = configuration.queuedBytesMax
    guard webSocket.queue.byteCount > bytesMax, !makeRoom(for: session, webSocket, upTo: bytesMax)
    else { return }
    webSocket.queue.removeUnsent()
    close(session, code: CloseCode(4001), reason: "too slow: resume from your last revision")
  }

  func queuedBytes(for id: ConnectionID) -> Int { session(id)?.unsentByteCount ?? 0 }

  /// A number of bytes that is not exceeded by what is queued for any WebSocket: while none is stalled
  /// and none waits for its next slice, the bytes that have been queued since the last flush.
  var queuedBytesBound: Int { stalledCount == 0 && behind.isEmpty ? bytesOfTurn : .max }

  func isStalled(_ id: ConnectionID) -> Bool { session(id)?.isStalled ?? false }

  func makeRoom(for id: ConnectionID, upTo bytesMax: Int) -> Bool {
    guard let session = session(id), let webSocket = session.webSocket else { return true }
    return makeRoom(for: session, webSocket, upTo: bytesMax)
  }

  /// Writes what is queued until at most so many bytes are left, or the socket is full.
  ///
  /// Called before a connection is closed because of the length of its queue: bytes that wait for a turn of
  /// the loop do not show that the reader is slow. A socket that has failed is closed by the next flush.
  ///
  /// - Returns: Whether at most so many bytes are left.
  private func makeRoom(
    for session: Session, _ webSocket: WebSocketHalf, upTo bytesMax: Int
  ) -> Bool {
    let stream = session.stream
    webSocket.owesDrained = true
    markDirty(session)
    guard !stream.isShaking, stream.flushHeld() else { return false }
    while webSocket.queue.byteCount > bytesMax, stream.mayWrite {
      let sent = webSocket.queue.writeNext(joiningIn: scratch, atMost: Self.sliceBytes) {
        stream.write($0, mayHold: true)
      }
      guard sent >= 0 else { return false }
      writingLeft -= sent + Self.bytesOfWrite
    }
    if !stream.mayWrite { note(true, of: session) }
    return session.unsentByteCount <= bytesMax
  }

  /// Notes whether a socket has refused bytes, and has not taken all of them since.
  @inline(__always)
  private func note(_ isStalled: Bool, of session: Session) {
    guard session.isStalled != isStalled else { return }
    session.isStalled = isStalled
    stalledCount += isStalled ? 1 : -1
  }

  /// Queues a session to be written to at the end of this turn.
  func markDirty(_ session: Session) {
    if session.isDirty { return }
    session.isDirty = true
    dirty.append(session)
  }

  // MARK: Slices

  /// The most that one connection is sent before other connections have their turn.
  static let sliceBytes = 64 << 10
  /// The part of a slice that is not worth another write, unless the queue ends within it.
  private static let sliceRestBytes = 16 << 10
  /// The bytes of a turn's writes, where each write counts as ``bytesOfWrite`` more: a few milliseconds.
  static let bytesPerTurn = 8 << 20
  /// The cost of a write by itself, in bytes: about 2,000 small frames to as many connections are a turn's writes.
  static let bytesOfWrite = 4 << 10

  /// The number of connections that a flush writes to between two looks for replies.
  static let connectionsBetweenLooks = 64
  /// The bytes that may be queued before a flush looks for no more: what is there goes out first.
  static let bytesUntilNoLook = 64 << 10

  /// Writes what was queued, as much as a turn may write:
  ///
  ///     queued in this turn ─▶ one slice each ─▶ the rest behind all others ─▶ a slice each, in rounds
  ///
  /// Connections with something new come first, so that a short answer does not wait for long texts to
  /// others; those that former turns have left have at least half of the turn's bytes. The rest is written in
  /// the next turn, which begins at once and reads from the sockets first.
  func flush() {
    writingLeft = Self.bytesPerTurn
    writeDirty(leaving: behind.isEmpty ? 0 : Self.bytesPerTurn / 2)
    while writingLeft > 0, let session = behind.popFirst() {
      write(session)
      // Frames that `drained` has queued.
      if !dirty.isEmpty { writeDirty(leaving: 0) }
    }
    bytesOfTurn = 0
  }

  /// Writes a slice to each connection for which this turn has queued something. `drained` may queue
  /// more, which goes in the same pass; so do replies that come meanwhile: a connection whose turn to be
  /// written to has not come gets both in one write. Nothing is read from sockets before the end.
  ///
  /// - Parameter reserve: Bytes of the turn that are left to others.
  private func writeDirty(leaving reserve: Int) {
    let waiting = behind.count
    var index = 0
    while index < dirty.count, writingLeft > reserve {
      if index % Self.connectionsBetweenLooks == Self.connectionsBetweenLooks - 1,
        bytesOfTurn < Self.bytesUntilNoLook
      {
        lookForReplies()
      }
      let session = dirty[index]
      index += 1
      write(session)
    }
    // Sessions that had no slice go before those that had one.
    if index < dirty.count { behind.insert(dirty[index...], behind: waiting) }
    dirty.removeAll(keepingCapacity: true)
  }

  /// Writes a slice of what is queued for a connection.
  private func write(_ session: Session) {
    session.isDirty = false
    guard !session.isGone, !session.stream.isShaking else { return }
    if let webSocket = session.webSocket {
      let stream = session.stream
      writeFrames(session, webSocket, stream)
      // A connection that is gone has been counted out.
      guard !session.isGone else { return }
      let isLeft = !webSocket.queue.isEmpty || stream.heldByteCount > 0
      note(isLeft && (session.isStalled || !stream.mayWrite), of: session)
      if isLeft, stream.mayWrite { putBehind(session) }
    } else if let http = session.http {
      writeResponses(session, http)
    }
  }

  /// Queues a connection behind all others that wait to be written to.
  func putBehind(_ session: Session) {
    guard !session.isDirty else { return }
    session.isDirty = true
    // A socket that takes bytes is alive, however long its ping waits behind them.
    session.heard = second
    behind.append(session)
  }

  /// A queue that held more than this at the start of a flush gets a `drained` when it is empty.
  private static let drainedThreshold = 16 << 10

  /// Writes until the queue is empty, the socket is full, or the slice is over.
  private func writeFrames(
    _ session: Session, _ webSocket: WebSocketHalf, _ stream: ByteStream
  ) {
    guard stream.mayWrite else { return webSocket.owesDrained = true }
    if webSocket.queue.byteCount > Self.drainedThreshold { webSocket.owesDrained = true }
    guard stream.flushHeld() else { return retire(session) }
    var left = Self.sliceBytes
    while !webSocket.queue.isEmpty {
      guard stream.mayWrite else { return webSocket.owesDrained = true }
      guard left >= min(Self.sliceRestBytes, webSocket.queue.byteCount) else { return }
      let sent = webSocket.queue.writeNext(joiningIn: scratch, atMost: left) {
        stream.write($0, mayHold: true)
      }
      guard sent >= 0 else { return retire(session) }
      left -= sent
      writingLeft -= sent + Self.bytesOfWrite
    }
    guard stream.heldByteCount == 0 else { return webSocket.owesDrained = true }
    follow(webSocket.closing.drained(now: now), session, webSocket)
    guard webSocket.owesDrained else { return }
    webSocket.owesDrained = false
    if !session.isGone, webSocket.closing.isOpen { delegate?.drained(session.id) }
  }
}
