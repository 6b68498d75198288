/// The state of a ``TwakeSocket``.
public enum TwakeSocketState: Sendable, Hashable {
  /// There is no connection, and no attempt at one.
  case stopped
  /// A token is being fetched, or a connection opened.
  case connecting
  /// Connected and authenticated.
  case online
  /// The connection was lost, for this reason; the next one is opened after a pause.
  case waiting(String)
  /// The server refused the user: no connection is opened until ``TwakeSocket/start()``.
  case refused(TwakeSocketError)
}

/// The reason why a call of a ``TwakeSocket`` failed.
public enum TwakeSocketError: Error, Sendable, Hashable {
  /// The socket is stopped.
  case stopped
  /// The token function has returned no token.
  case noToken
  /// The server refused the token; contains its message.
  case unauthorised(String)
  /// The server refused a room; contains its message.
  case roomRefused(room: String, String)
  /// The token function of a room has failed; contains its error. The room is joined without a token.
  case roomTokenFailed(room: String, String)
  /// The app has left the room.
  case left
  /// The server refused an event; contains its message.
  case notAllowed(String)
  /// There is no connection, or no answer in time; contains the last problem.
  case unreachable(String)
  /// The socket has 1,000 rooms.
  case tooManyRooms
  /// A value cannot be written as JSON.
  case notJSON
  /// The task was cancelled.
  case cancelled
}

extension TwakeSocketError: CustomStringConvertible {
  /// The reason, and what to do.
  public var description: String {
    switch self {
    case .stopped: "the socket is stopped; call start()"
    case .noToken:
      "expected a token, the token function returned none; sign in, then call start()"
    case .unauthorised(let message):
      "the server refused the token: \(message); sign in again, then call start()"
    case .roomRefused(_, let message): "the server refused the room: \(message)"
    case .roomTokenFailed(_, let reason): "the token function of the room failed: \(reason)"
    case .left: "the room was left; join it again"
    case .notAllowed(let message): "the server refused the event: \(message)"
    case .unreachable(let reason):
      "expected a connection to the server, there is none: \(reason); the socket still tries"
    case .tooManyRooms: "the socket has 1,000 rooms; leave one first"
    case .notJSON: "expected a value that can be written as JSON"
    case .cancelled: "the task was cancelled"
    }
  }
}
