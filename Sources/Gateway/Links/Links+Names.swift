import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Names under which every client that can reach the server may read a note.
///
///     GET    /api/notes/{id}/name   returns a note's name
///     PUT    /api/notes/{id}/name   {"name": "minutes-2026"} publishes it
///     DELETE /api/notes/{id}/name   withdraws the name
///     GET    /api/names/{name}      returns a token for the note; see `LinkService`
extension Links {
  /// Responds with a note's name.
  func tellName(_ call: Call) throws(Response) {
    guard settings.names.isOffered else { throw Self.publishesNothing }
    let request = call.request
    perform(.links(.names(.of(note: call.note))), request, under: try call.right, \.foundName) {
      [self] published, folder in
      guard folder != nil else {
        return respond(request, .problem(404, .unknownDocument, "no note has this id"))
      }
      respond(request, .json(200, LinkJSON.name(published, access.isDemo)))
    }
  }

  /// Publishes a note under a name, which replaces its former name.
  func publish(_ call: Call) throws(Response) {
    guard settings.names.isOffered, access.makesTokens else { throw Self.publishesNothing }
    guard let text = JSONBody.string("name", in: call.body) else {
      throw .problem(400, .badMessage, "expected a JSON object with a \"name\"")
    }
    let name: ReadableName
    do throws(ReadableNameError) {
      name = try ReadableName(text)
    } catch {
      throw .problem(400, .badMessage, "\(error)")
    }
    let draft = PublicName(
      id: PublicName.idPrefix + dependencies.names.next(), name: name, note: call.note,
      maker: call.identity.user, createdAt: dependencies.clock.now)
    let work = NameRequest.publish(draft, settings.names.limits)
    let request = call.request
    let recorded = audited(
      .links(.names(work)), .publish, call.name, detail: name.text, by: call)
    perform(recorded, request, under: try call.right, \.publishing) {
      [self] reply in
      respond(request, response(to: reply))
    }
  }

  private func response(to reply: NameReply) -> Response {
    switch reply {
    case .published(let published): .json(200, LinkJSON.name(published, access.isDemo))
    case .resting(let time): .json(409, LinkJSON.resting(until: time))
    case .tooMany:
      .problem(
        409, .tooMany,
        "the note, you or the server has the maximum number of names; withdrawn names count for "
          + "30 days")
    case .taken, .withdrawn, .name, .note, .unknown, .names:
      .problem(409, .idTaken, "another note has this name; choose another one")
    }
  }

  /// Withdraws a note's name, and closes the connections of its readers. Also works if names are no
  /// longer offered.
  func withdrawName(_ call: Call) throws(Response) {
    let (request, note, right) = (call.request, call.note, try call.right)
    perform(.links(.names(.of(note: note))), request, under: right, \.foundName) {
      [self] published, _ in
      let now = dependencies.clock.now
      let tokens = published.map {
        Revocation.timed($0.id, until: now + PublicName.tokenMilliseconds + 60_000)
      }
      // Revokes first: a retry after a failure still finds the name. A token that is issued
      // meanwhile is revoked as well, by its id.
      rights.revoke([tokens].compactMap(\.self)) { [self] closed in
        guard closed != nil else { return respond(request, .storeFailed) }
        let work = NameRequest.withdraw(note: note, now: now)
        let recorded = audited(
          .links(.names(work)), .withdraw, note.text, detail: published?.name.text ?? "", by: call)
        perform(recorded, request, under: right, \.withdrawnName) {
          [self] withdrawn in
          respond(
            request,
            withdrawn == nil
              ? .problem(404, .unknownType, "the note has no name") : Response(status: 204))
        }
      }
    }
  }

  /// Opens the note published under a name; `nil` for no note, or if names are not offered.
  func open(_ name: ReadableName, then proceed: @escaping (StoreOutcome<OpenedName?>) -> Void) {
    guard settings.names.isOffered else { return proceed(.success(nil)) }
    ask(.links(.names(.open(name))), under: .token, \.openedName) { [self] outcome in
      proceed(
        outcome.map { found in
          guard let (published, title) = found else { return nil }
          let reader = Identity.publicReader(of: published, at: dependencies.clock.now)
          guard !access.isRevoked(reader), let token = access.token(for: reader) else { return nil }
          return OpenedName(published: published, title: title, token: token, reader: reader)
        })
    }
  }

  /// A note that was opened by its name.
  struct OpenedName {
    let published: PublicName
    let title: String
    let token: String
    let reader: Identity
  }

  private static var publishesNothing: Response {
    .problem(
      404, .notOffered,
      "this server publishes no notes; the operator can allow it with public-names")
  }
}

/// The values of replies about names; `nil` for other replies.
extension LinkReply {
  fileprivate var publishing: NameReply? {
    switch self {
    case .names(let reply):
      switch reply {
      case .published, .taken, .resting, .tooMany: reply
      case .withdrawn, .name, .note, .unknown, .names: nil
      }
    case .made, .tooMany, .link, .unknown, .links, .ended: nil
    }
  }

  fileprivate var foundName: (name: PublicName?, folder: FolderPath?)? {
    if case .names(.name(let name, let folder)) = self { (name, folder) } else { nil }
  }

  fileprivate var withdrawnName: PublicName?? {
    if case .names(.withdrawn(let name)) = self { .some(name) } else { nil }
  }

  fileprivate var openedName: (published: PublicName, title: String)?? {
    switch self {
    case .names(.note(let published, let title)): .some((published, title))
    case .names(.unknown): .some(nil)
    case .names, .made, .tooMany, .link, .unknown, .links, .ended: nil
    }
  }
}
