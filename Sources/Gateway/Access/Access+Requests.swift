import GatewayPorts
import SocketMessages

/// The identity and rights of whoever asks over HTTP. Each check answers the request if it fails.
extension Access {
  /// The identity of a request's maker, by token or API key; `nil` if that is nobody, or they have
  /// made too many.
  func identity(of head: RequestHead, _ request: RequestID) -> Identity? {
    let identity: Identity
    let token = token(in: head)
    do throws(AuthenticationError) {
      if let program = program(with: token) {
        guard head.entrance == .back || !settings.takesKeysAtBackAlone else {
          respond(request, .keyElsewhere)
          return nil
        }
        guard let program else { throw .unknownKey }
        identity = program
      } else {
        identity = try self.identity(for: token)
      }
    } catch {
      log(.notice, "token refused", "\(error)")
      respond(
        request,
        error == .unverified
          ? .unverified : .problem(401, .unauthorised, error.words).challenging)
      return nil
    }
    if let excess = rates.excess(ofRequestBy: identity) {
      respond(request, response(to: passed(excess)))
      return nil
    }
    return identity
  }

  /// Whether somebody may do what a request wants.
  func allows(
    _ identity: Identity, _ verbs: Verbs, _ subject: Subject, _ request: RequestID
  ) -> Bool {
    if identity.may(verbs, subject) { return true }
    refuse(request)
    return false
  }

  /// Whether somebody may do what a request wants with a note that is there.
  ///
  /// Where that depends on the note's folder, the request goes on under a condition, by which the store
  /// refuses it if the note is elsewhere at that moment, or nowhere.
  func allows(
    _ identity: Identity, _ verbs: Verbs, note id: DocumentID, isDeleted: Bool = false,
    _ request: RequestID
  ) -> Bool {
    switch identity.right(to: verbs, ofNote: id) {
    case .granted:
      board.restrict(request, to: nil)
      return true
    case .inFolders(let rights):
      board.restrict(
        request, to: FolderCondition(id: id, rights: rights, isOfDeleted: isDeleted))
      return true
    case .refused:
      refuse(request)
      return false
    }
  }

  private func refuse(_ request: RequestID) {
    log(.info, "request refused", ErrorCode.notAllowed.rawValue)
    respond(request, .notGranted)
  }

  /// Whether a request is an operator's.
  func isOperator(_ head: RequestHead, _ request: RequestID) -> Bool {
    identity(of: head, request).map { isOperator($0, request) } ?? false
  }

  /// Whether somebody is an operator.
  func isOperator(_ identity: Identity, _ request: RequestID) -> Bool {
    if !identity.isOperator {
      respond(request, .problem(403, .notAllowed, "this takes the API key of an operator"))
    }
    return identity.isOperator
  }

  // MARK: Upgrades

  /// The response to refuse an upgrade with, or `nil` to let it pass.
  func refusal(ofUpgrade head: RequestHead, as opening: Opening) -> Response? {
    if let excess = excess(ofConnecting: head) { return response(to: excess) }
    if case .bayeux = opening { return nil }
    guard !isDemo else { return nil }
    let token = token(in: head)
    if case .native = opening, token == nil { return nil }
    do throws(AuthenticationError) {
      let identity = try identity(for: token)
      if let excess = excess(ofConnecting: identity) { return response(to: excess) }
      if case .whaler(let pool?) = opening, !identity.may(.read, .room(pool)) {
        log(.notice, "pool refused", "no right")
        return .problem(403, .notAllowed, "the token does not grant this pool")
      }
      return nil
    } catch {
      log(.notice, "token refused", "\(error)")
      return .refusal(error)
    }
  }

  /// Returns the identity that opened a connection; `nil` if a hello has to give it, or the token
  /// is rejected.
  func identity(openingWith token: String?) -> Identity? {
    guard let token else { return isDemo ? .demo : nil }
    return try? identity(for: token)
  }
}
