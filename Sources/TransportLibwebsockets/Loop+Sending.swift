import CLibwebsockets
import CLibwebsocketsShim
import GatewayPorts

/// What is queued for connections, and how it gets to their sockets: joined, at the end of a turn.
extension Loop {
  func send(_ frame: Frame, to id: ConnectionID) {
    guard let session = session(id), session.phase == .open else { return }
    session.queue.append(frame)
    session.queuedBytes += frame.byteCount
    if session.queuedBytes > configuration.queuedBytesMax { return overflow(session) }
    markDirty(session)
  }

  func queuedBytes(for id: ConnectionID) -> Int {
    guard let session = session(id) else { return 0 }
    return session.queuedBytes + session.heldBytes
  }

  func close(_ id: ConnectionID, code: CloseCode, reason: String) {
    guard let session = session(id), session.phase == .open else { return }
    beginClose(session, code: code, reason: reason)
  }

  func beginClose(_ session: Session, code: CloseCode, reason: String) {
    session.phase = .closing
    session.farewell = Farewell(
      code: code, reason: reason, deadline: second + Int32(clamping: configuration.closeSeconds))
    session.assembled = []
    markDirty(session)
  }

  private func overflow(_ session: Session) {
    session.queue = []
    session.queueHead = 0
    session.queuedBytes = 0
    beginClose(session, code: CloseCode(4001), reason: "too slow: resume from your last revision")
  }

  func markDirty(_ session: Session) {
    if session.isDirty || session.isBlocked { return }
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
      if session.letsPongGoFirst, let wsi = session.wsi {
        lws_callback_on_writable(wsi)
        continue
      }
      write(session)
      if session.phase == .closing, !session.isBlocked, let wsi = session.wsi {
        // The close frame is the library's to send, from its own callback.
        lws_callback_on_writable(wsi)
      }
    }
    dirty.removeAll(keepingCapacity: true)
    if !failed.isEmpty {
      for session in failed { cut(session) }
      failed.removeAll()
    }
  }

  /// A queue that held more than this at the start of a flush gets a `drained` when it is empty.
  private static let drainedThreshold = 16 << 10

  /// Writes until the queue is empty or the socket is full.
  ///
  /// - Parameter wasHeld: Whether an earlier write was taken in part only.
  private func write(_ session: Session, wasHeld: Bool = false) {
    guard session.phase == .open || session.phase == .closing, !session.isBlocked,
      let wsi = session.wsi
    else { return }
    let owesDrained = wasHeld || session.queuedBytes > Self.drainedThreshold
    while session.queuedBytes > 0 || session.owesPing {
      let count = writeOnce(session, wsi)
      if count < 0 {
        session.phase = .broken
        failed.append(session)
        return
      }
      if lws_partial_buffered(wsi) != 0 {
        session.heldBytes = count
        lws_callback_on_writable(wsi)
        return
      }
    }
    if owesDrained, session.phase == .open { delegate?.drained(session.id) }
  }

  /// One write of whole frames. Returns its bytes, or -1 for a socket that is gone.
  ///
  /// A frame is never cut: between two writes the library may put a pong of its own.
  private func writeOnce(_ session: Session, _ wsi: OpaquePointer) -> Int {
    // An encrypted write takes one record, and the library copies what is beyond.
    let room = configuration.tls == nil ? scratch.count : 16 << 10
    if !session.owesPing, session.queueHead < session.queue.count {
      let first = session.queue[session.queueHead]
      if session.queueHead + 1 == session.queue.count || first.byteCount > room {
        dropFirst(session)
        return first.withUnsafeBytes { raw(wsi, $0) }
      }
    }
    var filled = 0
    if session.owesPing {
      session.owesPing = false
      // With a byte of payload: the library does not tell of empty pongs.
      scratch[0] = 0x89
      scratch[1] = 1
      scratch[2] = 0x3f
      filled = 3
    }
    while session.queueHead < session.queue.count {
      let frame = session.queue[session.queueHead]
      let count = frame.byteCount
      if filled + count > room { break }
      frame.withUnsafeBytes {
        guard let from = $0.baseAddress, let to = scratch.baseAddress else { return }
        (to + filled).copyMemory(from: from, byteCount: count)
      }
      filled += count
      dropFirst(session)
    }
    return raw(wsi, UnsafeRawBufferPointer(rebasing: scratch[..<filled]))
  }

  private func dropFirst(_ session: Session) {
    session.queuedBytes -= session.queue[session.queueHead].byteCount
    session.queueHead += 1
    if session.queueHead == session.queue.count {
      // An idle connection keeps no room; a busy one keeps a little.
      session.queue.removeAll(keepingCapacity: session.queueHead <= 8)
      session.queueHead = 0
    } else if session.queueHead >= 64, session.queueHead * 2 > session.queue.count {
      session.queue.removeFirst(session.queueHead)
      session.queueHead = 0
    }
  }

  /// Hands bytes to the socket as they are: on a WebSocket, `LWS_WRITE_HTTP` adds no header.
  func raw(_ wsi: OpaquePointer, _ bytes: UnsafeRawBufferPointer) -> Int {
    guard let base = bytes.baseAddress else { return 0 }
    let pointer = UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: UInt8.self))
    let written = lws_write(wsi, pointer, bytes.count, LWS_WRITE_HTTP)
    return written < 0 ? -1 : bytes.count
  }

  /// The socket takes bytes again. Returns what the callback must: -1 closes.
  func writable(_ session: Session) -> Int32 {
    guard let wsi = session.wsi else { return -1 }
    if session.isBlocked {
      if lws_partial_buffered(wsi) != 0 {
        lws_callback_on_writable(wsi)
        return 0
      }
      session.heldBytes = 0
      write(session, wasHeld: true)
    } else if session.letsPongGoFirst {
      session.letsPongGoFirst = false
      write(session)
    }
    if session.isBlocked { return 0 }
    switch session.phase {
    case .closing:
      // A turn may have queued more before it closed; the flush at its end asks again.
      if session.queuedBytes > 0 || session.isDirty { return 0 }
      session.phase = .broken
      sayGoodbye(session, wsi)
      return -1
    case .broken: return 0
    case .open, .http, .gone: return 0
    }
  }

  private func sayGoodbye(_ session: Session, _ wsi: OpaquePointer) {
    guard let farewell = session.farewell else { return }
    var reason = Array(farewell.reason.utf8.prefix(123))
    while !reason.isEmpty, String(validating: reason, as: UTF8.self) == nil { reason.removeLast() }
    let status = lws_close_status(rawValue: UInt32(farewell.code.rawValue))
    reason.withUnsafeMutableBufferPointer {
      lws_close_reason(wsi, status, $0.baseAddress, $0.count)
    }
  }
}
