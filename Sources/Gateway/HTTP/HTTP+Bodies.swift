import ParleyGatewayPorts
import SocketMessages

/// Decisions on long bodies, from the heads of their requests.
///
/// A body of more than a few kilobytes is buffered only if the head's token and path allow the
/// request. A request that would be refused therefore costs no more than its head.
extension HTTP {
  /// Decides whether to read a body that is too long to be read unconditionally.
  ///
  /// - Parameter byteCount: The body's length; `nil` for a chunked body.
  func decision(
    onBody byteCount: Int?, of head: RequestHead, at match: Resource.Match?
  ) -> BodyDecision {
    do throws(Response) { return try allowance(ofBody: byteCount, head, at: match) } catch {
      return .refuse(error)
    }
  }

  private func allowance(
    ofBody byteCount: Int?, _ head: RequestHead, at match: Resource.Match?
  ) throws(Response) -> BodyDecision {
    guard let match else {
      throw .problem(
        404, .notOffered, "this path does not exist; /api/openapi.json lists all paths")
    }
    let resource = match.resource
    // These paths take a password or a link's key, which is short.
    guard resource.page == nil else {
      throw .problem(413, .tooLarge, "a body for this path may have a few kilobytes; send less")
    }
    let identity = try access.bearer(of: head)
    guard let route = resource.route(head.method) else { throw resource.refusal }
    guard let type = route.body else {
      throw .problem(413, .tooLarge, "this request has no body; leave it out")
    }
    guard type.includes(head) else { throw .unsupported(type) }
    try admit(identity, to: route, of: match)
    let holder = Holder(LimitedClient(identity, from: head.limitedAddress))
    if type == .bytes { return try files.allowance(ofBody: byteCount, of: identity, holder) }
    let bytesMax = settings.limits.messageBytesMax
    if let byteCount, byteCount > bytesMax {
      throw .problem(
        413, .tooLarge, "a body may have \(bytesMax) bytes; this one has \(byteCount): send less")
    }
    return .take(upTo: bytesMax, for: holder)
  }

  /// Refuses a request whose token lacks the right, as far as the head shows.
  private func admit(
    _ identity: Identity, to route: Route, of match: Resource.Match
  ) throws(Response) {
    switch route.right {
    case .note(let verbs):
      // The store checks rights that depend on the note's folder, after the body was read.
      if case .refused = identity.right(to: verbs, ofNote: DocumentID(match.name)) {
        throw .notGranted
      }
    case .room(let verbs): try access.require(verbs, .room(RoomName(match.name)), of: identity)
    case .operatorKey: try access.requireOperator(identity)
    case .nothing, .setting, .password, .refreshToken, .invitation, .reset, .link, .provider,
      .notes, .newNote, .chosenNote, .folders, .rooms, .person:
      break
    }
  }
}
