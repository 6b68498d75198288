public import ParleyGatewayPorts

/// Requests of the surrounding program on behalf of users: sessions and links. The owner must then
/// take the actions.
extension Gateway {
  /// Has the store perform a request about user sessions. The tokens of ended sessions are revoked.
  ///
  /// - Parameter record: The record for the audit log; `nil` for none.
  public func perform(
    _ request: SessionRequest, record: AuditRecord? = nil,
    then proceed: @escaping (Result<SessionReply, StoreError>) -> Void
  ) {
    sessions.perform(request, record: record, then: proceed)
  }

  /// Adds a record of an action outside the store to the audit log.
  public func audit(_ record: AuditRecord) { audit.add(record) }

  /// Adds a record of a refused sign-in to the audit log, unless there were too many of its address.
  package func auditRefusal(_ record: AuditRecord, of client: LimitedClient?) {
    audit.addRefusal(record, of: client)
  }

  /// Adds a notice for a user who got a right to a note, by name.
  package func noteShared(_ note: DocumentID, with user: String) {
    notices.noteShared(note, with: PersonID(user))
  }

  /// Removes all notices of a user who was removed.
  package func removeNotices(of user: String) { notices.remove(of: PersonID(user)) }

  /// Ends a session, and revokes its tokens.
  ///
  /// - Parameter proceed: Called with whether the session has ended permanently; if not, retry.
  public func endSession(
    _ id: String, of user: String, record: AuditRecord? = nil,
    then proceed: @escaping (_ hasEnded: Bool) -> Void
  ) {
    sessions.end(.one(id), of: user, record: record) { proceed($0 != nil) }
  }

  /// A link opened by its key, or by the name of a published note.
  public struct OpenedLink {
    /// The title of the linked note.
    public let title: String
    /// The response body for callers that have the key, in JSON.
    public let body: [UInt8]
  }

  /// Finds the link that a key opens; `nil` if missing.
  public func openLink(
    _ key: String, then proceed: @escaping (Result<OpenedLink?, StoreError>) -> Void
  ) {
    links.open(key) { outcome in
      proceed(outcome.map { $0.map { OpenedLink(title: $0.title, body: LinkJSON.opened($0)) } })
    }
  }

  /// Finds the note published under a name; `nil` if missing, or names are not offered.
  public func openName(
    _ name: ReadableName, then proceed: @escaping (Result<OpenedLink?, StoreError>) -> Void
  ) {
    links.open(name) { outcome in
      proceed(outcome.map { $0.map { OpenedLink(title: $0.title, body: LinkJSON.opened($0)) } })
    }
  }

  /// Finds the title of a note that every client may read; `nil` for any other note.
  public func openTitle(of note: DocumentID, then proceed: @escaping (String?) -> Void) {
    links.title(of: note, then: proceed)
  }
}
