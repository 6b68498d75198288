// Messages about tokens and rights on an open connection.

extension ClientMessage {
  /// A request to replace the token of the hello with a newer one.
  public struct Refresh: Sendable, Equatable {
    /// The new token, which must be of the same user.
    public var token: String

    /// Creates a refresh with a token.
    public init(token: String) { self.token = token }
  }
}

extension ServerMessage {
  /// The reply to `refresh` and `grant`.
  public struct Refreshed: Sendable, Equatable {
    /// The time at which the token expires, in milliseconds since 1970; `nil` for never.
    public var expiresAt: Int64?

    /// Creates a reply with the token's expiry.
    public init(expiresAt: Int64?) { self.expiresAt = expiresAt }
  }

  /// A warning that the token is about to expire.
  public struct TokenExpiring: Sendable, Equatable {
    /// The time at which the connection will be closed, in milliseconds since 1970.
    public var expiresAt: Int64

    /// Creates a warning with the time of the closing.
    public init(expiresAt: Int64) { self.expiresAt = expiresAt }
  }

  /// A push: the client's rights to a document that it follows have changed.
  public struct AccessChanged: Sendable, Equatable {
    /// The rights of a client to a document.
    public enum Access: String, Sendable, CaseIterable {
      /// No rights: the client no longer follows the document.
      case none
      /// Read the text.
      case read
      /// Read and change the text.
      case write
    }

    /// The document.
    public var documentID: String
    /// The client's new rights.
    public var access: Access

    /// Creates a push with the new rights.
    public init(documentID: String, access: Access) {
      self.documentID = documentID
      self.access = access
    }
  }
}
