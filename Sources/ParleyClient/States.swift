import ParleyClientCore
import SocketMessages

/// Returns a token for the next connection; `nil` if the person has to sign in first. If it throws,
/// it is called again after a pause.
public typealias TokenSource = @Sendable () async throws -> String?

/// A connection's state.
public enum ConnectionState: Sendable, Hashable {
  /// No connection, and no attempt at one.
  case stopped(StopCause)
  /// A token is being fetched, or a connection opened.
  case connecting
  /// Connected.
  case online
  /// The connection was lost; the next one is opened after a pause.
  case waiting

  init(_ state: LineState) {
    switch state {
    case .stopped(.asked): self = .stopped(.asked)
    case .stopped(.noToken): self = .stopped(.noToken)
    case .stopped(.otherPerson): self = .stopped(.otherPerson)
    case .stopped(.closed(let code)): self = .stopped(.closed(code: code))
    case .stopped(.refused(let code)): self = .stopped(.refused(Refusal(code)))
    case .authorising, .connecting, .greeting: self = .connecting
    case .online: self = .online
    case .waiting: self = .waiting
    }
  }
}

/// The reason why a client does not connect.
public enum StopCause: Sendable, Hashable {
  /// The app has not started the connection, or has stopped it.
  case asked
  /// There is no token: sign in, then ``Parley/signedIn()``.
  case noToken
  /// The token belongs to another person than before, while edits or publications of the former
  /// person wait. They are retained, and never sent as another person's: sign in as the former
  /// person, or connect with a separate storage for this person.
  case otherPerson
  /// The server has closed the connection for good, with a close code from 4500 to 4999.
  case closed(code: UInt16)
  /// The server refused the client's hello.
  case refused(Refusal)
}

/// An error code of the server.
public struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// The code, such as `notAllowed` or `tooLarge`; Protocol.md lists all of them.
  public let code: String

  init(_ code: ErrorCode) { self.code = code.rawValue }

  /// A sentence with the code.
  public var description: String { "the server answers \(code)" }
}

/// A note's state.
public enum NoteState: Sendable, Hashable {
  /// There is no text yet.
  case opening
  /// In sync with the server.
  case live
  /// The server is unreachable. The text is available and editable.
  case offline
  /// The note is not synchronised. Unconfirmed edits remain on the device.
  case failed(NoteTrouble)
  /// The note was deleted on the server.
  case deleted
  /// The app has closed the note.
  case closed

  init(_ phase: NoteStatus.Phase) {
    switch phase {
    case .joining: self = .opening
    case .live: self = .live
    case .away: self = .offline
    case .failed(let failure): self = .failed(NoteTrouble(failure))
    case .deleted: self = .deleted
    case .leaving, .left: self = .closed
    }
  }
}

/// The reason why a note or a room is not synchronised.
public enum NoteTrouble: Error, Sendable, Hashable {
  /// The server refused it.
  case refused(Refusal)
  /// The person's right to read it was revoked.
  case readingLost
  /// Server and client disagreed about the state three times.
  case disagreement
  /// The storage on the device could not be read; contains the reason as text.
  case storage(String)

  init(_ failure: NoteFailure) {
    switch failure {
    case .refused(let code): self = .refused(Refusal(code))
    case .readingLost: self = .readingLost
    case .disagreement: self = .disagreement
    }
  }
}

/// The reason why an edit was not made, or not stored.
public enum NoteError: Error, Sendable, Hashable {
  /// There is no text yet; await ``Note/opened()``.
  case notOpen
  /// The person may read the note, but not write in it.
  case readOnly
  /// The range, in UTF-16 units, exceeds the text.
  case outOfRange(Range<Int>, length: Int)
  /// The text would exceed the maximum length of a note.
  case tooLong
  /// Changes of others are being shown; edit after that.
  case isShowing
  /// The server refused the edits; see ``Note/retry()`` and ``Note/discard()``.
  case refused(Refusal)
  /// The note is not synchronised.
  case failed(NoteTrouble)
  /// The note was deleted on the server.
  case deleted
  /// The note was closed.
  case closed
  /// The task was cancelled.
  case cancelled
}

extension NoteError: CustomStringConvertible {
  /// The reason, and what to do.
  public var description: String {
    switch self {
    case .notOpen: "the note has no text yet; await opened()"
    case .readOnly: "the note may be read, but not written in"
    case .outOfRange(let range, let length):
      "expected a range within 0..<\(length) UTF-16 units, but it is \(range)"
    case .tooLong: "the text would be longer than any note"
    case .isShowing: "changes of others are being shown; edit after that"
    case .refused(let refusal): "\(refusal); retry or discard the edits"
    case .failed(let trouble): "the note is not synchronised: \(trouble)"
    case .deleted: "the note is deleted"
    case .closed: "the note is closed"
    case .cancelled: "the task was cancelled"
    }
  }
}
