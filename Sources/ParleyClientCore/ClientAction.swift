public import OTCore
public import SocketMessages

/// Something that a client is to do. See the laws of ``ClientMachine``.
public enum ClientAction: Sendable, Equatable {
  // The socket, the clock, the app.
  /// Open a connection that offers `parley.v1`; answered by `opened` or `closed`.
  case connect
  /// Close the connection, or stop opening it; nothing of it is passed on from here.
  case disconnect
  /// Send a text message.
  case send([UInt8])
  /// Wake the client once at this time, instead of at the one named before; `nil` for never.
  case wake(at: Int64?)
  /// Get a token, and answer with `token`. Not repeated before the answer.
  case needToken
  /// Keep who this client is, in place of what was kept before. A secret.
  case claim(ClientClaim)

  // The screen.
  /// The connection's state is another.
  case line(LineState)
  /// The server has welcomed this client, and says this of itself.
  indirect case welcome(ServerMessage.Welcome)
  /// The token in use ends at this time, in milliseconds since 1970 by the server's clock.
  case tokenEnds(at: Int64)
  /// The server has taken a newer token (`nil`), or refuses it: then the former one counts on.
  case refreshed(ErrorCode?)
  /// The resource of this id has changed, as a room that is subscribed to tells; caused by an app
  /// that named itself so, if it did.
  case resource(String, by: String?)
  /// The answer to ``ClientEvent/ask(_:as:)`` of this number; once for each.
  indirect case answer(Int64, Result<RoomReply, RoomRequestFailure>)
  /// Something about a note, by its document's id.
  case note(String, NoteAction)
  /// Something about a room, by its name.
  case room(String, RoomAction)
}

/// Something that is to be done for a note.
public enum NoteAction: Sendable, Equatable {
  // The disk.
  /// Keep the note's unconfirmed edits, in place of what was kept of it before, in one step.
  ///
  /// `isRequired`: what is sent behind it goes beyond what was kept before. If it cannot be
  /// written, what was kept before has to go: a process restored from that might send edits twice.
  indirect case keep(KeptNote, isRequired: Bool)
  /// Nothing of the note is to be kept any longer.
  case forget

  // The screen.
  /// The screen starts from this text.
  case reset(Document)
  /// An operation for the text on the screen; by another client, or without a known author. It made
  /// this revision, or the last of several.
  case apply(TextOperation, by: String?, revision: Int64)
  /// The note's state is another.
  case status(NoteStatus)
  /// Others have come, gone, changed their names, begun to write or stopped:
  /// ``ClientMachine/people(in:)``.
  case people
  /// Others' carets may have moved.
  case carets
  /// The note's title is another.
  case title(String)
  /// Unconfirmed edits were placed by the difference of two texts, since the changes between them
  /// are not known: the person should check them. The ranges are in scalars of the text on the
  /// screen: the inserted text, and an empty range for deleted text.
  case rebased([Range<Int>])
  /// The server's messages did not fit to what is here, and the note is joined again.
  case outOfStep
  /// An edit does not fit the text: the screen has another one than the machine. The machine starts
  /// again from the `reset` that follows, if there is a text.
  case misfit
}

/// A connection's state.
public enum LineState: Sendable, Equatable {
  /// Not connected, until the app starts it.
  case stopped(StopReason)
  /// A token is being got.
  case authorising
  /// A connection is being opened.
  case connecting
  /// The connection is open, and the server has not welcomed this client yet.
  case greeting
  /// Messages go both ways.
  case online
  /// The connection was lost; the next one is opened at this time.
  case waiting(until: Int64)
}

/// Why a connection is not opened again by itself.
public enum StopReason: Sendable, Equatable {
  /// The app has not started it, or has stopped it.
  case asked
  /// The server closed the connection with a code that forbids reconnecting (4500 to 4999).
  case closed(code: UInt16)
  /// The server does not take the hello.
  case refused(ErrorCode)
  /// No token was available. A later one starts the connection again.
  case noToken
  /// The server takes the client for another person than before; see
  /// ``ClientEvent/changePerson``. Nothing was sent but the hello.
  case otherPerson
}

/// A note's state.
public struct NoteStatus: Sendable, Equatable {
  /// The note's phase.
  public enum Phase: Sendable, Equatable {
    /// There is no text yet.
    case joining
    /// In step with the server.
    case live
    /// The text is here, the server is not.
    case away
    /// The note could not be opened, or can no longer be read; edits stay here.
    case failed(NoteFailure)
    /// The note is gone from the server.
    case deleted
    /// The app has closed it; its edits are neither kept nor confirmed yet.
    case leaving
    /// The app has closed it, and all is done.
    case left
  }

  /// The phase.
  public var phase = Phase.joining
  /// Whether the person may change the text.
  public var access = ServerMessage.Joined.Access.write
  /// The number of edits that the server has not confirmed.
  public var unconfirmed = 0
  /// The refusal that holds the unconfirmed edits back, until `retryRefused` or `discard`.
  public var refusal: ErrorCode?
  /// The time at which a join or a change that was turned away is tried again.
  public var retryAt: Int64?
  /// Whether the unconfirmed edits could not be kept.
  public var isKeepFailing = false

  /// The state of a note that was just opened.
  public init() {}
}

/// Why a note is not followed.
public enum NoteFailure: Sendable, Equatable {
  /// The server refuses the join.
  case refused(ErrorCode)
  /// The person may no longer read it.
  case readingLost
  /// Server and client could not agree about the text, three times.
  case disagreement
}
