import ParleyGatewayPorts
import SocketMessages

/// Authentication and authorization over HTTP. Each check throws the response if it fails.
extension Access {
  /// Authenticates a caller by token or API key, and counts the request against the caller's rate.
  func identity(of head: RequestHead) throws(Response) -> Identity {
    let identity = try bearer(of: head)
    if let excess = rates.excess(ofRequestBy: identity) { throw response(to: passed(excess)) }
    return identity
  }

  /// Authenticates a caller by token or API key, without counting the request.
  func bearer(of head: RequestHead) throws(Response) -> Identity {
    let token = token(in: head)
    if head.entrance != .back, settings.acceptsKeysOnlyInternally, isKey(token) {
      throw .keyElsewhere
    }
    do throws(AuthenticationError) {
      return try bearer(of: token)
    } catch {
      log(.notice, "token refused", "\(error)")
      throw error == .unverified
        ? .unverified : .problem(401, .unauthorised, error.words).challenging
    }
  }

  /// Throws 403 if the caller lacks rights.
  func require(_ verbs: Verbs, _ subject: Subject, of identity: Identity) throws(Response) {
    guard identity.may(verbs, subject) else { throw notGranted() }
  }

  /// Throws 403 if the caller cannot have the rights to an existing note.
  ///
  /// - Returns: The right for the store request. If it depends on the note's folder, the store
  ///   rejects the request when the note is then in another folder or deleted.
  func require(
    _ verbs: Verbs, note id: DocumentID, isDeleted: Bool = false, of identity: Identity
  ) throws(Response) -> StoreRight {
    guard let right = StoreRight(verbs, onNote: id, isDeleted: isDeleted, of: identity) else {
      throw notGranted()
    }
    return right
  }

  /// Throws 403 if the caller cannot create a note in a folder.
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

  /// Throws 403 unless the caller is an operator.
  func requireOperator(_ identity: Identity) throws(Response) {
    guard identity.isOperator else {
      throw .problem(403, .notAllowed, "this requires the API key of an operator")
    }
  }

  // MARK: Names

  /// Returns the author name stored with what the caller writes.
  func author(_ claimed: String?, _ identity: Identity) throws(Response) -> String {
    // Check the claimed name first: it can be as long as a body.
    try checkName(claimed ?? "")
    let author = name(of: identity, claimed: claimed ?? "")
    try checkName(author)
    return author
  }

  /// Throws 413 if a name exceeds its maximum length.
  func checkName(_ name: String) throws(Response) {
    let bytesMax = settings.limits.nameBytesMax
    guard name.utf8.count <= bytesMax else {
      throw .problem(
        413, .tooLarge, "a name may have \(bytesMax) bytes, not \(name.utf8.count)")
    }
  }

  // MARK: Upgrades

  /// Returns the response that rejects an upgrade; `nil` if the upgrade may proceed.
  func refusal(ofUpgrade head: RequestHead, as opening: ClientKind) -> Response? {
    if let excess = excess(ofConnecting: head) { return response(to: excess) }
    switch opening {
    case .bayeux: return nil
    case .pusher: return settings.dialects.pusher.apps.isEmpty ? .noSocketHere : nil
    case .native, .whaler, .socketIO, .shareDB, .rustpad: break
    }
    guard !isDemo else { return nil }
    let token = token(in: head)
    if case .native = opening, token == nil { return nil }
    do throws(AuthenticationError) {
      let identity = try identity(for: token)
      if let excess = excess(ofConnecting: identity) { return response(to: excess) }
      if case .whaler(let pool?) = opening, !identity.may(.read, .room(RoomName(pool))) {
        log(.notice, "pool refused", "no right")
        return .problem(403, .notAllowed, "the token does not grant this pool")
      }
      return nil
    } catch {
      log(.notice, "token refused", "\(error)")
      return .refusal(error)
    }
  }

  /// Returns the identity of a new connection; `nil` if the upgrade's token is rejected, or if the
  /// client must send a token in its hello.
  func identity(openingWith token: String?) -> Identity? {
    guard let token else { return isDemo ? .demo : nil }
    return try? identity(for: token)
  }
}
