import ParleyClientCore
import SocketMessages

/// The functions that ``Parley`` and ``ParleyService`` have in common: requests, and streams of
/// changes. Code that is written for this protocol runs in an app and in a service.
///
///     func copy(_ id: String, by parley: some ParleyConnecting) async throws -> String {
///       let note = await parley.note(id)
///       return try await note.currentText()
///     }
public protocol ParleyConnecting: AnyObject, Sendable {
  /// A note of this connection.
  associatedtype OpenNote: ConnectedNote
  /// A room of this connection.
  associatedtype OpenRoom: ConnectedRoom

  /// The connection's state.
  var connection: ConnectionState { get async }
  /// The connection's states, starting with the current one. Only the newest is buffered.
  var connections: Updates<ConnectionState> { get async }
  /// The reason why there is no connection, as text.
  var problem: String? { get async }
  /// The person's id according to the server; `nil` before the first connection, and if the token
  /// names no user.
  var personID: String? { get async }
  /// The server's features beside notes; `nil` before the first connection.
  var capabilities: Set<String>? { get async }
  /// The name as shown to others.
  var name: String { get async }
  /// The colour, `#rrggbb`.
  var color: String? { get async }
  /// The number of edits in open notes that the server has not confirmed.
  var unsaved: Int { get async }
  /// The server's time in milliseconds since 1970; `nil` before the first connection.
  var serverTime: Int64? { get async }
  /// Requests about notes, which need not be open.
  nonisolated var notes: NoteRequests { get }

  /// Returns a note, and opens it if it is not open.
  func note(_ id: String) async -> OpenNote
  /// Returns a room, and subscribes to it if necessary.
  func room(_ name: String, isPresent: Bool, from position: RoomPosition?) async -> OpenRoom
  /// Reconnects after ``stop()``, or after the server has ended the connection for good.
  func start() async
  /// Ends the connection until ``start()``. Unconfirmed edits are stored.
  func stop() async
  /// Requests a new token after the person has signed in.
  func signedIn() async
  /// Probes the connection, or opens one at once.
  func networkChanged() async
  /// Stores unconfirmed edits now, because the process may end soon.
  func willSuspend() async
  /// Changes the name and colour shown to others.
  func rename(_ name: String, color: String?) async
}

/// The functions that ``Note`` and ``ServiceNote`` have in common.
public protocol ConnectedNote: Identifiable, Sendable where ID == String {
  /// The title.
  var title: String { get async }
  /// The state.
  var state: NoteState { get async }
  /// The number of edits that the server has not confirmed.
  var unsaved: Int { get async }
  /// Whether this person may write in the note.
  var isWritable: Bool { get async }
  /// The refusal that blocks the edits; call ``retry()`` or ``discard()`` to continue.
  var refusal: Refusal? { get async }
  /// Whether writing the unconfirmed edits to the storage fails.
  var isStorageFailing: Bool { get async }
  /// The other clients in the note, with their carets, in the order of their ids.
  var participants: [Participant] { get async }
  /// The current text, then the changes of others.
  var updates: Updates<NoteUpdate> { get async }

  /// Waits until there is a text.
  func opened() async throws(NoteError)
  /// Waits until the server has all edits on its disk.
  func saved() async throws(NoteError)
  /// Returns the text, after waiting until there is one.
  func currentText() async throws(NoteError) -> String
  /// Replaces a range of UTF-16 units.
  func replace(_ range: Range<Int>, with text: String) async throws(NoteError)
  /// Inserts a text at the end.
  func append(_ text: String) async throws(NoteError)
  /// Shows this client's selections to the others.
  func select(_ selections: [TextSelection]) async
  /// Sends refused edits again.
  func retry() async
  /// Discards all edits that the server has not confirmed.
  func discard() async
  /// Retries opening a note that failed.
  func reopen() async
  /// Closes the note.
  func close() async
}

/// The functions that ``Room`` and ``ServiceRoom`` have in common.
public protocol ConnectedRoom: Identifiable, Sendable where ID == String {
  /// The room's name.
  var name: String { get }
  /// The state.
  var state: RoomState { get async }
  /// The newest publication's position.
  var position: RoomPosition? { get async }
  /// The people present, in the order of their ids; empty unless the room was opened with
  /// `isPresent`.
  var participants: [Participant] { get async }
  /// The room's publications, in order and each once.
  var updates: Updates<RoomUpdate> { get async }

  /// Waits until the room is subscribed.
  func opened() async throws(RoomError)
  /// Publishes JSON, and waits until the server has stored it.
  @discardableResult
  func publish(
    json: [UInt8], key: String?, senderID: String?
  ) async throws(PublishError) -> RoomPosition
  /// Shows this person as typing, or not.
  func setTyping(_ isTyping: Bool) async
  /// Unsubscribes from the room.
  func close() async
}

/// Another person in a note or a room, as a value; ``Person`` is the observable object.
public struct Participant: Sendable, Hashable, Identifiable {
  /// The client's id in a note, the person's in a room.
  public let id: String
  /// The id of the user in a note; see ``Person/personID``.
  public let personID: String?
  /// The name shown to others.
  public let name: String
  /// The colour, `#rrggbb`.
  public let color: String?
  /// The selections in a note, in UTF-16 units of its text; empty in a room.
  public let selections: [TextSelection]
  /// Whether the person edited the note a moment ago, or is typing in the room.
  public let isWriting: Bool
}

extension Parley: ParleyConnecting {}

extension Note: ConnectedNote {
  /// The other clients in the note as values.
  public var participants: [Participant] { people.map { Participant($0) } }

  /// Returns the text, after waiting until there is one.
  public func currentText() async throws(NoteError) -> String {
    try await opened()
    return text
  }
}

extension Room: ConnectedRoom {
  /// The people present as values.
  public var participants: [Participant] { people.map { Participant($0) } }

  /// Shows this person as typing, or not; see ``isTyping``.
  public func setTyping(_ isTyping: Bool) { self.isTyping = isTyping }
}

extension Participant {
  @MainActor fileprivate init(_ person: Person) {
    self.init(
      id: person.id, personID: person.personID, name: person.name, color: person.color,
      selections: person.selections,
      isWriting: person.isWriting)
  }
}

extension ParleyService: ParleyConnecting {}

extension ServiceNote: ConnectedNote {
  /// The title.
  public var title: String { get async { await service.screen(of: id).title } }
  /// Whether this person may write in the note.
  public var isWritable: Bool {
    get async { await service.screen(of: id).status.access == .write }
  }
  /// The refusal that blocks the edits: log it, then call ``retry()`` or ``discard()``.
  public var refusal: Refusal? { get async { await service.screen(of: id).refusal } }
  /// Whether writing the unconfirmed edits to the storage fails.
  public var isStorageFailing: Bool {
    get async { await service.screen(of: id).status.isKeepFailing }
  }
  /// The other clients in the note, with their carets, in the order of their ids.
  public var participants: [Participant] { get async { await service.participants(in: id) } }

  /// Returns the text, after waiting until there is one; the same as ``text()``.
  public func currentText() async throws(NoteError) -> String { try await text() }

  /// Shows this client's selections to the others; maximum: the server's `selectionsMax`.
  public func select(_ selections: [TextSelection]) async {
    await service.select(selections, in: id)
  }

  /// Sends refused edits again, together with later ones.
  public func retry() async { await service.send(.retryRefused, to: id) }

  /// Retries opening a note that failed, for example after its rights have changed.
  public func reopen() async { await service.reopen(id) }
}

extension ServiceRoom: ConnectedRoom {
  /// The state.
  public var state: RoomState { get async { await service.state(ofRoom: name) } }
  /// The people present, in the order of their ids; empty unless the room was opened with
  /// `isPresent`.
  public var participants: [Participant] { get async { await service.participants(inRoom: name) } }

  /// Shows this service as typing, or not. Others no longer see it as typing once the connection is
  /// lost.
  public func setTyping(_ isTyping: Bool) async { await service.set(isTyping: isTyping, in: name) }
}
