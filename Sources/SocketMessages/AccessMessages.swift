import JSON

// What client and server say about tokens and rights while a connection stands.

extension ClientMessage {
  /// A newer token in place of that of the hello.
  public struct Refresh: Sendable, Equatable {
    /// Of the same user.
    public var token: String

    /// Makes a refresh.
    public init(token: String) { self.token = token }

    init(_ envelope: Envelope, _ type: StaticString) throws(MessageError) {
      var token: String?
      self = try envelope.read(type) { key, reader throws(JSONError) in
        switch key {
        case "token": token = try reader.string()
        default: try reader.skipValue()
        }
      } make: { () throws(JSONError) in
        Self(token: try token.required("token"))
      }
    }
  }
}

extension ServerMessage {
  /// Answers `refresh` and `grant`.
  public struct Refreshed: Sendable, Equatable {
    /// From when on the token no longer counts; `nil` for never.
    public var expiresAt: Int64?

    /// Makes a reply.
    public init(expiresAt: Int64?) { self.expiresAt = expiresAt }

    init(_ envelope: Envelope, _ type: StaticString) throws(MessageError) {
      var expiresAt: Int64?
      self = try envelope.read(type) { key, reader throws(JSONError) in
        switch key {
        case "expiresAt": expiresAt = try reader.optionalTime()
        default: try reader.skipValue()
        }
      } make: { () throws(JSONError) in
        Self(expiresAt: expiresAt)
      }
    }

    func encode(_ data: inout JSONWriter.Object, _ buffer: inout [UInt8]) {
      data.field("expiresAt", expiresAt, &buffer)
    }
  }

  /// The token's end is near.
  public struct TokenExpiring: Sendable, Equatable {
    /// When the connection will be closed.
    public var expiresAt: Int64

    /// Makes a message.
    public init(expiresAt: Int64) { self.expiresAt = expiresAt }

    init(_ envelope: Envelope) throws(MessageError) {
      var expiresAt: Int64?
      self = try envelope.read("tokenExpiring") { key, reader throws(JSONError) in
        switch key {
        case "expiresAt": expiresAt = try reader.integer(as: Int64.self)
        default: try reader.skipValue()
        }
      } make: { () throws(JSONError) in
        Self(expiresAt: try expiresAt.required("expiresAt"))
      }
    }
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

    init(_ envelope: Envelope) throws(MessageError) {
      var documentID: String?
      var access: String?
      self = try envelope.read("accessChanged") { key, reader throws(JSONError) in
        switch key {
        case "documentId": documentID = try reader.string()
        case "access": access = try reader.string()
        default: try reader.skipValue()
        }
      } make: { () throws(JSONError) in
        Self(
          documentID: try documentID.required("documentId"), access: try access.word("access"))
      }
    }
  }
}
