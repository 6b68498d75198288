import ParleyGatewayPorts
import ParleyWebSocketFrames

/// Sending: a connection's queued frames are joined, and written at the end of a turn; a long queue
/// in slices, over several turns.
extension Loop {
  func send(_ frame: Frame, to id: ConnectionID) {
    bytesOfTurn += frame.byteCount
    enqueue(frame, for: id)
  }

  func send(_ frame: Frame, to ids: [ConnectionID]) {
    // Each connection gets the frame once, so its bytes count once.
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

  /// An upper bound of the bytes queued for any WebSocket: while none is stalled or waits for its
  /// next slice, the bytes queued since the last flush.
  var queuedBytesBound: Int { stalledCount == 0 && behind.isEmpty ? bytesOfTurn : .max }

  func isStalled(_ id: ConnectionID) -> Bool { session(id)?.isStalled ?? false }

  func makeRoom(for id: ConnectionID, upTo bytesMax: Int) -> Bool {
    guard let session = session(id), let webSocket = session.webSocket else { return true }
    return makeRoom(for: session, webSocket, upTo: bytesMax)
  }

  /// Writes queued bytes until at most `bytesMax` are left, or the socket is full.
  ///
  /// Called before a connection is closed for its long queue, because bytes that only wait for the
  /// loop do not indicate a slow reader. The next flush closes a failed socket.
  ///
  /// - Returns: Whether at most `bytesMax` bytes are left.
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

  /// Records whether a socket was full and has not accepted all bytes since then.
  @inline(__always)
  private func note(_ isStalled: Bool, of session: Session) {
    guard session.isStalled != isStalled else { return }
    session.isStalled = isStalled
    stalledCount += isStalled ? 1 : -1
  }

  /// Marks a session to be written to at the end of this turn.
  func markDirty(_ session: Session) {
    if session.isDirty { return }
    session.isDirty = true
    dirty.append(session)
  }

  // MARK: Slices

  /// Maximum bytes sent to one connection before others have their turn.
  static let sliceBytes = 64 << 10
  /// The rest of a slice that is not used for another write, unless it empties the queue.
  private static let sliceRestBytes = 16 << 10
  /// Maximum bytes of a turn's writes, plus ``bytesOfWrite`` for each write: a few milliseconds.
  static let bytesPerTurn = 8 << 20
  /// The fixed cost of a write in bytes: about 2,000 writes of small frames fill a turn.
  static let bytesOfWrite = 4 << 10

  /// The number of connections written to between two checks for replies.
  static let connectionsBetweenLooks = 64
  /// Maximum queued bytes with which a flush still checks for replies; beyond it, it sends first.
  static let bytesUntilNoLook = 64 << 10

  /// Writes queued bytes, up to the limit of a turn:
  ///
  ///     queued in this turn ─▶ one slice each ─▶ the rest behind all others ─▶ a slice each, in rounds
  ///
  /// Connections with new frames come first, so that short responses do not wait for long texts to
  /// others. Connections that earlier turns have left get at least half of the turn's bytes. The
  /// next turn writes the rest; it begins immediately, and reads from the sockets first.
  func flush() {
    writingLeft = Self.bytesPerTurn
    writeDirty(leaving: behind.isEmpty ? 0 : Self.bytesPerTurn / 2)
    while writingLeft > 0, let session = behind.popFirst() {
      write(session)
      // Write the frames that `drained` has queued.
      if !dirty.isEmpty { writeDirty(leaving: 0) }
    }
    bytesOfTurn = 0
  }

  /// Writes a slice to each connection with frames queued in this turn. Frames that `drained`
  /// queues and replies that arrive meanwhile are sent in the same pass; a connection that was not
  /// written to yet gets both in one write. Sockets are not read until the end.
  ///
  /// - Parameter reserve: Bytes of the turn that are reserved for others.
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
    // Sessions without a slice in this turn precede those that had one.
    if index < dirty.count { behind.insert(dirty[index...], behind: waiting) }
    dirty.removeAll(keepingCapacity: true)
  }

  /// Writes a slice of the queued bytes of a connection.
  private func write(_ session: Session) {
    session.isDirty = false
    guard !session.isGone, !session.stream.isShaking else { return }
    if let webSocket = session.webSocket {
      let stream = session.stream
      writeFrames(session, webSocket, stream)
      // A closed connection no longer counts as stalled.
      guard !session.isGone else { return }
      let isLeft = !webSocket.queue.isEmpty || stream.heldByteCount > 0
      note(isLeft && (session.isStalled || !stream.mayWrite), of: session)
      if isLeft, stream.mayWrite { requeue(session) }
    } else if let http = session.http {
      writeResponses(session, http)
    }
  }

  /// Queues a connection for writing, behind all others.
  func requeue(_ session: Session) {
    guard !session.isDirty else { return }
    session.isDirty = true
    // A socket that accepts bytes is alive, even if its ping waits behind them.
    session.heard = second
    behind.append(session)
  }

  /// Minimum bytes in a queue at the start of a flush for a `drained` once it is empty.
  private static let drainedThreshold = 16 << 10

  /// Writes until the queue is empty, the socket is full, or the slice is used.
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
