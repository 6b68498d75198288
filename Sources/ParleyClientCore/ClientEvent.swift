public import OTCore

/// Something that has happened to a client.
public enum ClientEvent: Sendable {
  // The connection.
  /// The app wants to be connected.
  case start
  /// The app wants no connection.
  case stop
  /// The connection asked for is open.
  case opened
  /// A text message came.
  case received([UInt8])
  /// The connection has ended, or could not be opened; 1006 if no code is known.
  case closed(code: UInt16)
  /// The time of ``ClientAction/wake(at:)`` has come.
  case wake
  /// The network is available again, or has changed.
  case reachable
  /// The answer to ``ClientAction/needToken``, `nil` if no token is available; or a new token,
  /// unasked.
  case token(String?)
  /// The person's name or colour is another.
  case profile(name: String, color: String?)
  /// No edits of the former person wait, so that the client may become another person's: it starts
  /// again.
  case changePerson
  /// The process may end soon: what is unconfirmed is kept now.
  case suspending

  /// Something about a note, by its document's id.
  case note(String, NoteEvent)
  /// Something about a room, by its name.
  case room(String, RoomEvent)
  /// The app asks for something, under a number of its own that names the answer. Up to 256 requests
  /// wait for answers; more are refused as `tooMany`.
  case ask(RoomRequest, as: Int64)
  /// The request with this number is given up.
  case giveUp(Int64)
}

/// Something that has happened to a note, by its document's id.
public enum NoteEvent: Sendable {
  /// The app opens the note. What was kept of it is given back here, and nowhere else: until then
  /// the machine knows nothing of it.
  case open(KeptNote?)
  /// After a failure, when rights may be others: tries to open the note again.
  case reopen
  /// The app closes the note. Nothing of it is shown from here. It is left once its edits are kept
  /// or confirmed, or cannot be; opened again before that, it continues.
  case leave
  /// An edit was made on the screen: an operation on the text that the screen showed.
  case edit(TextOperation)
  /// The person's carets, in scalars of the text on the screen.
  case select([Selection])
  /// After a final refusal: sends the edits again, together with those made since.
  case retryRefused
  /// Gives up the edits that are not confirmed, and takes the server's text.
  case discard
  /// An answer takes long: the change in flight is sent again as it was.
  case sendAgain
  /// A keep is on disk, and took so many milliseconds.
  case kept(took: Int64)
  /// A keep has failed.
  case keepFailed
  /// A keep came to nothing: this client has nowhere to keep edits, which last as long as it does.
  case unkept
}
