import ParleyGatewayPorts
import OTCore
import SocketMessages

/// An open connection: its identity, and its documents and rooms.
///
/// A reference, owned by the gateway and confined to its loop.
final class Connection {
  /// The phase of a connection: `ready` follows `greeting`; nothing follows `closing`.
  enum Phase {
    /// Waits for its hello until the deadline, in milliseconds of uptime.
    case greeting(deadline: Int64)
    /// May do what its rights allow.
    case ready
    /// Its close is under way; what it still sends is ignored.
    case closing
  }

  let id: ConnectionID
  /// The dialect of its messages.
  let dialect: Dialect
  /// The client's address, as far as the transport knows it; for operators alone.
  var address: String
  /// The address whose limits it counts towards; `nil` if there are none.
  var limitedAddress: IPAddress?
  let openedAt: Timestamp
  /// Its place in ``Switchboard/openingOrder``.
  var place = 0
  @exclusivity(unchecked) var phase: Phase
  /// The client's identity; `nil` before the hello if the upgrade brought no token.
  var identity: Identity?
  /// Identities of further tokens, whose rights count beside its own.
  var passes: [Identity] = []
  /// Whether it was warned that its token ends soon.
  var isWarned = false
  /// The client's id: minted by the server, outliving connections.
  var client = ""
  /// Whether the client had its id before, perhaps at another node.
  var isReturning = false
  /// The most authors of a document whose numbers it keeps, so that changes may name authors by numbers; 0
  /// if it takes no numbers.
  @exclusivity(unchecked) var numbersMax = 0
  /// The person's name as shown to others.
  var name = ""
  /// The person's colour, `#rrggbb`.
  var color: String?
  var subscriptions: [DocumentID: Subscription] = [:]
  /// The pages of documents' changes that are being read for it.
  var pageReads: [DocumentID: PageRead] = [:]
  /// Documents of which it has read pages without following them.
  var surveyed: Set<DocumentID> = []
  var rooms: ExactSet = []
  /// The attempts to subscribe to rooms that wait for the store, by their numbers.
  var attempts: ExactDictionary<UInt64> = [:]

  /// Rooms in which its person is present, or would be if the connection were not silent, and the person's
  /// id there.
  var present: ExactDictionary<PersonID> = [:]
  /// The profiles that an app gives its person in rooms, instead of the connection's own.
  var profiles: ExactDictionary<PersonProfile> = [:]
  /// The time of its last message, in milliseconds of uptime.
  var heardAt: Int64 = 0
  /// Whether it has been silent for so long that its person is shown as gone.
  var isSilent = false
  /// Why messages of it were refused, for the log: once for each reason.
  var refusals: Set<ErrorCode> = []
  /// The rate limit of its pings.
  var signs = TokenBucket()
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

  /// The person shown to others: the token's user, or the client where the token names no single
  /// user.
  var person: PersonID { user ?? client }

  /// The token's user; `nil` where the token names no single user.
  var user: PersonID? {
    if let identity, !identity.isGuest, !identity.user.isEmpty { identity.user } else { nil }
  }

  /// The rights of its own token, and of further ones.
  func verbs(on subject: Subject) -> Verbs {
    guard let identity else { return [] }
    let verbs = passes.reduce(into: identity.verbs(on: subject)) {
      $0.formUnion($1.verbs(on: subject))
    }
    return verbs.union(verbsAsFollower(on: subject))
  }

  /// The rights to a note's own room that follow from the note's folder, as long as it follows the note.
  private func verbsAsFollower(on subject: Subject) -> Verbs {
    let prefix = Identity.noteRoomPrefix.utf8
    guard case .room(let name) = subject, name.utf8.starts(with: prefix),
      let note = String(name.utf8.dropFirst(prefix.count))
    else { return [] }
    return subscriptions[DocumentID(note)]?.verbs.intersection(.read) ?? []
  }

  /// The rights to a document by its name and folder; without those by its folder while it is not in memory.
  func verbs(in room: DocumentRoom) -> Verbs {
    verbs(on: room.id, room.live)
  }

  /// The same by the document itself.
  func verbs(on id: DocumentID, _ live: LiveDocument?) -> Verbs {
    verbs(onNote: id, in: live?.folder, madeAt: live?.createdAt)
  }

  /// The same for a note of a list.
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

  /// Whether it might have a right to a document whose folder is not known.
  func mayHave(_ verbs: Verbs, on id: DocumentID) -> Bool {
    guard let identity else { return false }
    return ([identity] + passes).contains {
      if case .refused = $0.right(to: verbs, ofNote: id) { false } else { true }
    }
  }

  /// Whether it may still be sent to.
  var isOpen: Bool { if case .closing = phase { false } else { true } }

  /// Whether it should have said hello by now.
  func isOverdue(now: Int64) -> Bool {
    if case .greeting(let deadline) = phase { deadline <= now } else { false }
  }

  var isReady: Bool { if case .ready = phase { true } else { false } }
}

/// A connection's following of a document: a cursor into its log.
///
/// A slow reader costs this much, however far it is behind. Fields that every delivery uses are not checked
/// for overlapping accesses: they are on one loop, and each access is a load or a store.
final class Subscription: CaretHolder {
  unowned let connection: Connection
  unowned let room: DocumentRoom
  /// The place among the room's followers; `nil` while it is not among them.
  var place: Int?
  /// The connection's rights to the document.
  var verbs: Verbs = []
  /// The last revision queued for the connection.
  @exclusivity(unchecked) var revision: Int
  /// The revision of the text that a native client was sent unasked, 0 if none was. Its changes from before
  /// are refused: it knows the text, and not how its change was transformed.
  var textRevision = 0
  /// Whether its changes are refused until it joins again: its client has another id by now, and was
  /// promised that copies of its change that are still on the way are not stored.
  var isFenced = false
  /// Whether one of its changes has had to wait.
  var hasWaited = false
  /// The client's session, in a log that several nodes share.
  var session = 0
  /// The newest author's number that it has received.
  @exclusivity(unchecked) var numberKnown = 0
  /// Whether too much is queued for the connection; it continues from `revision` when it has drained.
  @exclusivity(unchecked) var isLagging = false
  /// The read of entries for it that is under way.
  var catchUpRead: StoreTicket?
  /// The person's carets, on the document's durable head.
  @exclusivity(unchecked) var selections: [Selection] = []
  /// Whether its client has acted at another node since it acted here: it is shown as it is there.
  var isSucceeded = false
  /// Whether the message about to be sent is about the connection itself, too.
  var isConcerned = false
  /// The message ids of the connection's own changes, by revision, until they are answered.
  @exclusivity(unchecked) var messageIDs: [Int: String] = [:]

  init(connection: Connection, room: DocumentRoom) {
    self.connection = connection
    self.room = room
    revision = 0
  }

  var caretOwner: String { connection.client }
}
