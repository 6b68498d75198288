public import ParleyGatewayPorts
import ParleyJSON

/// Creates webhook events: from store commits, and from calls for everything else.
public struct WebhookRecorder: OutboxRecorder {
  /// The kinds of events that are sent.
  public var events: Set<WebhookEvent>
  /// Milliseconds after a note's first change until it is reported, with all changes since.
  public var changeMilliseconds: Timestamp
  /// The values of rooms whose changes are sent.
  public var values: [WebhookValueRule] = []
  /// Whether offline followers are notified of publications that ask for it.
  public var pushes: Bool
  /// Whether another service is notified when rooms become occupied or vacant.
  public var followsRooms: Bool
  /// The clock for requests without a time. Read on the store's thread.
  private let clock: any Clock & Sendable

  /// Creates a recorder.
  public init(
    clock: any Clock & Sendable, events: Set<WebhookEvent> = WebhookEvent.standard,
    changeMilliseconds: Timestamp = 5_000,
    pushes: Bool = false, followsRooms: Bool = false
  ) {
    self.clock = clock
    self.events = events
    self.changeMilliseconds = changeMilliseconds
    self.pushes = pushes
    self.followsRooms = followsRooms
  }

  // MARK: Events from store commits

  /// Returns the events that report a successful request.
  public func drafts(for request: StoreRequest, _ reply: StoreReply) -> [OutboxDraft] {
    switch request {
    case .create(let id, _, _, let time, _, _): note(.noteCreated, id, at: time, reply)
    case .rename(let id, _, let time): note(.noteRenamed, id, at: time, reply)
    case .delete(let id, _): deleted(id)
    case .deleted(.bringBack(let id)): note(.noteUndeleted, id, at: clock.now, reply)
    case .append(let id, let epoch, let entries, _): changed(id, epoch: epoch, entries.last)
    case .room(.publish(let room, let draft, _, _)): published(draft, in: room, reply)
    case .people(.flag(let room, let flag)): flagged(flag, in: room, reply)
    case .people(.unflag(let place, let person)): unflagged(place, person, reply)
    case .comments(let request): commented(request, reply)
    case .folders(.move(let id, _, let title, let time)):
      moved(id, isRenamed: title != nil, at: time, reply)
    case .folders(.moveAll): movedAll(reply)
    case .once(.perform(let work, _, _)), .within(_, let work), .audited(_, let work),
      .notifying(_, let work):
      drafts(for: work, reply)
    case .once(.create(let draft, _, _)): created(draft.id, at: draft.time, reply)
    default: []
    }
  }

  /// Returns an event of a kind, if the webhook receives this kind.
  private func news(
    _ event: WebhookEvent, about subject: String, at time: Timestamp, hold: Timestamp = 0,
    releasesHeld: Bool = false, _ fields: (inout JSONWriter.Object, inout [UInt8]) -> Void
  ) -> [OutboxDraft] {
    guard events.contains(event) else { return [] }
    return [event.draft(about: subject, at: time, hold: hold, releasesHeld: releasesHeld, fields)]
  }

  private func note(
    _ event: WebhookEvent, _ id: DocumentID, at time: Timestamp, _ reply: StoreReply
  ) -> [OutboxDraft] {
    guard case .note(let note) = reply else { return [] }
    return news(event, about: id.text, at: time) { object, data in
      object.field("note", JSONValue(trusted: NoteJSON.note(note)), &data)
    }
  }

  private func moved(
    _ id: DocumentID, isRenamed: Bool, at time: Timestamp, _ reply: StoreReply
  ) -> [OutboxDraft] {
    guard case .folders(.note(let note)) = reply else { return [] }
    let renamed =
      isRenamed ? self.note(.noteRenamed, id, at: time, .note(note)) : []
    return renamed + self.note(.noteMoved, id, at: clock.now, .note(note))
  }

  private func movedAll(_ reply: StoreReply) -> [OutboxDraft] {
    guard case .folders(.moved(let notes, _, _)) = reply else { return [] }
    return notes.flatMap { note(.noteMoved, $0.id, at: clock.now, .note($0)) }
  }

  private func created(
    _ id: DocumentID, at time: Timestamp, _ reply: StoreReply
  ) -> [OutboxDraft] {
    guard case .once(.created(let note)) = reply else { return [] }
    return self.note(.noteCreated, id, at: time, .note(note))
  }

  private func deleted(_ id: DocumentID) -> [OutboxDraft] {
    news(.noteDeleted, about: id.text, at: clock.now, releasesHeld: true) { object, data in
      object.key("note", &data)
      JSONWriter.object(&data) { $0.field("id", id.text, &$1) }
    }
  }

  private func changed(
    _ id: DocumentID, epoch: Epoch, _ entry: LogEntry?
  ) -> [OutboxDraft] {
    guard let entry else { return [] }
    return news(.noteChanged, about: id.text, at: entry.time, hold: changeMilliseconds) {
      object, data in
      object.key("note", &data)
      JSONWriter.object(&data) { object, data in
        object.field("id", id.text, &data)
        object.field("epoch", epoch.text, &data)
        object.field("revision", entry.revision, &data)
      }
    }
  }

  private func commented(_ request: CommentRequest, _ reply: StoreReply) -> [OutboxDraft] {
    let event: WebhookEvent
    let comment: Comment
    switch (request.work, reply) {
    case (.add, .comments(.kept(let made))): (event, comment) = (.commentCreated, made)
    case (.edit, .comments(.kept(let edited))): (event, comment) = (.commentEdited, edited)
    case (.resolve(_, let isResolved, _, _), .comments(.kept(let changed))):
      (event, comment) = (isResolved ? .commentResolved : .commentReopened, changed)
    case (.remove, .comments(.removed(let removed))): (event, comment) = (.commentDeleted, removed)
    case (.list, _), (.quote, _), (.add, _), (.edit, _), (.resolve, _), (.remove, _): return []
    }
    return news(event, about: request.note.text, at: clock.now) { object, data in
      object.key("note", &data)
      JSONWriter.object(&data) { $0.field("id", request.note.text, &$1) }
      object.key("comment", &data)
      CommentJSON.append(comment, &data)
    }
  }

  private func published(
    _ draft: PublicationDraft, in room: RoomName, _ reply: StoreReply
  ) -> [OutboxDraft] {
    guard case .room(.published(let position, let time, isRepeated: false)) = reply else {
      return []
    }
    var publication = draft.publication
    publication.offset = position.offset
    publication.time = time
    let news = PublicationExport(room: room, epoch: position.epoch, publication: publication)
    var drafts = self.news(.roomPublished, about: room.text, at: time) { news.write(&$0, &$1) }
    drafts += changedValues(draft.change, in: news)
    if pushes, draft.pushes, publication.data != nil { drafts.append(news.draftForFollowers) }
    return drafts
  }

  /// Returns the event with the operations on values whose names the operator has chosen.
  private func changedValues(
    _ change: ValueChange?, in news: PublicationExport
  ) -> [OutboxDraft] {
    let rules = values.filter { $0.rooms.matches(news.room.text) }
    guard !rules.isEmpty, let change else { return [] }
    let operations = change.operations.filter { operation in
      rules.contains { $0.names.matches(operation.name.text) }
    }
    guard !operations.isEmpty else { return [] }
    var chosen = news
    chosen.publication.data = nil
    chosen.publication.values = ValueOperation.json(of: operations)
    return self.news(.valuesChanged, about: news.room.text, at: news.publication.time) {
      chosen.write(&$0, &$1)
    }
  }

  private func flagged(
    _ flag: PublicationFlag, in room: RoomName, _ reply: StoreReply
  ) -> [OutboxDraft] {
    guard case .people(.done) = reply else { return [] }
    return news(.publicationFlagged, about: room.text, at: flag.time) { object, data in
      object.field("room", room, &data)
      object.field("offset", flag.offset, &data)
      object.field("personId", flag.personID, &data)
      object.field("reason", flag.reason, &data)
    }
  }

  private func unflagged(
    _ place: PublicationAddress, _ person: PersonID, _ reply: StoreReply
  ) -> [OutboxDraft] {
    guard case .people(.done) = reply else { return [] }
    return news(.publicationUnflagged, about: place.room.text, at: clock.now) { object, data in
      object.field("room", place.room, &data)
      object.field("offset", place.offset, &data)
      object.field("personId", person, &data)
    }
  }

  // MARK: Events from calls

  /// Returns the event that the server has started.
  public func serverStarted(at time: Timestamp) -> [OutboxDraft] {
    news(.serverStarted, about: "", at: time) { _, _ in }
  }

  /// Returns the events that a room has its first subscriber, or has lost its last one.
  public func occupancy(
    of room: RoomName, isOccupied: Bool, at time: Timestamp
  ) -> [OutboxDraft] {
    let event = isOccupied ? WebhookEvent.roomOccupied : .roomVacated
    var drafts = news(event, about: room.text, at: time) { $0.field("room", room, &$1) }
    if followsRooms {
      let action = isOccupied ? "occupied" : "vacated"
      var draft = event.draft(about: room.text, at: time) { object, data in
        object.field("action", action, &data)
        object.field("room", room, &data)
      }
      draft.target = .rooms
      drafts.append(draft)
    }
    return drafts
  }

  /// Returns the events that people have entered or left a room.
  public func presence(_ change: PresenceChange, at time: Timestamp) -> [OutboxDraft] {
    let joined = change.joined.flatMap { person in
      news(.personJoined, about: change.room.text, at: time) { object, data in
        object.field("room", change.room, &data)
        object.field("personId", person.personID, &data)
        object.field("name", person.name, &data)
      }
    }
    let left = change.left.flatMap { person in
      news(.personLeft, about: change.room.text, at: time) { object, data in
        object.field("room", change.room, &data)
        object.field("personId", person, &data)
      }
    }
    return joined + left
  }

  /// Returns the push notification for an offline person.
  public func push(_ notification: PushNotification) -> OutboxDraft {
    OutboxDraft(
      target: .push, type: "push", subject: notification.room.text,
      time: notification.publication.time, data: notification.json)
  }
}
