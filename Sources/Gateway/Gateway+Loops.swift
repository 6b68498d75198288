public import ParleyGatewayPorts

/// Requests that a process passes to each of its gateways, if it has several.
///
///     the receiving gateway   admit ─▶ own answer ─▶ GatewayAction.gather … gathered ─▶ respond
///     each other gateway      requestPart ─▶ respond
extension Gateway {
  /// The names of the rooms that have subscribers on this gateway.
  public var openRoomNames: [RoomName] { rooms.names }

  /// Answers this gateway's part of an operator's request that another gateway has admitted.
  ///
  /// - Returns: Whether the request is one that gateways answer together.
  public func requestPart(_ request: RequestID, head: RequestHead, body: [UInt8]) -> Bool {
    guard let match = RequestTarget(head.path)?.match, match.resource.kind == .operators,
      case .gateway(let answer)? = match.resource.route(head.method)?.answer
    else { return false }
    let call = Call(
      request: request, head: head, body: body, identity: Identity(user: "", grants: []),
      name: match.name, item: nil, isPart: true)
    http.run(answer, call)
    return true
  }

  /// Responds to a request with the combined answer of all gateways of the process.
  public func gathered(_ request: RequestID, _ answer: Response) { http.respond(request, answer) }

  /// Applies a revocation made at another gateway to this gateway's connections.
  ///
  /// - Parameters:
  ///   - body: The body of the revocation request.
  ///   - proceed: Called with the number of closed connections, after all connections are checked.
  public func applyRevocation(_ body: [UInt8], then proceed: @escaping (_ closed: Int) -> Void) {
    let connection = AccessJSON.fields(in: body)?.client
      .flatMap { connectionsByClient[$0] }.flatMap { connections[$0] }
    connection.map(rights.closeRevoked)
    rights.applyRevocations { proceed($0 + (connection == nil ? 0 : 1)) }
  }
}
