public import ParleyGatewayPorts

/// Requests of a process to each of its gateways, if it has several.
///
///     the one that is asked   admit ─▶ answer for itself ─▶ GatewayAction.gather … gathered ─▶ respond
///     each of the others      requestPart ─▶ respond
extension Gateway {
  /// The names of the rooms that have subscribers here.
  public var openRoomNames: [String] { rooms.names }

  /// Does this gateway's part of an operator's request, which another one of the process has admitted.
  ///
  /// - Returns: Whether it is such a request.
  public func requestPart(_ request: RequestID, head: RequestHead, body: [UInt8]) -> Bool {
    guard let match = Resource.find(head.path), match.resource.kind == .operators,
      case .gateway(let answer)? = match.resource.route(head.method)?.answer
    else { return false }
    let call = Call(
      request: request, head: head, body: body, identity: Identity(user: "", grants: []),
      name: match.name, item: nil, isPart: true)
    http.run(answer, call)
    return true
  }

  /// All gateways of the process have answered a request; the answer is of all.
  public func gathered(_ request: RequestID, _ answer: Response) { http.respond(request, answer) }

  /// Applies another gateway's revocation to the connections here.
  ///
  /// - Parameters:
  ///   - body: The request's, which that gateway has done.
  ///   - proceed: Called when all connections are held to it, with how many were closed.
  public func takeBackElsewhere(_ body: [UInt8], then proceed: @escaping (_ closed: Int) -> Void) {
    let connection = AccessJSON.fields(in: body)?.client
      .flatMap { connectionsByClient[$0] }.flatMap { connections[$0] }
    connection.map(rights.closeRevoked)
    rights.applyRevocations { proceed($0 + (connection == nil ? 0 : 1)) }
  }
}

extension HTTP {
  /// Answers a request about the connections of all gateways of the process, with the other gateways'
  /// answers, if there are any.
  func respondForAll(_ call: Call, _ response: Response) {
    guard dependencies.hasOthers, !call.isPart else { return respond(call.request, response) }
    act(.gather(call.request, call.head, call.body, response))
  }
}
