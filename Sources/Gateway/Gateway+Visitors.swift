public import ParleyGatewayPorts

/// Requests of the program around the gateway for people who visit: sessions and links. The owner has to
/// take the actions afterwards.
extension Gateway {
  /// Has the store work with sessions of signed-in users. Tokens of sessions that end by it are taken back.
  public func perform(
    _ request: SessionRequest, then proceed: @escaping (Result<SessionReply, StoreError>) -> Void
  ) {
    sessions.perform(request, then: proceed)
  }

  /// Ends a session, and takes its tokens back.
  ///
  /// - Parameter proceed: Called with whether it has ended for good; if not, it may be asked for again.
  public func endSession(
    _ id: String, of user: String, then proceed: @escaping (_ hasEnded: Bool) -> Void
  ) {
    sessions.end(.one(id), of: user) { proceed($0 != nil) }
  }

  /// A link that a key or a published note's name has opened.
  public struct OpenedLink {
    /// The title of its note.
    public let title: String
    /// The answer for callers that have the key, in JSON.
    public let body: [UInt8]
  }

  /// Finds the link that a key opens; `nil` for none.
  public func openLink(
    _ key: String, then proceed: @escaping (Result<OpenedLink?, StoreError>) -> Void
  ) {
    links.open(key) { outcome in
      proceed(outcome.map { $0.map { OpenedLink(title: $0.title, body: LinkJSON.opened($0)) } })
    }
  }

  /// Finds the note that is published under a name; `nil` for none, and for all where names are not offered.
  public func openName(
    _ name: ReadableName, then proceed: @escaping (Result<OpenedLink?, StoreError>) -> Void
  ) {
    links.open(name) { outcome in
      proceed(outcome.map { $0.map { OpenedLink(title: $0.title, body: LinkJSON.opened($0)) } })
    }
  }

  /// Finds the title of a note that every client may read; `nil` for all others.
  public func openTitle(of note: DocumentID, then proceed: @escaping (String?) -> Void) {
    links.title(of: note, then: proceed)
  }
}
