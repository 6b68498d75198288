import CLibwebsockets
import GatewayPorts

/// Where libwebsockets enters, on the loop's thread.
///
/// A plain function: a closure of the main actor would trap when called from another thread.
func transportCallback(
  _ wsi: OpaquePointer?, _ reason: lws_callback_reasons, _ user: UnsafeMutableRawPointer?,
  _ input: UnsafeMutableRawPointer?, _ length: Int
) -> Int32 {
  // Callbacks without a connection of ours: the library's start and end, sockets of its own.
  guard let wsi, let opaque = lws_get_opaque_user_data(wsi),
    let owner = lws_context_user(lws_get_context(wsi))
  else { return 0 }
  let session = Unmanaged<Session>.fromOpaque(opaque).takeUnretainedValue()
  let loop = Unmanaged<Loop>.fromOpaque(owner).takeUnretainedValue()
  let bytes = UnsafeRawBufferPointer(start: input, count: input == nil ? 0 : length)
  guard let stage = stage(of: reason) else { return 0 }
  // A callback may come within another, and from work of ours.
  let before = loop.pulse.enter(stage)
  defer { loop.pulse.enter(before) }
  switch reason {
  case LWS_CALLBACK_RECEIVE:
    return loop.received(session, wsi, bytes)
  case LWS_CALLBACK_SERVER_WRITEABLE:
    return loop.writable(session)
  case LWS_CALLBACK_RECEIVE_PONG:
    session.heard = loop.second
    return 0
  case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
    // The library echoes the code. Nothing may follow its close frame.
    if session.phase == .open || session.phase == .closing { session.phase = .broken }
    return 0
  case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
    return loop.filter(session, wsi)
  case LWS_CALLBACK_ESTABLISHED:
    return loop.established(session, wsi)
  case LWS_CALLBACK_HTTP:
    return loop.requestBegan(session, wsi)
  case LWS_CALLBACK_HTTP_BODY:
    return loop.bodyArrived(session, wsi, bytes)
  case LWS_CALLBACK_HTTP_BODY_COMPLETION:
    return loop.bodyEnded(session, wsi)
  case LWS_CALLBACK_CLOSED, LWS_CALLBACK_CLOSED_HTTP, LWS_CALLBACK_WSI_DESTROY:
    loop.retire(session)
    return 0
  default:
    return 0
  }
}

/// The stage of a callback that does something; `nil` for one that does not.
private func stage(of reason: lws_callback_reasons) -> LoopPulse.Stage? {
  switch reason {
  case LWS_CALLBACK_RECEIVE: .message
  case LWS_CALLBACK_SERVER_WRITEABLE: .room
  case LWS_CALLBACK_RECEIVE_PONG: .pong
  case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: .upgrade
  case LWS_CALLBACK_ESTABLISHED: .opening
  case LWS_CALLBACK_HTTP: .request
  case LWS_CALLBACK_HTTP_BODY, LWS_CALLBACK_HTTP_BODY_COMPLETION: .requestBody
  case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE, LWS_CALLBACK_CLOSED, LWS_CALLBACK_CLOSED_HTTP,
    LWS_CALLBACK_WSI_DESTROY:
    .closing
  default: nil
  }
}
