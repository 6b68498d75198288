import ParleyGatewayPorts
import ParleyHTTP1
import ParleyWebSocketFrames

/// The account of messages and bodies that have not come whole.
///
/// Only what remains held after a read counts, in granules, so that a message that comes in one read costs nothing. A
/// connection over its share is refused at once. Reading it later instead would not help: those that wait for room
/// would keep the room that the others wait for.
extension Loop {
  /// The account changes in steps of this size.
  private static let granuleBytes = 16 << 10
  /// So little of a connection does not count.
  private static let uncountedBytesMax = 4 << 10

  /// Counts what a connection holds, after a read or an answer.
  @inline(__always)
  func countHeld(by session: Session) {
    let byteCount = session.heldByteCount
    guard byteCount > Self.uncountedBytesMax || session.countedBytes > 0 else { return }
    count(byteCount, heldBy: session)
  }

  private func count(_ byteCount: Int, heldBy session: Session) {
    // An upload has reserved its length.
    let isCounted = byteCount > Self.uncountedBytesMax && session.http?.reservation == nil
    let granules = isCounted ? (byteCount + Self.granuleBytes - 1) / Self.granuleBytes : 0
    let more = granules * Self.granuleBytes - session.countedBytes
    guard more != 0 else { return }
    let stranger = holder(of: session).stranger
    if more < 0 {
      accounts.reception.give(-more, of: stranger)
    } else if !accounts.reception.take(more, for: stranger) {
      return refuseMore(of: session)
    }
    session.countedBytes += more
  }

  /// Gives back all that a connection has counted.
  func stopCounting(_ session: Session) {
    guard session.countedBytes > 0 else { return }
    accounts.reception.give(session.countedBytes, of: holder(of: session).stranger)
    session.countedBytes = 0
  }

  /// Rejects a message or body for which there is no room, and drops the part of it that was
  /// received.
  private func refuseMore(of session: Session) {
    report(.reception)
    if let http = session.http {
      refreshDate()
      http.connection.date = date
      http.connection.refuse(with: HTTPResponse(busy(configuration.receptionResponse)), now: now)
      // After this the connection holds nothing.
      settle(session, http)
    } else if let webSocket = session.webSocket {
      webSocket.reader.dropMessage()
      if webSocket.closing.isOpen { delegate?.crowded(session.id) }
      countHeld(by: session)
    }
  }

  // MARK: Holders

  /// The party that a connection's bytes are counted against: its address unless the owner has named another.
  func holder(of session: Session) -> Holder {
    if let holder = session.holder ?? session.addressHolder { return holder }
    let address = IPAddress(session.address).flatMap { configuration.isLimited($0) ? $0 : nil }
    let holder = Holder(address: address)
    session.addressHolder = holder
    return holder
  }

  /// Has a connection's bytes counted against another holder, or its address.
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

  /// Seconds from which each refused client draws the time to wait, so that they do not return all at once.
  static let retrySeconds = 3...8

  /// Adds when to try again.
  func busy(_ response: Response) -> Response {
    var response = response
    response.headers.append(("retry-after", "\(Int.random(in: Self.retrySeconds))"))
    return response
  }

  /// Tells the operator that memory was refused, at most once a minute for each kind.
  func report(_ kind: MemoryKind) {
    unreportedRefusals[kind, default: 0] += 1
    guard now >= refusalsSilentUntil[kind] ?? 0 else { return }
    refusalsSilentUntil[kind] = now + 60_000
    configuration.memoryRefused(kind, unreportedRefusals.removeValue(forKey: kind) ?? 1)
  }
}
