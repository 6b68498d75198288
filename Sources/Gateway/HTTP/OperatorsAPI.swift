import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Operators' requests over HTTP. They require an operator's API key.
final class OperatorsAPI: Part {
  /// Minimum and maximum lifetime of a token, in seconds.
  private static let tokenSeconds = 1...(366 * 86_400)
  private static let tokenSecondsDefault = 3_600

  let board: Switchboard
  let delivery: DocumentDelivery
  let rooms: Rooms
  let access: Access
  let rights: Rights
  let once: OnceRequests
  private let audit: Audit

  init(
    _ board: Switchboard, _ delivery: DocumentDelivery, _ rooms: Rooms, _ access: Access,
    _ rights: Rights, _ once: OnceRequests, _ audit: Audit
  ) {
    self.board = board
    self.delivery = delivery
    self.rooms = rooms
    self.access = access
    self.rights = rights
    self.once = once
    self.audit = audit
  }

  // MARK: Revoking

  func revoke(_ call: Call) throws(Response) {
    let fields = try accessFields(of: call)
    switch (fields.user, fields.token, fields.client) {
    // All users of an open demo have the empty name, so it identifies no user.
    case (let user?, nil, nil) where !user.isEmpty:
      record(.revoke, user, detail: "all tokens of the user", call)
      revoke(.user(user, before: dependencies.clock.now), call)
    case (nil, let token?, nil) where !token.isEmpty:
      record(.revoke, token, detail: "a token", call)
      revoke(.token(token), call)
    case (nil, nil, let client?):
      // Only the connection is closed: its token remains valid.
      record(.disconnect, client, call)
      let connection = connectionsByClient[client].flatMap { connections[$0] }
      connection.map(rights.closeRevoked)
      respondRevoked(closing: connection == nil ? 0 : 1, call)
    default:
      throw .problem(
        400, .badMessage, "expected one of \"user\", \"token\" (its jti) and \"client\"")
    }
  }

  private func revoke(_ revocation: Revocation, _ call: Call) {
    rights.revoke([revocation]) { [self] closed in
      if let closed { return respondRevoked(closing: closed, call) }
      respond(
        call.request,
        .problem(503, .unavailable, "the revocation could not be saved; try again later"))
    }
  }

  private func respondRevoked(closing closed: Int, _ call: Call) {
    dependencies.log.write(.notice, "revoked", [("connections", "\(closed)")])
    let body = JSONWriter.object { $0.field("connections", closed, &$1) }
    respondForAll(call, .json(200, body))
  }

  /// Adds a record of an action to the audit log. Of several gateways, only the first one does.
  func record(_ action: AuditAction, _ target: String, detail: String = "", _ call: Call) {
    guard !call.isPart else { return }
    audit.add(call.record(action, target, detail: detail, at: dependencies.clock.now))
  }

  private func accessFields(of call: Call) throws(Response) -> AccessJSON.Fields {
    guard let fields = AccessJSON.fields(in: call.body) else {
      throw .problem(400, .badMessage, "expected a JSON object")
    }
    return fields
  }

  // MARK: Tokens

  func makeToken(_ call: Call) throws(Response) {
    let fields = try accessFields(of: call)
    guard access.makesTokens else {
      throw .problem(404, .unknownDocument, "this server makes no tokens")
    }
    let seconds = fields.expiresIn ?? Self.tokenSecondsDefault
    guard let user = fields.user, !user.isEmpty,
      user.utf8.count <= settings.limits.nameBytesMax,
      !Identity.isReserved(user), Self.tokenSeconds.contains(seconds)
    else {
      throw .problem(
        400, .badMessage,
        "expected \"user\", which does not begin with \(Identity.guestPrefix) or "
          + "\(Identity.programPrefix), and \"expiresIn\" from "
          + "\(Self.tokenSeconds.lowerBound) to \(Self.tokenSeconds.upperBound)")
    }
    try access.checkName(fields.name ?? "")
    var grants: [Grant] = []
    do throws(GrantTextError) {
      for text in fields.documents { grants.append(try Grant(.documents, text: text)) }
      for text in fields.rooms { grants.append(try Grant(.rooms, text: text)) }
      for text in fields.folders { grants.append(try Grant(.folders, text: text)) }
    } catch {
      throw .problem(400, .badMessage, "\(error)")
    }
    func bearer(_ stamp: TokenStamp) -> Identity {
      Identity(
        user: user, name: fields.name, tokenID: stamp.id, issuedAt: stamp.time,
        expiresAt: stamp.time + Timestamp(seconds) * 1_000, grants: grants)
    }
    let stamp = once.tokenStamp(for: call.request, bearer)
    let identity = bearer(stamp)
    // A token that is too long or has too many rights would be rejected when used.
    guard let token = access.token(for: identity), access.opens(token, at: stamp.time) else {
      throw .problem(413, .tooLarge, "these are too many rights for one token; make several")
    }
    let granted = fields.documents + fields.rooms + fields.folders
    record(
      .makeToken, user, detail: "\(identity.tokenID ?? ""): \(granted.joined(separator: " "))", call
    )
    let body = JSONWriter.object { object, body in
      object.field("token", token, &body)
      object.field("id", identity.tokenID, &body)
      object.field("expiresAt", identity.expiresAt.map(Int.init), &body)
    }
    respond(call.request, .json(201, body))
  }

  // MARK: Answers of several gateways

  /// Responds to a request about connections. With several gateways in the process, first gathers
  /// the answers of the others.
  func respondForAll(_ call: Call, _ response: Response) {
    guard dependencies.hasOthers, !call.isPart else { return respond(call.request, response) }
    act(.gather(call.request, call.head, call.body, response))
  }
}
