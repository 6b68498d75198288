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

extension StopCause: CustomStringConvertible {
  /// The reason, and what to do.
  public var description: String {
    switch self {
    case .asked: "the app has stopped the connection; call start()"
    case .noToken:
      "expected a token, the token function returned none; sign in, then call signedIn()"
    case .otherPerson:
      "the token is another person's, while edits of the former person wait; sign in as the former"
        + " person, or use a storage of its own for each person"
    case .closed(let code): "the server ended the connection: \(Self.words(ofClose: code))"
    case .refused(let refusal) where refusal.code == ErrorCode.unauthorised.rawValue:
      "the server refused the client: it expected a token that it accepts, and got none or another;"
        + " check the token's issuer, audience, signature and expiry"
    case .refused(let refusal): "the server refused the client: \(refusal)"
    }
  }

  /// Returns what a close code means, and what to do.
  static func words(ofClose code: UInt16) -> String {
    switch CloseReason(rawValue: code) {
    case .unauthorised:
      "the token is missing or not valid (\(code)); check its issuer, audience and signature"
    case .tokenExpired: "the token has expired (\(code)); the token function must return a new one"
    case .revoked: "the token was revoked (\(code)); sign in again"
    case .replaced:
      "the same client has connected elsewhere (\(code)); give each process a storage of its own"
    case .dismissed: "an operator ended it (\(code))"
    case let reason?: "\(reason) (\(code))"
    case nil: "close code \(code)"
    }
  }
}

/// An error code of the server.
public struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// The code, such as `notAllowed` or `tooLarge`; Protocol.md lists all of them.
  public let code: String
  /// The server's explanation, if there is one.
  public let message: String?

  init(_ code: ErrorCode) { self.init(code: code.rawValue, message: nil) }

  init(code: String, message: String?) {
    self.code = code
    self.message = message
  }

  /// A sentence with the code.
  public var description: String {
    "the server answers \(code)" + (message.map { ": \($0)" } ?? "")
  }
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
  /// No note has this id: none was ever made, or it was deleted before it was opened here.
  case unknownNote

  init(_ failure: NoteFailure) {
    switch failure {
    case .refused(let code): self = .refused(Refusal(code))
    case .readingLost: self = .readingLost
    case .disagreement: self = .disagreement
    }
  }
}

extension NoteTrouble: CustomStringConvertible {
  /// The reason, and what to do.
  public var description: String {
    switch self {
    case .refused(let refusal): "\(refusal)"
    case .readingLost: "the right to read it was revoked"
    case .disagreement: "client and server disagree about its state; open it again"
    case .storage(let reason): "the device's storage cannot be read: \(reason)"
    case .unknownNote: "no note has this id; create it first"
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
  /// An attribute or its value is not possible in a note, or a length ends within a character.
  case invalidFormat
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
  /// The server gave no answer. Edits remain, and are sent later.
  case noAnswer(NoAnswer)
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
    case .invalidFormat:
      "expected attributes with true, whole numbers or texts, and lengths of whole characters"
    case .isShowing: "changes of others are being shown; edit after that"
    case .refused(let refusal): "\(refusal); retry or discard the edits"
    case .failed(.unknownNote): "\(NoteTrouble.unknownNote)"
    case .failed(let trouble): "the note is not synchronised: \(trouble)"
    case .deleted: "the note is deleted"
    case .closed: "the note is closed"
    case .noAnswer(let reason): "\(reason)"
    case .cancelled: "the task was cancelled"
    }
  }
}
