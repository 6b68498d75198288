// What client and server say about tokens and rights while a connection stands.

extension ClientMessage {
  /// A newer token in place of that of the hello.
  public struct Refresh: Sendable, Equatable {
    /// Of the same user.
    public var token: String

    /// Makes a refresh.
    public init(token: String) { self.token = token }
  }
}

extension ServerMessage {
  /// Answers `refresh` and `grant`.
  public struct Refreshed: Sendable, Equatable {
    /// From when on the token no longer counts; `nil` for never.
    public var expiresAt: Int64?

    /// Makes a reply.
    public init(expiresAt: Int64?) { self.expiresAt = expiresAt }
  }

  /// The token's end is near.
  public struct TokenExpiring: Sendable, Equatable {
    /// When the connection will be closed.
    public var expiresAt: Int64

    /// Makes a message.
    public init(expiresAt: Int64) { self.expiresAt = expiresAt }
  }

  /// What the client may do with a document it follows is not what it was.
  public struct AccessChanged: Sendable, Equatable {
    /// What it may do now.
    public enum Access: String, Sendable, CaseIterable {
      /// Nothing: it no longer follows.
      case none
      /// See the text.
      case read
      /// Change it.
      case write
    }

    /// The document.
    public var documentID: String
    /// What it may do now.
    public var access: Access

    /// Makes a message.
    public init(documentID: String, access: Access) {
      self.documentID = documentID
      self.access = access
    }
  }
}
