import ParleyGatewayPorts
import SocketMessages

/// Notices: what others did in notes that concerns a person.
///
///     GET  /api/notices?limit=&before=   lists the caller's notices, the newest first
///     GET  /api/notices/unread           counts the unread ones, for each note
///     POST /api/notices/read             marks some as read
///
/// A notice is written in the commit of its cause (``StoreRequest/notifying(_:_:)``). The people
/// are chosen before, outside the commit; this part reads what is needed for that. Notices about
/// notes that a person may no longer read are not shown. The room `/notices/{user}` tells a
/// person's clients that something changed; they read the rest over HTTP.
final class Notices: Part {
  /// Default notices of a page, and the maximum.
  private static let pageDefault = 50
  private static let pageMax = 200
  /// Minimum notices that one step of a request reads. The steps together read all of a person's.
  private static let stepMin = 200
  /// Maximum notices removed by one request to the store, for each bound.
  private static let trimMax = 500
  /// Milliseconds between removals.
  private static let trimPause: Int64 = 3_600_000
  /// Maximum people whose updates are joined.
  private static let joinedMax = 10_000
  /// The resource that a person's room announces.
  private static let resource = "notices"

  let board: Switchboard
  private let access: Access
  private let rooms: Rooms
  private var callbacks = Callbacks<StoreOutcome<NoticeReply>>()
  private var trims = DueTimes(pause: Notices.trimPause)
  /// The people who were told of a change since the last tick, and those of them who have to be
  /// told of a further one.
  private var told: Set<PersonID> = []
  private var owed: Set<PersonID> = []

  init(_ board: Switchboard, _ access: Access, _ rooms: Rooms) {
    self.board = board
    self.access = access
    self.rooms = rooms
  }

  // MARK: Requests

  /// Responds with notices of the caller.
  func list(_ call: Call) throws(Response) {
    let person = try person(of: call)
    let limit = try call.query.limit(Self.pageDefault, max: Self.pageMax)
    guard let before = call.query.number("before").optional else {
      throw .problem(400, .badMessage, "expected before to be the id of a notice listed")
    }
    read(Reading(call: call, person: person, limit: limit, before: before))
  }

  /// A request for a page.
  private struct Reading {
    let call: Call
    let person: PersonID
    let limit: Int
    /// The number before which the next step reads.
    var before: Int?
    var found: [ListedNotice] = []
  }

  /// Reads notices in steps, until the page is full or the list has ended.
  private func read(_ reading: Reading) {
    let work = NoticeRequest.list(
      reading.person, before: reading.before, limit: max(reading.limit + 1, Self.stepMin))
    ask(work, under: .eachItem) { [self] outcome in
      switch outcome {
      case .success(.list(let notices, let next)):
        var reading = reading
        reading.found += notices.filter { notice in
          mayRead(reading.call.identity, notice.notice.note, notice.folder, notice.createdAt)
        }
        guard let next, reading.found.count <= reading.limit else { return answer(reading) }
        reading.before = next
        read(reading)
      default: refuse(reading.call.request, outcome)
      }
    }
  }

  private func answer(_ reading: Reading) {
    let shown = Array(reading.found.prefix(reading.limit))
    let next = reading.found.count > shown.count ? shown.last?.notice.number : nil
    respond(
      reading.call.request,
      reading.call.reader.answer(NoticeJSON.list(shown, next: next), packing: .letters))
  }

  /// Responds with the numbers of the caller's unread notices.
  func countUnread(_ call: Call) throws(Response) {
    ask(.unread(try person(of: call)), under: .eachItem) { [self] outcome in
      guard case .success(.unread(let all)) = outcome else { return refuse(call.request, outcome) }
      let readable = all.filter { mayRead(call.identity, $0.note, $0.folder, $0.createdAt) }
        .sorted { $0.note < $1.note }
      respond(
        call.request, call.reader.answer(NoticeJSON.unread(readable), packing: .letters))
    }
  }

  /// Marks notices of the caller as read.
  func markRead(_ call: Call) throws(Response) {
    let person = try person(of: call)
    guard let fields = NoticeJSON.fields(in: call.body), let choice = fields.choice else {
      throw .problem(
        400, .badMessage,
        "expected a JSON object with \"id\", with \"note\" and maybe \"through\", or with \"through\""
      )
    }
    ask(.read(person, choice), under: .token) { [self] outcome in
      guard case .success(.marked(let count)) = outcome else {
        return refuse(call.request, outcome)
      }
      respond(call.request, .json(200, NoticeJSON.marked(count)))
      if count > 0 { tell([person]) }
    }
  }

  /// Returns the caller; throws for guests and programs, who have no notices.
  private func person(of call: Call) throws(Response) -> PersonID {
    guard let person = call.identity.person, !Identity.isReserved(person.text) else {
      throw .problem(403, .notAllowed, "notices are a person's; sign in to see yours")
    }
    return person
  }

  private func mayRead(
    _ identity: Identity, _ note: DocumentID, _ folder: FolderPath, _ createdAt: Timestamp
  ) -> Bool {
    identity.verbs(onNote: note, in: folder, madeAt: createdAt).contains(.read)
  }

  private func refuse(_ request: RequestID, _ outcome: StoreOutcome<NoticeReply>) {
    switch outcome {
    case .success: refuse(request, .unavailable("another reply"), "notices not read")
    case .failure(let error): refuse(request, error, "notices not read")
    }
  }

  // MARK: People

  /// The place of a note, and the writers of a thread.
  struct Audience {
    let note: DocumentID
    let folder: FolderPath
    let createdAt: Timestamp
    let writers: [PersonID]
  }

  /// Reads who may get a notice about a note or about one of its threads.
  func findAudience(
    of note: DocumentID, thread: CommentID?, under right: StoreRight,
    then proceed: @escaping (StoreOutcome<Audience>) -> Void
  ) {
    ask(.audience(note: note, thread: thread), under: right) { outcome in
      proceed(
        outcome.flatMap { reply in
          guard case .audience(let folder, let createdAt, let writers) = reply else {
            return .failure(.unavailable("another reply"))
          }
          return .success(
            Audience(note: note, folder: folder, createdAt: createdAt, writers: writers))
        })
    }
  }

  /// Returns those people who get a notice about something that a person did: all but this person
  /// and those who are known to have no right to read the note. At most
  /// ``NoticeDraft/peopleMax``, in the order of their ids.
  func recipients(
    among people: [PersonID], of audience: Audience, butFor author: PersonID?,
    and others: [PersonID] = []
  ) -> [PersonID] {
    let meant = people.filter { person in
      person != author && !others.contains(person)
        && access.mightRead(person, audience.note, audience.folder, audience.createdAt)
    }
    return Array(Set(meant).sorted().prefix(NoticeDraft.peopleMax))
  }

  // MARK: Notices without another change of the store

  /// Adds a notice for a person who got a right to a note, by name.
  func noteShared(_ note: DocumentID, with person: PersonID) {
    let notice = Notice(kind: .shared, note: note, author: "", time: dependencies.clock.now)
    ask(.add(NoticeDraft(notice, for: [person])), under: .housekeeping) { [self] outcome in
      switch outcome {
      case .success: tell([person])
      case .failure(let error): log(.error, "notice of a right not stored", error.logName)
      }
    }
  }

  /// Removes all notices of a person who is no longer a user.
  func remove(of person: PersonID) {
    ask(.remove(of: person, limit: Self.trimMax), under: .housekeeping) { [self] outcome in
      switch outcome {
      case .success(.removed(hasMore: true)): remove(of: person)
      case .success: break
      case .failure(let error): log(.error, "notices of a user not removed", error.logName)
      }
    }
  }

  // MARK: Telling clients

  /// Tells the clients of people that their notices have changed. Between two ticks each person is
  /// told once, and once more at the tick if there was a further change.
  func tell(_ people: [PersonID]) {
    for person in people {
      if told.contains(person) {
        owed.insert(person)
      } else {
        if told.count < Self.joinedMax { told.insert(person) }
        publish(to: person)
      }
    }
  }

  private func publish(to person: PersonID) {
    let room = RoomName(Identity.noticeRoomPrefix + person.text)
    rooms.publish(resource: Self.resource, in: room, sender: nil)
  }

  // MARK: Bounds

  /// Tells people of changes that were held back. Removes old notices, when a removal is due.
  func ticked() {
    told = owed
    for person in owed.sorted() { publish(to: person) }
    owed = []
    let (now, uptime) = (dependencies.clock.now, dependencies.clock.uptime)
    guard trims.isDue(now: now, uptime: uptime), !board.isDraining else { return }
    trim(now: now)
  }

  private func trim(now: Timestamp) {
    ask(.trim(settings.notices, now: now, limit: Self.trimMax), under: .housekeeping) {
      [self] outcome in
      switch outcome {
      case .success(.removed(hasMore: true)) where !board.isDraining: trim(now: now)
      case .success: break
      // The notices are still old at the next removal.
      case .failure(let error): log(.warning, "old notices not removed", error.logName)
      }
    }
  }

  // MARK: The store

  private func ask(
    _ request: NoticeRequest, under right: StoreRight,
    then proceed: @escaping (StoreOutcome<NoticeReply>) -> Void
  ) {
    store(.notices(request), under: right, then: .notices(callbacks.add(proceed)))
  }

  /// Passes the store's reply to its callback.
  func finish(
    _ number: Callbacks<StoreOutcome<NoticeReply>>.Number, _ outcome: StoreOutcome<NoticeReply>
  ) {
    callbacks.take(number)(outcome)
  }
}
