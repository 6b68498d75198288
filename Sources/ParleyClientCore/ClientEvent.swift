public import OTCore

/// An event of a client.
public enum ClientEvent: Sendable {
  // Events of the connection.
  /// The app starts the connection.
  case start
  /// The app stops the connection.
  case stop
  /// The requested connection is open.
  case opened
  /// A text message was received.
  case received([UInt8])
  /// The connection was closed or could not be opened; code 1006 if none is known.
  case closed(code: UInt16)
  /// The time of ``ClientAction/wake(at:)`` was reached.
  case wake
  /// The network is available again, or has changed.
  case reachable
  /// The answer to ``ClientAction/needToken``, `nil` if no token is available; or an unrequested
  /// new token.
  case token(String?)
  /// The person's name or colour has changed.
  case profile(name: String, color: String?)
  /// The client acts for another person from now on, and connects again, after
  /// ``StopReason/otherPerson``. Pass this only if no edits of the former person wait.
  case changePerson
  /// The process may end soon: the machine stores unconfirmed edits now.
  case suspending

  /// An event of a note, with its document's id.
  case note(String, NoteEvent)
  /// An event of a room, with its name.
  case room(String, RoomEvent)
  /// The app sends a request, with a number that identifies the answer. Maximum 256 requests wait
  /// for answers; further ones are refused as `tooMany`.
  case ask(RoomRequest, as: Int64)
  /// The app no longer waits for the request with this number.
  case giveUp(Int64)
}

/// An event of a note.
public enum NoteEvent: Sendable {
  /// The app opens the note, with its stored state if there is one. The machine receives stored
  /// state only by this event. `formats`: the app shows formatting; otherwise it sees and changes
  /// the text alone.
  indirect case open(KeptNote?, formats: Bool = false)
  /// The app opens the note again after a failure, because rights may have changed.
  case reopen
  /// The app closes the note; no further actions for the screen follow. The note is left once its
  /// edits are stored or confirmed, or can be neither. If the app opens it before that, it
  /// continues.
  case leave
  /// The person has made an edit: an operation on the text on the screen. In a plain note, only an
  /// edit that makes it a rich one may have formatting.
  case edit(RichOperation)
  /// The person undoes the newest own edit that still has an effect, or redoes one. Only in notes
  /// that were opened with formats.
  case undo, redo
  /// The next edit is a separate step of the undo history: the person has moved the caret, or
  /// pastes.
  case endStep
  /// The person's carets, in scalars of the text on the screen.
  case select([Selection])
  /// After a final refusal, the app sends the edits again, together with later ones.
  case retryRefused
  /// The app discards the unconfirmed edits; the server's text replaces the local one.
  case discard
  /// The answer to the change in flight is late: the machine sends it again unaltered.
  case sendAgain
  /// A `keep` is on disk; writing it took this many milliseconds.
  case kept(took: Int64)
  /// A `keep` has failed.
  case keepFailed
  /// A `keep` had no effect, because this client has no storage. Its edits live as long as the
  /// process.
  case unkept
}

extension NoteEvent {
  /// Returns the event of an edit without formatting.
  public static func edit(_ operation: TextOperation) -> NoteEvent {
    .edit(RichOperation(operation))
  }
}
