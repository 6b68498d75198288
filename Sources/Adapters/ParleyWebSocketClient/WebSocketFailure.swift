/// The reason why a connection could not be opened.
public enum WebSocketFailure: Error, Sendable, Hashable {
  /// The address is malformed; expected is `ws://host:port/path` or `wss://…`.
  case badURL
  /// The file of trusted certificates cannot be read, or contains none in PEM form.
  case badCertificates(file: String)
  /// The host's name cannot be resolved.
  case unknownHost
  /// No address of the host accepts connections; contains the system's message.
  case unreachable(String)
  /// The server's certificate is rejected.
  case certificate(CertificateError)
  /// The TLS handshake has failed.
  case encryption
  /// The server responded with this status instead of 101.
  case status(Int)
  /// The server's response does not accept the WebSocket.
  case notWebSocket(String)
  /// Opening took too long.
  case timedOut
  /// The caller has cancelled the opening.
  case cancelled
}

/// The reason why a server's certificate is rejected.
public enum CertificateError: Sendable, Hashable {
  /// The certificate was issued by an authority that is not trusted, or is self-signed.
  case unknownAuthority
  /// The certificate is for another host than the one in the address.
  case wrongHost
  /// The certificate has expired.
  case expired
  /// The certificate is not valid yet.
  case notYetValid
  /// Another reason; contains OpenSSL's message.
  case other(String)
}

extension CertificateError: CustomStringConvertible {
  /// The reason, and what to do.
  public var description: String {
    switch self {
    case .unknownAuthority:
      "it was issued by an authority that is not trusted here; if that is your own, name a file "
        + "with the authority's certificate"
    case .wrongHost:
      "it is for another host than the one in the address; connect by a name that is in it"
    case .expired: "it has expired; the server needs a new one, or the clock here is wrong"
    case .notYetValid: "its time has not begun; the clock here may be wrong"
    case .other(let reason): reason
    }
  }
}

extension WebSocketFailure: CustomStringConvertible {
  /// The reason, and what to do.
  public var description: String {
    switch self {
    case .badURL: "the server's address is expected as ws://host:port/path or wss://host/path"
    case .badCertificates(let file): "no certificates in PEM form can be read from \(file)"
    case .unknownHost: "the server's name is not known here; check the address and the network"
    case .unreachable(let reason): "the server does not accept connections: \(reason)"
    case .certificate(let certificateError):
      "the server's certificate is not accepted: \(certificateError)"
    case .encryption: "the TLS handshake failed; check that the server speaks TLS on this port"
    case .status(let status): "the server answered with HTTP status \(status) instead of 101"
    case .notWebSocket(let reason): "expected a WebSocket server: \(reason)"
    case .timedOut: "the server did not answer in time"
    case .cancelled: "the connection was given up"
    }
  }
}

/// The end of an open connection.
public struct WebSocketEnd: Error, Sendable, Hashable {
  /// The status of the server's close frame; 1005 if it had none, 1006 if there was no close frame.
  public let code: UInt16

  /// Creates an end.
  public init(code: UInt16) { self.code = code }

  /// The connection was lost.
  public static let lost = WebSocketEnd(code: 1006)
}
