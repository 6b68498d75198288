import ParleyGatewayPorts
import SocketMessages

/// The identity and rights of a caller over HTTP. Each check throws the answer if it fails.
extension Access {
  /// The identity of a caller within its rate, by token or API key.
  func identity(of head: RequestHead) throws(Response) -> Identity {
    let identity = try bearer(of: head)
    if let excess = rates.excess(ofRequestBy: identity) { throw response(to: passed(excess)) }
    return identity
  }

  /// The bearer of a request's token or API key, who is not counted yet.
  func bearer(of head: RequestHead) throws(Response) -> Identity {
    let token = token(in: head)
    if head.entrance != .back, settings.takesKeysAtBackAlone, isKey(token) { throw .keyElsewhere }
    do throws(AuthenticationError) {
      return try bearer(of: token)
    } catch {
      log(.notice, "token refused", "\(error)")
      throw error == .unverified
        ? .unverified : .problem(401, .unauthorised, error.words).challenging
    }
  }

  /// Refuses what the caller may not do.
  func require(_ verbs: Verbs, _ subject: Subject, of identity: Identity) throws(Response) {
    guard identity.may(verbs, subject) else { throw notGranted() }
  }

  /// Refuses what the caller may not do with an existing note.
  ///
  /// - Returns: The right for the work. If it depends on the note's folder, the store refuses the work if the note is in
  ///   another folder at that moment, or gone.
  func require(
    _ verbs: Verbs, note id: DocumentID, isDeleted: Bool = false, of identity: Identity
  ) throws(Response) -> StoreRight {
    guard let right = StoreRight(verbs, onNote: id, isDeleted: isDeleted, of: identity) else {
      throw notGranted()
    }
    return right
  }

  /// Refuses callers who may not make a note in a folder.
  func requireMaking(
    _ id: DocumentID, in folder: FolderPath, of identity: Identity
  ) throws(Response) -> StoreRight {
    guard let right = StoreRight(making: id, in: folder, verbs: identity.verbs(on:)) else {
      throw notGranted()
    }
    return right
  }

  private func notGranted() -> Response {
    log(.info, "request refused", ErrorCode.notAllowed.rawValue)
    return .notGranted
  }

  /// Refuses callers who are no operators.
  func requireOperator(_ identity: Identity) throws(Response) {
    guard identity.isOperator else {
      throw .problem(403, .notAllowed, "this takes the API key of an operator")
    }
  }

  // MARK: Names

  /// The name under which the caller's writing is kept.
  func author(_ claimed: String?, _ identity: Identity) throws(Response) -> String {
    // First the claim: it can be as long as a body.
    try checkName(claimed ?? "")
    let author = name(of: identity, claimed: claimed ?? "")
    try checkName(author)
    return author
  }

  /// Refuses a name that is over its limit.
  func checkName(_ name: String) throws(Response) {
    let bytesMax = settings.limits.nameBytesMax
    guard name.utf8.count <= bytesMax else {
      throw .problem(
        413, .tooLarge, "a name may have \(bytesMax) bytes, not \(name.utf8.count)")
    }
  }

  // MARK: Upgrades

  /// The response to refuse an upgrade with, or `nil` to let it pass.
  func refusal(ofUpgrade head: RequestHead, as opening: Opening) -> Response? {
    if let excess = excess(ofConnecting: head) { return response(to: excess) }
    switch opening {
    case .bayeux: return nil
    case .pusher: return settings.dialects.pusher.apps.isEmpty ? .noSocketHere : nil
    case .native, .whaler, .socketIO: break
    }
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
