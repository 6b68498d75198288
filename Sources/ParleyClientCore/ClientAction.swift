public import OTCore
public import SocketMessages

/// An instruction to the client's owner. See the laws of ``ClientMachine``.
public enum ClientAction: Sendable, Equatable {
  // Actions for the socket, the clock and the app.
  /// Open a connection that offers `parley.v1`, and answer with `opened` or `closed`.
  case connect
  /// Close the connection, or stop opening it. Pass no further event of it to the machine.
  case disconnect
  /// Send a text message.
  case send([UInt8])
  /// Wake the client once at this time. This replaces the earlier time; `nil` cancels it.
  case wake(at: Int64?)
  /// Get a token, and answer with `token`. The request is not repeated before the answer.
  case needToken
  /// Store the client's identity in place of the stored one. It is a secret.
  case claim(ClientClaim)

  // Actions for the screen.
  /// The connection's state has changed.
  case line(LineState)
  /// The server has welcomed this client; the value is its description of itself.
  indirect case welcome(ServerMessage.Welcome)
  /// The token in use expires at this time, in milliseconds since 1970 by the server's clock.
  case tokenEnds(at: Int64)
  /// The server has accepted a newer token (`nil`), or rejected it with a code. A rejected token
  /// changes nothing: the former one remains valid.
  case refreshed(ErrorCode?)
  /// The resource with this id has changed, according to a subscribed room. `by` is the id that the
  /// cause of the change chose, if any.
  case resource(String, by: String?)
  /// The answer to ``ClientEvent/ask(_:as:)`` with this number; exactly one for each.
  indirect case answer(Int64, Result<RoomReply, RoomRequestFailure>)
  /// An instruction about a note, with its document's id.
  case note(String, NoteAction)
  /// An instruction about a room, with its name.
  case room(String, RoomAction)
}

/// An instruction to the owner of a client, about a note.
public enum NoteAction: Sendable, Equatable {
  // Actions for the disk.
  /// Store the note's unconfirmed edits in place of those stored before, in one step.
  ///
  /// `isRequired`: the next `send` contains more than the stored state. If the write fails, delete
  /// the stored state: a process restored from it might send edits twice.
  indirect case keep(KeptNote, isRequired: Bool)
  /// Delete the stored state of the note.
  case forget

  // Actions for the screen.
  /// Show this text in place of the present one. It has attributes only if the note was opened
  /// with formats.
  case reset(RichDocument)
  /// Apply another client's operation to the text on the screen. `by` is the author; `nil` if
  /// unknown. `revision` is the revision that the operation created, or the last of several.
  case apply(RichOperation, by: String?, revision: Int64)
  /// Apply a step of the undo history to the text on the screen, then show the selection.
  case step(RichOperation, selection: Selection)
  /// The note's kind has changed. A note is plain until this action.
  case kind(NoteKind)
  /// The note's state has changed.
  case status(NoteStatus)
  /// The list of other people has changed, or their names or who is writing; read
  /// ``ClientMachine/people(in:)``.
  case people
  /// The carets of other people may have moved.
  case carets
  /// The note's title has changed.
  case title(String)
  /// Unconfirmed edits were transformed over the difference of two texts, because the changes
  /// between the texts are unknown. The person should check them. The ranges are in scalars of the
  /// text on the screen: inserted text, and an empty range where text was deleted.
  case rebased([Range<Int>])
  /// The server's messages do not match this client's state; the client joins the note again.
  case outOfStep
  /// An edit does not fit the machine's text, so the screen must show another text. If the machine
  /// has a text, a `reset` follows, from which the screen continues.
  case misfit
}

/// A connection's state.
public enum LineState: Sendable, Equatable {
  /// The client is not connected. The app must start the connection, except after
  /// ``StopReason/noToken``.
  case stopped(StopReason)
  /// Waiting for a token.
  case authorising
  /// Opening a connection.
  case connecting
  /// The connection is open; the server has not welcomed this client yet.
  case greeting
  /// The server has welcomed this client.
  case online
  /// The connection was lost; the next one is opened at this time.
  case waiting(until: Int64)
}

/// The reason why a connection is not reopened automatically.
public enum StopReason: Sendable, Equatable {
  /// The app has not started the connection, or has stopped it.
  case asked
  /// The server closed the connection with a code that forbids reconnecting (4500 to 4999).
  case closed(code: UInt16)
  /// The server rejected the hello.
  case refused(ErrorCode)
  /// No token was available. A later `token` event starts the connection again.
  case noToken
  /// The server identifies the client as another person than before; see
  /// ``ClientEvent/changePerson``. Only the hello was sent.
  case otherPerson
}

/// A note's state.
public struct NoteStatus: Sendable, Equatable {
  /// The note's phase.
  public enum Phase: Sendable, Equatable {
    /// There is no text yet.
    case joining
    /// The note is synchronised with the server.
    case live
    /// The text is available, but the server is not reachable or has not answered the join.
    case away
    /// The note could not be joined, or can no longer be read. The edits remain on this device.
    case failed(NoteFailure)
    /// The note was deleted on the server.
    case deleted
    /// The app has closed the note; its edits are not stored or confirmed yet.
    case leaving
    /// The app has closed the note, and nothing remains to be done.
    case left
  }

  /// The phase.
  public var phase = Phase.joining
  /// Whether the person may change the text.
  public var access = ServerMessage.Joined.Access.write
  /// The number of edits that the server has not confirmed.
  public var unconfirmed = 0
  /// The refusal that holds back the unconfirmed edits, until `retryRefused` or `discard`.
  public var refusal: ErrorCode?
  /// The time of the retry of a rejected join, page or change.
  public var retryAt: Int64?
  /// Whether storing the unconfirmed edits has failed.
  public var isKeepFailing = false

  /// Creates the state of a note that was just opened.
  public init() {}
}

/// The reason why a note or room is not synchronised.
public enum NoteFailure: Sendable, Equatable {
  /// The server rejected the join or the subscription.
  case refused(ErrorCode)
  /// The person may no longer read the note or room.
  case readingLost
  /// Client and server disagreed several times in a row.
  case disagreement
}
