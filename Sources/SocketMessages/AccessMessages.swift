// Messages about tokens and rights on an open connection.

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
    /// The time at which the connection will be closed, in milliseconds since 1970.
    public var expiresAt: Int64

    /// Makes a message.
    public init(expiresAt: Int64) { self.expiresAt = expiresAt }
  }

  /// A change of the client's rights to a document that it follows.
  public struct AccessChanged: Sendable, Equatable {
    /// The client's rights from now on.
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
    /// The client's rights from now on.
    public var access: Access

    /// Makes a message.
    public init(documentID: String, access: Access) {
      self.documentID = documentID
      self.access = access
    }
  }
}
