import GatewayPorts
import JSON
import SocketMessages

/// Links that let anybody who has them into a note.
///
///     POST   /api/notes/{id}/share   {"access": "read", "expiresIn": 604800} makes one
///     DELETE /api/notes/{id}/share   ends all that were made until now
///
/// A link is a token that the server signs: nothing is kept of it. All links of a note belong to one
/// user of their own, and so end together.
extension HTTP {
  /// Seconds that a link may be good for.
  private static let shareSeconds = 60...(366 * 86_400)
  /// Seconds that it is if nobody says.
  private static let shareSecondsDefault = 7 * 86_400

  func share(_ call: Call) {
    let (request, id) = (call.request, call.name)
    guard access.makesTokens else {
      respond(request, .problem(404, .unknownDocument, "this server makes no links"))
      return
    }
    guard let fields = AccessJSON.fields(in: call.body),
      let level = fields.access.flatMap(NotesRequest.LinkAccess.init(rawValue:))
    else {
      respond(
        request,
        .problem(
          400, .badMessage,
          "expected a JSON object with \"access\": \"read\", \"comment\" or \"write\""))
      return
    }
    let seconds = fields.expiresIn ?? Self.shareSecondsDefault
    guard Self.shareSeconds.contains(seconds) else {
      respond(
        request,
        .problem(
          400, .badMessage,
          "expected expiresIn from \(Self.shareSeconds.lowerBound) to "
            + "\(Self.shareSeconds.upperBound) seconds"))
      return
    }
    let verbs = level.verbs
    // Nobody gives away what they do not have.
    guard access.allows(call.identity, verbs.union(.manage), note: id, request) else { return }
    func link(_ stamp: TokenStamp) -> Identity {
      var guest = Identity(
        user: Identity.guestPrefix + id, tokenID: stamp.id, issuedAt: stamp.time,
        expiresAt: stamp.time + Timestamp(seconds) * 1_000,
        // Exactly this one: an id may end with what would be a pattern.
        grants: [Grant(.documents, NamePattern(exactly: id), verbs)])
      guest.isGuest = true
      return guest
    }
    let guest = link(tokenStamp(for: request, link))
    store(
      .versions(id: id),
      for: .notes(request, .share(NotesRequest.Share(identity: guest, access: level, note: id))))
  }

  func answer(_ request: RequestID, _ share: NotesRequest.Share) {
    guard let token = access.token(for: share.identity) else { return }
    var body: [UInt8] = []
    JSONWriter.object(&body) { object, body in
      // Behind the #, where it reaches no server's log.
      object.field("path", "/n/\(PercentEncoding.encoded(share.note))#share=\(token)", &body)
      object.field("token", token, &body)
      object.field("access", share.access.rawValue, &body)
      object.field("expiresAt", share.identity.expiresAt.map(Int.init), &body)
      object.field("isProtected", !access.isDemo, &body)
    }
    respond(request, .json(201, body))
  }

  /// Ends all links of a note, if there is such a note: others have none, and would be remembered.
  func endShares(_ call: Call) {
    store(.versions(id: call.name), for: .notes(call.request, .endShares(call.name)))
  }

  func finishEndingShares(_ request: RequestID, id: DocumentID) {
    let user = Identity.guestPrefix + id
    guard revoke(.user(user, before: surroundings.clock.now), request) != nil else { return }
    respond(request, Response(status: 204))
  }
}
