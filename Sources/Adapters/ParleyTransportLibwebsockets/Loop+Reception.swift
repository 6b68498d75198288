import ParleyGatewayPorts
import ParleyHTTP1
import ParleyWebSocketFrames

/// The accounting of incomplete messages and bodies.
///
/// Only bytes that remain after a read count, in granules, so a message that arrives in one read
/// costs nothing. A connection beyond its share is refused at once. Deferring its reads instead
/// could deadlock: waiting connections would hold the room that the others wait for.
extension Loop {
  /// The step in which the account changes.
  private static let granuleBytes = 16 << 10
  /// Maximum bytes of a connection that are not counted.
  private static let uncountedBytesMax = 4 << 10

  /// Updates a connection's counted bytes, after a read or a response.
  @inline(__always)
  func countHeld(by session: Session) {
    let byteCount = session.heldByteCount
    guard byteCount > Self.uncountedBytesMax || session.countedBytes > 0 else { return }
    count(byteCount, heldBy: session)
  }

  private func count(_ byteCount: Int, heldBy session: Session) {
    // An upload has already reserved its length.
    let isCounted = byteCount > Self.uncountedBytesMax && session.http?.reservation == nil
    let granules = isCounted ? (byteCount + Self.granuleBytes - 1) / Self.granuleBytes : 0
    let more = granules * Self.granuleBytes - session.countedBytes
    guard more != 0 else { return }
    let limitedClient = holder(of: session).limitedClient
    if more < 0 {
      accounts.reception.give(-more, of: limitedClient)
    } else if !accounts.reception.take(more, for: limitedClient) {
      return refuseMore(of: session)
    }
    session.countedBytes += more
  }

  /// Releases all counted bytes of a connection.
  func stopCounting(_ session: Session) {
    guard session.countedBytes > 0 else { return }
    accounts.reception.give(session.countedBytes, of: holder(of: session).limitedClient)
    session.countedBytes = 0
  }

  /// Rejects a message or body without room, and drops its received part.
  private func refuseMore(of session: Session) {
    report(.reception)
    if let http = session.http {
      refreshDate()
      http.connection.date = date
      http.connection.refuse(with: HTTPResponse(busy(configuration.receptionResponse)), now: now)
      // From now on the connection holds nothing.
      settle(session, http)
    } else if let webSocket = session.webSocket {
      webSocket.reader.dropMessage()
      if webSocket.closing.isOpen { delegate?.droppedForMemory(session.id) }
      countHeld(by: session)
    }
  }

  // MARK: Holders

  /// Returns the holder of a connection's bytes: the owner's choice, or else its address.
  func holder(of session: Session) -> Holder {
    if let holder = session.holder ?? session.addressHolder { return holder }
    let address = IPAddress(session.address).flatMap { configuration.isLimited($0) ? $0 : nil }
    let holder = Holder(address: address)
    session.addressHolder = holder
    return holder
  }

  /// Sets the holder of a connection's bytes; `nil` for its address.
  func count(_ session: Session, towards holder: Holder?) {
    guard session.holder != holder else { return }
    stopCounting(session)
    session.holder = holder
  }

  func count(_ connection: ConnectionID, towards holder: Holder) {
    if let session = session(connection) { count(session, towards: holder) }
  }

  func count(_ request: RequestID, towards holder: Holder) {
    guard let http = requests[request]?.http,
      let index = http.asked.firstIndex(where: { $0.request == request })
    else { return }
    http.asked[index].holder = holder
  }

  func admit(_ connection: ConnectionID, messageBytesMax: Int, as holder: Holder) {
    guard let session = session(connection), let webSocket = session.webSocket else { return }
    webSocket.isAdmitted = true
    webSocket.reader.setMessageBytesMax(messageBytesMax)
    count(session, towards: holder)
  }

  // MARK: Refusals

  /// The range of random retry times in seconds, so that refused clients do not all retry at once.
  static let retrySeconds = 3...8

  /// Returns a response with a `retry-after`.
  func busy(_ response: Response) -> Response {
    var response = response
    response.headers.append(("retry-after", "\(Int.random(in: Self.retrySeconds))"))
    return response
  }

  /// Reports refused memory to the operator, at most once a minute for each kind.
  func report(_ kind: MemoryKind) {
    unreportedRefusals[kind, default: 0] += 1
    guard now >= refusalsSilentUntil[kind] ?? 0 else { return }
    refusalsSilentUntil[kind] = now + 60_000
    configuration.memoryRefused(kind, unreportedRefusals.removeValue(forKey: kind) ?? 1)
  }
}
