import ParleyGatewayPorts
import SocketMessages

/// Requests over HTTP, from the table of routes to the function that answers them.
///
///     Resource.find ─▶ body's type ─▶ Idempotency-Key ─▶ who ─▶ which note or room ─▶
///     may they ─▶ If-Match ─▶ method ─▶ Route.answer
extension HTTP {
  /// Answers an HTTP request, now or when the store has replied.
  ///
  /// - Returns: Whether the path is the gateway's at all.
  func request(_ request: RequestID, head: RequestHead, body: [UInt8]) -> Bool {
    let match = Resource.find(head.path)
    do throws(Response) {
      if !body.isEmpty, head.path.utf8.starts(with: "/api/".utf8) {
        let expected = match?.resource.bodyType(of: head.method) ?? .json
        guard expected.includes(head) else { throw .unsupported(expected) }
      }
      guard let match, match.resource.page == nil else { return false }
      if try requestOnce(request, head, at: match, body) { return true }
      perform(request, head, at: match, body)
    } catch {
      respond(request, error)
    }
    return true
  }

  /// Does a request of the gateway's own interface.
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

  /// Answers a request by its handler, or with the response that the handler throws.
  func run(_ answer: (HTTP, Call) throws -> Void, _ call: Call) {
    do {
      try answer(self, call)
    } catch {
      // All that handlers throw is a response; a request is answered in any case.
      respond(call.request, error as? Response ?? .storeFailed)
    }
  }

  // MARK: Admitting

  /// Refuses a request that its path's subject does not allow.
  ///
  /// - Returns: The right for the store's work; `nil` where the handler checks it.
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
      try refuseVainCondition(call, at: match.resource)
      return right
    case .room:
      guard !match.isBroken else {
        throw .problem(400, .badMessage, "the room's name is not valid percent-encoding")
      }
      if let problem = rooms.problem(ofRoom: call.name) { throw .problem(413, .tooLarge, problem) }
      guard case .room(let verbs)? = route?.right else { return nil }
      try access.require(verbs, .room(call.name), of: call.identity)
      return .token
    }
  }

  /// Refuses what the caller may not do with the note that the path names.
  private func requireNote(
    _ call: Call, at resource: Resource, _ route: Route?
  ) throws(Response) -> StoreRight? {
    // A request that makes a note names the folder, and is checked with that.
    if case .chosenNote? = route?.right { return nil }
    return try access.require(
      resource.verbs(for: call.head.method), note: call.note, isDeleted: resource.isOfDeleted,
      of: call.identity)
  }

  /// Refuses an id in a path that cannot be a note's.
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

  /// Refuses a request that writes and has an `If-Match` that would be ignored: doing it all the same could
  /// do what the header was to prevent.
  private func refuseVainCondition(_ call: Call, at resource: Resource) throws(Response) {
    guard call.head.method != "GET", let condition = call.head.headers["if-match"],
      !condition.isEmpty, condition != "*", !resource.routes.contains(where: \.looksAtIfMatch)
    else { return }
    throw .problem(
      400, .badMessage,
      "If-Match is looked at where a text is written, by PUT of it and by changes, and nowhere "
        + "else; leave it out here")
  }

  /// Refuses a request that would change something while too much waits for the store.
  func refuseIfFull() throws(Response) {
    guard backlog.isFull else { return }
    countRefusalByBacklog()
    throw .busy(StoreBacklog.words)
  }

  /// The identity of the caller, which counts once towards its user's limits.
  func identity(of head: RequestHead, _ request: RequestID) throws(Response) -> Identity {
    if let work = once[request] { return work.identity }
    let identity = try access.identity(of: head)
    count(request, towards: identity, from: head.limitedAddress)
    return identity
  }
}

extension Resource {
  /// The answer to a request that the path does not take.
  var refusal: Response {
    guard routes.isEmpty else { return methodNotAllowed }
    return kind == .note
      ? .problem(404, .unknownDocument, "no such path below a note")
      : .problem(404, .unknownType, "no such path below a room")
  }
}
