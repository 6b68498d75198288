import CLibwebsockets
import GatewayPorts

extension Loop {
  /// Named so that no client asks for it.
  static let plainProtocol = "-"

  /// Decides about an upgrade, while a refusal can still be an HTTP response.
  ///
  /// Not in `HTTP_CONFIRM_UPGRADE`, which comes earlier: handling that one leads the library into
  /// a use after free.
  func filter(_ session: Session, _ wsi: OpaquePointer) -> Int32 {
    session.wsi = wsi
    guard session.phase == .http, session.exchange == nil else { return -1 }
    guard hasWholeRequestLine(wsi) else { return refuse(session, wsi, RequestPreview.brokenTarget) }
    let head = requestHead(wsi, session)
    // Encrypted requests, and upgrades after other requests, have not passed the lobby.
    if let complaint = RequestPreview.handshakeComplaint(
      key: head.headers["sec-websocket-key"], version: head.headers["sec-websocket-version"])
    {
      return refuse(session, wsi, complaint)
    }
    guard let delegate else { return -1 }
    switch delegate.decide(upgrade: head) {
    case .refuse(let response):
      return refuse(session, wsi, response)
    case .accept(let subprotocol):
      // The library has chosen, and will say so: the owner may only agree.
      guard subprotocol == negotiated(wsi) else {
        return refuse(
          session, wsi,
          ResponseEncoder.plain(
            400, "the subprotocol offered is not spoken at this path; offer none"))
      }
      session.exchange = Exchange(request: RequestID(0), head: head)
      return 0
    }
  }

  func established(_ session: Session, _ wsi: OpaquePointer) -> Int32 {
    guard let exchange = session.exchange else { return -1 }
    session.exchange = nil
    session.wsi = wsi
    session.phase = .open
    session.heard = second
    delegate?.opened(session.id, head: exchange.head, subprotocol: negotiated(wsi))
    return 0
  }

  /// The subprotocol the library agreed on.
  private func negotiated(_ wsi: OpaquePointer) -> String? {
    guard let entry = lws_get_protocol(wsi), let name = entry.pointee.name else { return nil }
    let text = String(cString: name)
    return text == Self.plainProtocol ? nil : text
  }

  private func refuse(_ session: Session, _ wsi: OpaquePointer, _ response: Response) -> Int32 {
    linger(session, wsi)
    ResponseEncoder.last(response).withUnsafeBytes { _ = raw(wsi, $0) }
    return -1
  }

  /// A message, or a piece of one.
  func received(
    _ session: Session, _ wsi: OpaquePointer, _ bytes: UnsafeRawBufferPointer
  ) -> Int32 {
    session.heard = second
    guard session.phase == .open else { return 0 }
    let left = lws_remaining_packet_payload(wsi)
    let isWhole = left == 0 && lws_is_final_fragment(wsi) != 0
    if session.isDiscarding {
      if isWhole { session.isDiscarding = false }
      return 0
    }
    let isFirst = !session.isAssembling
    if isFirst { session.assembledKind = lws_frame_is_binary(wsi) != 0 ? .binary : .text }
    // What the frame declares counts, not only what has come.
    if session.assembled.count + bytes.count + left > configuration.messageBytesMax {
      session.assembled = []
      session.isAssembling = false
      session.isDiscarding = !isWhole
      delegate?.oversized(session.id, bytesMax: configuration.messageBytesMax)
      return 0
    }
    if isWhole, isFirst {
      delegate?.received(session.id, message: bytes, kind: session.assembledKind)
      return 0
    }
    if isFirst {
      session.isAssembling = true
      // A declared length is a promise, not bytes: reserve a little of it.
      session.assembled.reserveCapacity(bytes.count + min(left, 64 << 10))
    }
    session.assembled.append(contentsOf: bytes)
    // A frame ends here and its message does not.
    if left == 0, !isWhole { session.letsPongGoFirst = true }
    if isWhole {
      session.isAssembling = false
      var message: [UInt8] = []
      swap(&message, &session.assembled)
      message.withUnsafeBytes {
        delegate?.received(session.id, message: $0, kind: session.assembledKind)
      }
    }
    return 0
  }
}
