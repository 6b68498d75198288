import ParleyGatewayPorts
import OTCore
import ParleyJSON
import SocketMessages

/// An open connection: its identity, and its documents and rooms.
///
/// A reference, owned by the gateway and confined to its loop.
final class Connection {
  /// The phase of a connection: `ready` follows `greeting`; `closing` is final.
  enum Phase {
    /// Waits for the hello message until the deadline, in milliseconds of uptime.
    case greeting(deadline: Int64)
    /// Serves requests within the connection's rights.
    case ready
    /// The close is under way; further messages are ignored.
    case closing
  }

  let id: ConnectionID
  /// The dialect of its messages.
  let dialect: Dialect
  /// The client's address, as reported by the transport; visible to operators only.
  var address: String
  /// The address whose limits the connection counts towards; `nil` without limits.
  var limitedAddress: IPAddress?
  let openedAt: Timestamp
  /// The index in ``Switchboard/openingOrder``.
  var openingIndex = 0
  @exclusivity(unchecked) var phase: Phase
  /// The client's identity; `nil` before the hello if the upgrade brought no token.
  var identity: Identity?
  /// Identities of additional tokens, whose rights are added.
  var passes: [Identity] = []
  /// Whether the client was warned that its token expires soon.
  var isWarned = false
  /// The client's id, issued by the server. It outlives the connection.
  var client = ""
  /// Whether the client had its id before this connection, perhaps at another node.
  var isReturning = false
  /// The maximum author numbers that the client retains for a document. Changes may name authors by
  /// these numbers. 0 if the client accepts no numbers.
  @exclusivity(unchecked) var numbersMax = 0
  /// The person's display name.
  var name = ""
  /// The person's colour, `#rrggbb`.
  var color: String?
  var subscriptions: [DocumentID: Subscription] = [:]
  /// Whether the client's last join asked for formatting; pages of changes then contain it.
  var knowsFormats = false
  /// Reads of documents' pages that are under way.
  var pageReads: [DocumentID: PageRead] = [:]
  /// Documents of which the client has read pages without following them.
  var surveyed: Set<DocumentID> = []
  var rooms: Set<RoomName> = []
  /// The numbers of attempts to subscribe to rooms that wait for the store, by room.
  var attempts: [RoomName: UInt64] = [:]

  /// Rooms in which the connection's person is present, with the person's id there. A silent
  /// connection retains them.
  var present: [RoomName: PersonID] = [:]
  /// The data with which the person is present in rooms.
  var presenceData: [RoomName: JSONValue] = [:]
  /// Profiles that an app assigns to the person in rooms, instead of the connection's own.
  var profiles: [RoomName: PersonProfile] = [:]
  /// The arrival time of the last message, in milliseconds of uptime.
  var heardAt: Int64 = 0
  /// Whether the connection has been silent for so long that its person is shown as gone.
  var isSilent = false
  /// The error codes of refused messages; each is logged once.
  var refusals: Set<ErrorCode> = []
  /// The rate limit of its pings.
  var signs = TokenBucket()
  /// The rate limit of its signals.
  var signals = TokenBucket()
  /// The rate limit of all its messages.
  var meter = Meter()

  init(
    id: ConnectionID, dialect: Dialect, address: String, openedAt: Timestamp, phase: Phase
  ) {
    self.id = id
    self.dialect = dialect
    self.address = address
    self.openedAt = openedAt
    self.phase = phase
  }

  /// The id shown to others: the token's user, or the client if the token names no single user.
  var person: PersonID { user ?? PersonID(client) }

  /// The token's user; `nil` if the token names no single user.
  var user: PersonID? {
    if let identity, !identity.isGuest, !identity.user.isEmpty {
      PersonID(identity.user)
    } else {
      nil
    }
  }

  /// Returns the rights of the connection's token and of additional tokens.
  func verbs(on subject: Subject) -> Verbs {
    guard let identity else { return [] }
    let verbs = passes.reduce(into: identity.verbs(on: subject)) {
      $0.formUnion($1.verbs(on: subject))
    }
    return verbs.union(verbsAsFollower(on: subject))
  }

  /// Returns the right to read a note's own room, while the connection follows the note.
  private func verbsAsFollower(on subject: Subject) -> Verbs {
    let prefix = Identity.noteRoomPrefix.utf8
    guard case .room(let name) = subject, name.text.utf8.starts(with: prefix),
      let note = String(name.text.utf8.dropFirst(prefix.count))
    else { return [] }
    return subscriptions[DocumentID(note)]?.verbs.intersection(.read) ?? []
  }

  /// Returns the rights to a document. Rights by its folder are missing while it is not in memory.
  func verbs(in room: DocumentRoom) -> Verbs {
    verbs(on: room.id, room.live)
  }

  /// Returns the rights to a document by its id and state.
  func verbs(on id: DocumentID, _ live: LiveDocument?) -> Verbs {
    verbs(onNote: id, in: live?.folder, madeAt: live?.createdAt)
  }

  /// Returns the rights to a note of a list.
  func verbs(on note: NoteSummary) -> Verbs {
    verbs(onNote: note.id, in: note.folder, madeAt: note.createdAt)
  }

  private func verbs(
    onNote id: DocumentID, in folder: FolderPath?, madeAt time: Timestamp?
  ) -> Verbs {
    guard let identity else { return [] }
    return passes.reduce(into: identity.verbs(onNote: id, in: folder, madeAt: time)) {
      $0.formUnion($1.verbs(onNote: id, in: folder, madeAt: time))
    }
  }

  /// Whether the connection might have a right to a document whose folder is unknown.
  func mayHave(_ verbs: Verbs, on id: DocumentID) -> Bool {
    guard let identity else { return false }
    return ([identity] + passes).contains {
      if case .refused = $0.right(to: verbs, ofNote: id) { false } else { true }
    }
  }

  /// Whether messages may be sent to the connection.
  var isOpen: Bool { if case .closing = phase { false } else { true } }

  /// Whether the deadline for the hello message has passed.
  func isOverdue(now: Int64) -> Bool {
    if case .greeting(let deadline) = phase { deadline <= now } else { false }
  }

  var isReady: Bool { if case .ready = phase { true } else { false } }
}

/// A connection's subscription to a document: a cursor into its log.
///
/// The memory is constant, however far a slow reader is behind. Fields that every delivery uses are
/// exempt from exclusivity checks: they are confined to one loop, and accesses never overlap.
final class Subscription: CaretHolder {
  unowned let connection: Connection
  unowned let room: DocumentRoom
  /// The index among the room's followers; `nil` if it is not among them.
  var followerIndex: Int?
  /// The connection's rights to the document.
  var verbs: Verbs = []
  /// The last revision queued for the connection.
  @exclusivity(unchecked) var revision: Int
  /// The revision of the text that a native client was sent without a request; 0 without one. A
  /// change with an earlier base is refused, because the client lacks the entries over which it
  /// would be rebased.
  var textRevision = 0
  /// Whether changes are refused until the connection joins again. Its client continues under a new
  /// id, and was promised that copies of its change in transit are not stored.
  var isFenced = false
  /// Whether one of the follower's changes has waited.
  var hasWaited = false
  /// Whether the client receives formatting, and states that of all text that it inserts.
  @exclusivity(unchecked) var formats = false
  /// The client's session in a shared log.
  var session = 0
  /// The newest author number that the client has received.
  @exclusivity(unchecked) var numberKnown = 0
  /// Whether the connection's queue was full; it continues from `revision` after it has drained.
  @exclusivity(unchecked) var isLagging = false
  /// The read of entries to catch up with that is under way.
  var catchUpRead: StoreTicket?
  /// The person's carets, at the document's durable head.
  @exclusivity(unchecked) var selections: [Selection] = []
  /// Whether the client has acted later at another node; then it is shown from that node.
  var isShownByOtherNode = false
  /// Whether the message about to be sent also concerns the connection's own person.
  var isOwnPersonInMessage = false
  /// The message ids of the connection's unanswered changes, by revision.
  @exclusivity(unchecked) var messageIDs: [Int: String] = [:]

  init(connection: Connection, room: DocumentRoom) {
    self.connection = connection
    self.room = room
    revision = 0
  }

  var caretOwner: String { connection.client }
}
