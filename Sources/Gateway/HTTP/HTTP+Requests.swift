import ParleyGatewayPorts
import SocketMessages

/// HTTP requests, from the resource to the handler.
///
///     Resource.Match ─▶ body's type ─▶ Idempotency-Key ─▶ identity ─▶ note or room ─▶
///     rights ─▶ If-Match ─▶ method ─▶ Route.answer
extension HTTP {
  /// Responds to an HTTP request, at once or after the store's reply.
  ///
  /// - Parameter match: The resource of the path; `nil` if the path is unknown.
  /// - Returns: Whether the gateway handles the path.
  func request(
    _ request: RequestID, head: RequestHead, at match: Resource.Match?, body: [UInt8]
  ) -> Bool {
    do throws(Response) {
      if !body.isEmpty, head.path.utf8.starts(with: "/api/".utf8) {
        let expected = match?.resource.bodyType(of: head.method) ?? .json
        guard expected.includes(head) else { throw .unsupported(expected) }
      }
      guard let match, match.resource.page == nil else { return false }
      guard let key = OnceRequests.key(of: head) else {
        perform(request, head, at: match, body)
        return true
      }
      let identity = try identity(of: head, request)
      try once.begin(request, head, key: key, at: match, body, by: identity)
    } catch {
      respond(request, error)
    }
    return true
  }

  /// Performs a request after checking its identity and rights.
  func perform(
    _ request: RequestID, _ head: RequestHead, at match: Resource.Match, _ body: [UInt8]
  ) {
    let resource = match.resource
    let route = resource.route(head.method)
    answering(request) { () throws(Response) in
      if resource.kind != .operators, head.method != "GET" { try refuseIfFull() }
      guard route != nil || resource.kind != .rooms else { throw resource.methodNotAllowed }
      let identity = try identity(of: head, request)
      var call = Call(request, head, at: match, body, by: identity)
      call.granted = try admit(call, at: match, route)
      guard case .gateway(let answer)? = route?.answer else { throw resource.refusal }
      run(answer, call)
    }
  }

  /// Runs a request's handler, and responds with the response that it throws.
  func run(_ answer: (HTTP, Call) throws -> Void, _ call: Call) {
    do {
      try answer(self, call)
    } catch {
      // Handlers throw only responses. The fallback ensures that each request gets a response.
      respond(call.request, error as? Response ?? .storeFailed)
    }
  }

  // MARK: Admitting

  /// Refuses a request that the rights or the state of its note or room do not allow.
  ///
  /// - Returns: The right for the store's work; `nil` where the handler checks rights itself.
  private func admit(
    _ call: Call, at match: Resource.Match, _ route: Route?
  ) throws(Response) -> StoreRight? {
    switch match.resource.kind {
    case .notes, .rooms, .server:
      switch route?.right {
      case .notes: return .eachItem
      case .person: return .token
      default: return nil
      }
    case .operators:
      try access.requireOperator(call.identity)
      return nil
    case .note:
      try checkNoteID(call.note)
      let right = try requireNote(call, at: match.resource, route)
      try refuseIgnoredCondition(call, at: match.resource)
      return right
    case .room:
      guard !match.isBroken else {
        throw .problem(400, .badMessage, "the room's name is not valid percent-encoding")
      }
      try rooms.check(name: call.room)
      guard case .room(let verbs)? = route?.right else { return nil }
      try access.require(verbs, .room(call.room), of: call.identity)
      return .token
    }
  }

  /// Requires the resource's verbs on the note that the path names.
  private func requireNote(
    _ call: Call, at resource: Resource, _ route: Route?
  ) throws(Response) -> StoreRight? {
    // A request that creates a note names the folder: the handler checks the right to create there.
    if case .chosenNote? = route?.right { return nil }
    return try access.require(
      resource.verbs(for: call.head.method), note: call.note, isDeleted: resource.isOfDeleted,
      of: call.identity)
  }

  /// Refuses a path whose id is not valid for a note.
  private func checkNoteID(_ id: DocumentID) throws(Response) {
    guard !id.text.isEmpty else {
      throw .problem(400, .badMessage, "the note's id is not valid percent-encoding")
    }
    let bytesMax = settings.limits.documentIDBytesMax
    guard id.text.utf8.count <= bytesMax else {
      throw .problem(
        413, .tooLarge,
        "a note's id has at most \(bytesMax) bytes; this one has \(id.text.utf8.count)")
    }
  }

  /// Refuses a write whose `If-Match` would be ignored. Performing it could do exactly what the
  /// header was meant to prevent.
  private func refuseIgnoredCondition(_ call: Call, at resource: Resource) throws(Response) {
    guard call.head.method != "GET", let condition = call.head.headers["if-match"],
      !condition.isEmpty, condition != "*", !resource.routes.contains(where: \.evaluatesIfMatch)
    else { return }
    throw .problem(
      400, .badMessage,
      "If-Match applies only to PUT of a text and to changes of it; leave it out here")
  }

  /// Returns the caller's identity. The request counts once towards its user's limits.
  func identity(of head: RequestHead, _ request: RequestID) throws(Response) -> Identity {
    if let identity = once.identity(of: request) { return identity }
    let identity = try access.identity(of: head)
    count(request, towards: identity, from: head.limitedAddress)
    return identity
  }
}

extension Resource {
  /// The response to a method or path that the resource does not offer.
  var refusal: Response {
    guard routes.isEmpty else { return methodNotAllowed }
    return kind == .note
      ? .problem(404, .unknownDocument, "no such path below a note")
      : .problem(404, .unknownType, "no such path below a room")
  }
}
