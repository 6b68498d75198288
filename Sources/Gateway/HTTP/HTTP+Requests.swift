import GatewayPorts
import SocketMessages

/// Requests over HTTP, from the table of routes to the one who answers them.
///
///     Resource.find ─▶ body's type ─▶ Idempotency-Key ─▶ who ─▶ which note or room ─▶
///     may they ─▶ If-Match ─▶ method ─▶ Route.answer
extension HTTP {
  /// Answers an HTTP request, now or when the store has replied.
  ///
  /// - Returns: Whether the path is the gateway's at all.
  func request(_ request: RequestID, head: RequestHead, body: [UInt8]) -> Bool {
    let match = Resource.find(head.path)
    if !body.isEmpty, head.path.utf8.starts(with: "/api/".utf8) {
      let expected = match?.resource.bodyType(of: head.method) ?? .json
      guard expected.includes(head) else {
        respond(request, .unsupported(expected))
        return true
      }
    }
    guard let match, match.resource.page == nil else { return false }
    if !requestOnce(request, head, at: match, body) { perform(request, head, at: match, body) }
    return true
  }

  /// Does what a request of the gateway's own interface asks for.
  func perform(
    _ request: RequestID, _ head: RequestHead, at match: Resource.Match, _ body: [UInt8]
  ) {
    let resource = match.resource
    let route = resource.route(head.method)
    guard resource.kind == .operators || head.method == "GET" || !backlog.isFull else {
      refuseForBacklog(request)
      return
    }
    guard route != nil || resource.kind != .rooms else {
      respond(request, resource.methodNotAllowed)
      return
    }
    guard let identity = identity(of: head, request) else { return }
    let call = Call(request, head, at: match, body, by: identity)
    guard admits(call, at: match, route) else { return }
    guard case .gateway(let answer)? = route?.answer else {
      respond(request, resource.refusal)
      return
    }
    answer(self, call)
  }

  /// Decides about a body that is longer than those of other requests, before any of it is read.
  func decision(onBody byteCount: Int, of head: RequestHead) -> BodyDecision {
    guard let match = Resource.find(head.path), match.resource.route(head.method)?.body == .bytes
    else { return .tooLong }
    let verbs = match.resource.verbs(for: head.method)
    return files.decision(onBody: byteCount, of: head, to: match.name, needing: verbs)
  }

  // MARK: Admitting

  /// Whether a request may be answered by what its path is about; answers it if not.
  private func admits(_ call: Call, at match: Resource.Match, _ route: Route?) -> Bool {
    let request = call.request
    switch match.resource.kind {
    case .notes, .rooms, .server: return true
    case .operators: return access.isOperator(call.identity, request)
    case .note:
      return namesNote(call) && mayUseNote(call, at: match.resource, route)
        && !hasVainCondition(call, at: match.resource)
    case .room:
      guard !match.isBroken else {
        respond(
          request, .problem(400, .badMessage, "the room's name is not valid percent-encoding"))
        return false
      }
      if let problem = rooms.problem(ofRoom: call.name) {
        respond(request, .problem(413, .tooLarge, problem))
        return false
      }
      guard case .room(let verbs)? = route?.right else { return true }
      return access.allows(call.identity, verbs, .room(call.name), request)
    }
  }

  /// Whether somebody may do what a request wants with the note that its path names; answers it if not.
  private func mayUseNote(_ call: Call, at resource: Resource, _ route: Route?) -> Bool {
    // What makes a note names its folder, and is looked at with that.
    if case .chosenNote? = route?.right { return true }
    return access.allows(
      call.identity, resource.verbs(for: call.head.method), note: call.name,
      isDeleted: resource.isOfDeleted, call.request)
  }

  /// Whether the path names a note by an id that can be one; answers the request if not.
  private func namesNote(_ call: Call) -> Bool {
    guard !call.name.isEmpty else {
      respond(
        call.request, .problem(400, .badMessage, "the note's id is not valid percent-encoding"))
      return false
    }
    let bytesMax = settings.limits.documentIDBytesMax
    guard call.name.utf8.count <= bytesMax else {
      respond(
        call.request,
        .problem(
          413, .tooLarge,
          "a note's id has at most \(bytesMax) bytes; this one has \(call.name.utf8.count)"))
      return false
    }
    return true
  }

  /// Whether a request that writes has an `If-Match` that would not be looked at, which is answered:
  /// doing it all the same could do what the header was to prevent.
  private func hasVainCondition(_ call: Call, at resource: Resource) -> Bool {
    guard call.head.method != "GET", let condition = call.head.headers["if-match"],
      !condition.isEmpty, condition != "*", !resource.routes.contains(where: \.looksAtIfMatch)
    else { return false }
    respond(
      call.request,
      .problem(
        400, .badMessage,
        "If-Match is looked at where a text is written, by PUT of it and by changes, and nowhere "
          + "else; leave it out here"))
    return true
  }

  /// The identity of a request's maker, which counts once towards its user's limits; answers the
  /// request and returns `nil` if that is nobody, or they have made too many.
  func identity(of head: RequestHead, _ request: RequestID) -> Identity? {
    once[request]?.identity ?? access.identity(of: head, request)
  }
}

extension Resource {
  /// The answer to a request that the path does not take.
  fileprivate var refusal: Response {
    guard routes.isEmpty else { return methodNotAllowed }
    return kind == .note
      ? .problem(404, .unknownDocument, "no such path below a note")
      : .problem(404, .unknownType, "no such path below a room")
  }
}
