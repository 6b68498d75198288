import ParleyGatewayPorts
import ParleyJSON
import ParleyGrowthKit
import OTCore
import ParleyStoreSQLite
import Testing

/// Each request of the store's ports, at one store size and at eight times this size.
@Suite("What each request of a store costs", .serialized)
struct StoreGrowthTests {
  /// The kinds of requests. A new request makes `kind(of:)` incomplete, and then needs a row below.
  enum Kind: String, CaseIterable, Sendable {
    case create, rename, delete, note, list, notes, load, entries, append, snapshot, text, history
    case sessions, difference, versions, saveVersion, deleteVersion, renewEpoch, compact, tell,
      wipe, probe
    case publish, page, recover, renewRoomEpoch, roomHeads, values, endingValues
    case receipt, receipts, flag, unflag, flags, member, members, block, blocks, online, lastOnline
    case putGroup, deleteGroup, group, groups, putMember, removeMember, groupMembers
    case like, likes, read, badges
    case deletedNotes, bringBack, removeDeleted, removeOlder
    case keptAnswer, keepAnswer, createOnce
    case moveNote, folderNotes, listFolders, foldersOf, moveFolder
    case putFile, listFiles, readFile, unsettledFiles, searchFiles, settleFiles
    case listComments, quote, addComment, editComment, resolve, removeComment
    case beginSession, renewSession, listSessions, endSession
    case makeLink, openLink, listLinks, endLink
    case publishNote, withdrawName, nameOf, openName, listNames
    case addAudit, auditPage, trimAudit
    case addNotice, listNotices, unreadNotices, readNotices, audience, removeNotices, trimNotices
    case take, settle, deadLetters

    init(_ request: StoreRequest) {
      switch request {
      case .create: self = .create
      case .rename: self = .rename
      case .delete: self = .delete
      case .deleted(.list): self = .deletedNotes
      case .deleted(.bringBack): self = .bringBack
      case .deleted(.remove): self = .removeDeleted
      case .deleted(.removeOlder): self = .removeOlder
      case .note: self = .note
      case .list: self = .list
      case .notes: self = .notes
      case .load: self = .load
      case .entries: self = .entries
      case .append: self = .append
      case .snapshot: self = .snapshot
      case .text: self = .text
      case .history: self = .history
      case .past(_, .sessions): self = .sessions
      case .past(_, .difference): self = .difference
      case .versions: self = .versions
      case .saveVersion: self = .saveVersion
      case .deleteVersion: self = .deleteVersion
      case .renewEpoch: self = .renewEpoch
      case .compact: self = .compact
      case .tell: self = .tell
      case .probe: self = .probe
      // Only stores shared by nodes perform these; a store with one owner rejects them immediately.
      case .rollBackFailedCommits, .news, .heads, .fence: self = .wipe
      case .room(.publish): self = .publish
      case .room(.page): self = .page
      case .room(.values): self = .values
      case .room(.ending): self = .endingValues
      case .room(.recover): self = .recover
      case .room(.renewEpoch): self = .renewRoomEpoch
      case .room(.heads): self = .roomHeads
      case .people(.receipt): self = .receipt
      case .people(.receipts): self = .receipts
      case .people(.flag): self = .flag
      case .people(.unflag): self = .unflag
      case .people(.flags): self = .flags
      case .people(.member): self = .member
      case .people(.members): self = .members
      case .people(.block): self = .block
      case .people(.blocks): self = .blocks
      case .people(.online): self = .online
      case .people(.lastOnline): self = .lastOnline
      case .groups(.put): self = .putGroup
      case .groups(.delete): self = .deleteGroup
      case .groups(.group): self = .group
      case .groups(.groups): self = .groups
      case .groups(.putMember): self = .putMember
      case .groups(.removeMember): self = .removeMember
      case .groups(.members): self = .groupMembers
      case .groups(.like): self = .like
      case .groups(.likes): self = .likes
      case .groups(.read): self = .read
      case .groups(.badges): self = .badges
      case .logins(.begin): self = .beginSession
      case .logins(.renew): self = .renewSession
      case .logins(.list): self = .listSessions
      case .logins(.end): self = .endSession
      case .links(.make): self = .makeLink
      case .links(.open): self = .openLink
      case .links(.list): self = .listLinks
      case .links(.end): self = .endLink
      case .links(.names(.publish)): self = .publishNote
      case .links(.names(.withdraw)): self = .withdrawName
      case .links(.names(.of)): self = .nameOf
      case .links(.names(.open)): self = .openName
      case .links(.names(.list)): self = .listNames
      case .files(.put): self = .putFile
      case .files(.list): self = .listFiles
      case .files(.read): self = .readFile
      case .files(.unsettled): self = .unsettledFiles
      case .files(.search): self = .searchFiles
      case .files(.settle): self = .settleFiles
      case .comments(let request):
        switch request.work {
        case .list: self = .listComments
        case .quote: self = .quote
        case .add: self = .addComment
        case .edit: self = .editComment
        case .resolve: self = .resolve
        case .remove: self = .removeComment
        }
      case .once(.answer): self = .keptAnswer
      case .once(.perform): self = .keepAnswer
      case .once(.create): self = .createOnce
      case .folders(.move): self = .moveNote
      case .folders(.notes): self = .folderNotes
      case .folders(.list): self = .listFolders
      case .folders(.of): self = .foldersOf
      case .folders(.moveAll): self = .moveFolder
      case .audit(.add): self = .addAudit
      case .audit(.page): self = .auditPage
      case .audit(.trim): self = .trimAudit
      case .notices(.add): self = .addNotice
      case .notices(.list): self = .listNotices
      case .notices(.unread): self = .unreadNotices
      case .notices(.read): self = .readNotices
      case .notices(.audience): self = .audience
      case .notices(.remove): self = .removeNotices
      case .notices(.trim): self = .trimNotices
      // These add a few rows to the work.
      case .audited(_, let work), .notifying(_, let work), .within(_, let work): self.init(work)
      }
    }

    init(_ request: OutboxRequest) {
      switch request {
      case .take: self = .take
      case .settle: self = .settle
      case .deadLetters: self = .deadLetters
      }
    }
  }

  /// A store of some size, which generates unique names.
  final class Stage {
    let store: SQLiteStore
    let size: Int
    private let folder: TemporaryFolder
    private var names = 0
    /// The epoch of the note `n`.
    var epochName = epoch
    /// The head of the note `n`.
    private(set) var head = 0

    init(size: Int) {
      self.size = size
      do {
        folder = try TemporaryFolder(isInMemory: true)
        store = try SQLiteStore(path: folder.file())
      } catch {
        preconditionFailure("no store could be made: \(error)")
      }
    }

    func freshName() -> String {
      names += 1
      return "name \(names)"
    }

    /// Performs requests; a failure traps.
    func perform(_ requests: [StoreRequest]) {
      for reply in store.perform(requests) {
        if let error = reply.failure { preconditionFailure("a request failed: \(error)") }
        if case .files(.kept(let file, _)) = reply { newest = file.hash }
      }
    }

    /// Returns a small file.
    static func file(_ content: String) -> FileDraft {
      FileDraft(name: "f", bytes: Array(content.utf8), time: 1)
    }

    /// Creates a note with `size` files.
    func makeFiles() {
      perform([.create(id: "n", epoch: epoch, title: "", time: 1)])
      perform((0..<size).map { .files(.put(id: "n", Self.file("file \($0)"), .unbounded)) })
    }

    /// Creates a note with a long log, and a file that no revision refers to.
    func makeNoteWithFile() {
      makeNote()
      perform([.files(.put(id: "n", Self.file("one"), .unbounded))])
    }

    /// Returns a request to comment on the first letter of the note `n`.
    func comment(_ id: CommentID) -> StoreRequest {
      let range = CommentAnchor(revision: 1, start: 0, end: 1)
      let origin = Comment.Origin(epoch: epoch, anchor: range, quote: "x")
      let comment = Comment(
        id: id, author: "", person: "", text: "t", createdAt: 1, origin: origin, anchor: range)
      return .comments(CommentRequest(note: "n", .add(comment, countMax: .max)))
    }

    /// Creates a note with `size` comments.
    func makeComments() {
      perform([
        .create(id: "n", epoch: epoch, title: "", time: 1),
        .append(id: "n", epoch: epoch, entries: entries(1)),
      ])
      perform((0..<size).map { comment("\($0)") })
    }

    private static let rule = SessionRule(idleMilliseconds: 1 << 40)

    /// Returns a request to begin a session of a user.
    static func begin(_ id: String, of user: String) -> StoreRequest {
      let device = Session.Device(browser: "", system: "")
      let session = Session(
        id: id, user: user, begunAt: 1, endsAt: 1 << 50, device: device, rule)
      return .logins(.begin(session, countMax: Session.countMax))
    }

    /// Creates sessions of `size` users, and one of `ada`.
    func makeSessions() {
      perform((0..<size).map { Self.begin("s.\($0)", of: "user \($0)") })
      perform([Self.begin("s.ada", of: "ada")])
    }

    /// A request to renew the session of `ada`.
    static var renewal: StoreRequest {
      .logins(.renew(id: "s.ada", user: "ada", turn: 1 << 20, now: 2, rule))
    }

    /// Returns a request to create a link to a note. By default it has expired when the next is
    /// made.
    static func link(_ id: String, to note: DocumentID = "n", endsAt: Timestamp = 1) -> StoreRequest
    {
      let link = NoteLink(
        id: id, note: note, access: .read, maker: "", createdAt: 1, expiresAt: endsAt)
      return .links(.make(link, key: id, countMax: .max))
    }

    /// Creates `size` notes with one link each.
    func makeLinks() {
      makeNotes()
      perform((0..<size).map { Self.link("l.\($0)", to: "n\($0)", endsAt: 9) })
      perform([Self.link("l.n", endsAt: 9)])
    }

    /// Returns a request to publish a note under a name.
    static func publication(
      _ name: String, of note: DocumentID = "n", overall: Int = .max
    ) -> StoreRequest {
      var limits = PublicName.Limits()
      limits.ofNote = .max
      limits.ofMaker = .max
      limits.overall = overall
      let draft = PublicName(
        id: "l.p." + name, name: readable(name), note: note, maker: "ada", createdAt: 2)
      return .links(.names(.publish(draft, limits)))
    }

    static func readable(_ text: String) -> ReadableName {
      guard let name = try? ReadableName(text) else { preconditionFailure("\(text) is no name") }
      return name
    }

    func freshReadableName() -> String { freshName().replacing(" ", with: "-") }

    /// Creates and publishes `size` notes.
    func publishNotes() {
      makeNotes()
      perform((0..<size).map { Self.publication("note-\($0)", of: "n\($0)") })
      perform([Self.publication("own")])
    }

    /// Fills the audit log with `size` records.
    func makeAudit() { perform((0..<size).map { _ in .audit(.add(Self.record)) }) }

    static let record = AuditRecord(time: 1, actor: "key:ops", action: .revoke, target: "ada")

    /// Returns a request to add a notice for Ada, about a comment on the note `n`.
    static func notice(_ comment: CommentID, for person: PersonID = "ada") -> StoreRequest {
      let notice = Notice(
        kind: .mention, note: "n", comment: comment, thread: "t", author: "Bob", time: 1)
      return .notices(.add(NoticeDraft(notice, for: [person])))
    }

    /// Adds `size` notices for Ada and as many for other people.
    func makeNotices() {
      makeNotes()
      perform((0..<size).map { Self.notice("c\($0)") })
      perform((0..<size).map { Self.notice("c\($0)", for: PersonID("person \($0)")) })
      perform([.notices(.read("ada", .all(through: .max)))])
    }

    /// The hash of the newest file of the note `n`.
    var newestFile: FileHash { newest ?? Self.noHash }
    private var newest: FileHash?
    private static let noHash = {
      guard let hash = FileHash([UInt8](repeating: 0, count: 32)) else {
        preconditionFailure("a hash has 32 bytes")
      }
      return hash
    }()

    /// Returns entries that append letters to the note `n`, by three clients in turn.
    func entries(_ count: Int) -> [LogEntry] {
      defer { head += count }
      return (head + 1...head + count).map {
        entry($0, appending("x", to: $0 - 1), client: "\($0 % 3)")
      }
    }

    func makeNote() {
      perform([.create(id: "n", epoch: epoch, title: "", time: 1)])
      for start in stride(from: 0, to: size, by: 500) {
        perform([.append(id: "n", epoch: epoch, entries: entries(min(500, size - start)))])
        while store.maintain() {}
      }
    }

    func makeNotes() {
      perform((0..<size).map { .create(id: "n\($0)", epoch: epoch, title: "", time: 1) })
      perform([.create(id: "n", epoch: epoch, title: "", time: 1)])
    }

    /// Creates `size` notes in a folder.
    func makeFolder(_ folder: String) {
      perform(
        (0..<size).map {
          .create(
            id: "n\($0)", epoch: epoch, title: "", time: 1, folder: FolderPath(stored: folder))
        })
    }

    /// Deletes `size` notes, at times later than those of other deleted notes.
    func makeDeletedNotes() {
      for number in 0..<size { _ = makeDeletedNote("gone \(number)", at: Timestamp(10 + number)) }
    }

    func makeDeletedNote(_ name: String? = nil, at time: Timestamp = 1) -> DocumentID {
      let name = name ?? freshName()
      perform([
        .create(id: DocumentID(name), epoch: epoch, title: "", time: 1),
        .delete(id: DocumentID(name), keeping: Deletion(time: time, author: "Ann")),
      ])
      return DocumentID(name)
    }

    var retention: RoomRetention { RoomRetention(publicationsMax: size, ageMax: 1 << 40) }

    func publication(key: String? = nil) -> StoreRequest {
      .room(
        .publish(
          "r",
          PublicationDraft(
            key: key, time: 1, personID: "ann", data: JSONValue(trusted: Array("1".utf8))),
          retention: retention, keyAge: 1 << 40))
    }

    func publish(_ count: Int) {
      perform((0..<count).map { publication(key: "k\($0)") })
    }

    /// Returns a request to change one value of the room `r`.
    func change(_ name: String) -> StoreRequest {
      let change = ValueChange([ValueOperation(ValueName(name), .add(1))])
      let draft = PublicationDraft(time: 1, data: nil, change: change)
      return .room(.publish("r", draft, retention: retention, keyAge: 1_000))
    }

    /// Creates `size` values in the room `r`.
    func makeValues() { perform((0..<size).map { change("v\($0)") }) }

    func people(_ make: (Int) -> PeopleRequest) {
      perform((0..<size).map { .people(make($0)) })
    }

    static func draft(_ number: Int, hold: Timestamp = 0) -> OutboxDraft {
      OutboxDraft(
        target: .webhook, type: "t", subject: "\(number)", time: 1, data: Array("{}".utf8),
        holdMilliseconds: hold)
    }

    /// Queues `size` events.
    func tell(hold: Timestamp = 0) {
      perform((0..<size).map { .tell([Self.draft($0, hold: hold)]) })
    }

    var told: [OutboxEvent] {
      guard
        case .events(let events) = store.perform(
          .take(.webhook, limit: 10, bytesMax: .max, now: 1))
      else { preconditionFailure("no events came") }
      return events
    }
  }

  /// A row of the table.
  struct Row: Sendable, CustomStringConvertible {
    let kind: Kind
    let law: GrowthLaw
    /// Returns the instructions of SQLite's virtual machine for the first request at a size.
    let instructions: @Sendable (_ size: Int) -> Int

    var description: String { law.name }

    static let size = 250

    /// Creates a row for a request that is repeatable.
    init(
      _ kind: Kind, _ name: String? = nil, prepare: @escaping @Sendable (Stage) -> Void,
      run: @escaping @Sendable (Stage) -> StoreRequest
    ) {
      self.kind = kind
      law = GrowthLaw(name ?? kind.rawValue, size: Self.size) { size in
        let stage = Stage(size: size)
        prepare(stage)
        return stage
      } run: { stage in
        let request = run(stage)
        precondition(Kind(request) == kind, "the row of \(kind) makes another request")
        stage.perform([request])
      }
      instructions = Self.instructions(prepare, run)
    }

    private static func instructions(
      _ prepare: @escaping @Sendable (Stage) -> Void,
      _ run: @escaping @Sendable (Stage) -> StoreRequest
    ) -> @Sendable (Int) -> Int {
      { size in
        let stage = Stage(size: size)
        prepare(stage)
        let request = run(stage)
        return stage.store.instructions { stage.perform([request]) }
      }
    }

    /// Creates a row for a request that can be made only once.
    init(
      once kind: Kind, _ name: String? = nil, prepare: @escaping @Sendable (Stage) -> Void,
      run: @escaping @Sendable (Stage) -> StoreRequest
    ) {
      self.kind = kind
      law = GrowthLaw(name ?? kind.rawValue, size: Self.size) { size in
        let stage = Stage(size: size)
        prepare(stage)
        return stage
      } change: { stage in
        let request = run(stage)
        precondition(Kind(request) == kind, "the row of \(kind) makes another request")
        stage.perform([request])
      }
      instructions = Self.instructions(prepare, run)
    }

    /// Creates a row for a request to the outbox.
    init(
      outbox kind: Kind, _ name: String? = nil,
      prepare: @escaping @Sendable (Stage) -> Void = { $0.tell() },
      run: @escaping @Sendable (Stage) -> OutboxRequest
    ) {
      self.kind = kind
      instructions = { size in
        let stage = Stage(size: size)
        prepare(stage)
        let request = run(stage)
        return stage.store.instructions { _ = stage.store.perform(request) }
      }
      law = GrowthLaw(name ?? kind.rawValue, size: Self.size) { size in
        let stage = Stage(size: size)
        prepare(stage)
        return stage
      } run: { stage in
        let request = run(stage)
        precondition(Kind(request) == kind, "the row of \(kind) makes another request")
        if case .failed(let error) = stage.store.perform(request) {
          preconditionFailure("a request failed: \(error)")
        }
      }
    }
  }

  private static let place = PublicationAddress(room: "r", offset: 1)

  static let table: [Row] =
    [
      Row(.create, prepare: { $0.makeNotes() }) {
        .create(id: DocumentID($0.freshName()), epoch: epoch, title: "", time: 1)
      },
      Row(.rename, prepare: { $0.makeNotes() }) { _ in .rename(id: "n", title: "t", time: 2) },
      Row(.delete, prepare: { $0.makeNotes() }) { stage in
        let name = stage.freshName()
        stage.perform([.create(id: DocumentID(name), epoch: epoch, title: "", time: 1)])
        return .delete(id: DocumentID(name))
      },
      Row(.deletedNotes, prepare: { $0.makeDeletedNotes() }) { _ in
        .deleted(.list(after: nil, limit: 50))
      },
      Row(.bringBack, prepare: { $0.makeDeletedNotes() }) { stage in
        let name = stage.makeDeletedNote()
        return .deleted(.bringBack(id: name))
      },
      Row(.removeDeleted, prepare: { $0.makeDeletedNotes() }) { stage in
        let name = stage.makeDeletedNote()
        return .deleted(.remove(id: name))
      },
      Row(.removeOlder, prepare: { $0.makeDeletedNotes() }) { stage in
        _ = stage.makeDeletedNote()
        return .deleted(.removeOlder(than: 2, limit: 50))
      },
      Row(.note, prepare: { $0.makeNotes() }) { _ in .note(id: "n") },
      Row(.list, prepare: { $0.makeNotes() }) { _ in .list },
      Row(.notes, prepare: { $0.makeNotes() }) { _ in .notes(after: nil, limit: 50) },
      Row(.load, prepare: { $0.makeNote() }) { _ in .load(id: "n", recentMax: 100) },
      Row(.entries, prepare: { $0.makeNote() }) {
        .entries(id: "n", after: $0.size - 100, through: $0.size)
      },
      Row(.append, prepare: { $0.makeNote() }) {
        .append(id: "n", epoch: epoch, entries: $0.entries(1))
      },
      Row(
        once: .append, "append of many entries",
        prepare: { $0.perform([.create(id: "n", epoch: epoch, title: "", time: 1)]) }
      ) {
        .append(id: "n", epoch: epoch, entries: $0.entries($0.size))
      },
      Row(.snapshot, prepare: { $0.makeNote() }) {
        .snapshot(
          id: "n", epoch: epoch, revision: $0.size, text: String(repeating: "x", count: $0.size))
      },
      Row(.text, prepare: { $0.makeNote() }) { .text(id: "n", at: .revision($0.size)) },
      Row(.text, "text at a time", prepare: { $0.makeNote() }) {
        .text(id: "n", at: .time(Timestamp(1_000 + $0.size / 2)))
      },
      Row(.history, prepare: { $0.makeNote() }) { _ in
        .history(id: "n", after: 0, limit: 50, pause: 1)
      },
      Row(.sessions, prepare: { $0.makeNote() }) { _ in
        .past(id: "n", .sessions(before: .max, limit: 50, pause: 0))
      },
      Row(.difference, prepare: { $0.makeNote() }) {
        .past(id: "n", .difference(from: $0.size / 2, to: $0.size))
      },
      Row(.versions, prepare: { $0.makeVersions() }) { _ in .versions(id: "n") },
      Row(.saveVersion, prepare: { $0.makeVersions() }) {
        .saveVersion(id: "n", epoch: epoch, version: version($0.size / 2, "v"))
      },
      Row(.deleteVersion, prepare: { $0.makeVersions() }) { _ in
        .deleteVersion(id: "n", revision: 1)
      },
      Row(.renewEpoch, prepare: { $0.makeNote() }) { stage in
        let old = stage.epochName
        stage.epochName = Epoch(stage.freshName())
        return .renewEpoch(id: "n", from: old, to: stage.epochName)
      },
      Row(once: .compact, prepare: { $0.makeNote() }) { .compact(id: "n", through: $0.size - 10) },
      Row(.wipe, prepare: { $0.makeNotes() }) { _ in .rollBackFailedCommits },
      Row(.probe, prepare: { $0.makeNotes() }) { _ in .probe },
      Row(.tell, prepare: { $0.tell() }) { _ in .tell([Stage.draft(0)]) },
    ] + rooms + groups + files + comments + once + outbox

  private static let files: [Row] = [
    Row(.putFile, prepare: { $0.makeFiles() }) {
      .files(.put(id: "n", Stage.file($0.freshName()), .unbounded))
    },
    Row(.listFiles, prepare: { $0.makeFiles() }) { _ in .files(.list(id: "n")) },
    Row(.readFile, prepare: { $0.makeFiles() }) { stage in
      stage.perform([.files(.put(id: "n", Stage.file("one"), .unbounded))])
      return .files(.read(id: "n", stage.newestFile, withBytes: true))
    },
    Row(.unsettledFiles, prepare: { $0.makeFiles() }) { _ in
      .files(.unsettled(before: .max, after: nil, limit: 100))
    },
    Row(once: .searchFiles, prepare: { $0.makeNoteWithFile() }) { _ in
      .files(.search(id: "n", before: .max))
    },
    Row(.settleFiles, prepare: { $0.makeFiles() }) { stage in
      stage.perform([.files(.put(id: "n", Stage.file(stage.freshName()), .unbounded))])
      return .files(
        .settle(id: "n", FileUses(head: 0, newest: [stage.newestFile: nil as Int?]), before: .max))
    },
  ]

  private static func on(_ work: CommentRequest.Work) -> StoreRequest {
    .comments(CommentRequest(note: "n", work))
  }

  private static let anybody = ChangeActor(person: "", name: "", manages: true)

  private static let comments: [Row] = [
    Row(.listComments, prepare: { $0.makeComments() }) { _ in on(.list(at: nil)) },
    Row(.quote, prepare: { $0.makeNote() }) { _ in
      on(.quote(epoch: nil, CommentAnchor(revision: 1, start: 0, end: 1)))
    },
    Row(.addComment, prepare: { $0.makeComments() }) { $0.comment($0.freshName()) },
    Row(.editComment, prepare: { $0.makeComments() }) {
      on(.edit("0", text: $0.freshName(), by: anybody, time: 2))
    },
    Row(.resolve, prepare: { $0.makeComments() }) { _ in
      on(.resolve("0", true, by: anybody, time: 2))
    },
    Row(.removeComment, prepare: { $0.makeComments() }) { stage in
      let name = stage.freshName()
      stage.perform([stage.comment(name)])
      return on(.remove(name, by: anybody))
    },
    Row(.beginSession, prepare: { $0.makeSessions() }) { stage in
      let name = stage.freshName()
      return Stage.begin(name, of: name)
    },
    Row(.renewSession, prepare: { $0.makeSessions() }) { _ in Stage.renewal },
    Row(.listSessions, prepare: { $0.makeSessions() }) { _ in
      .logins(.list(user: "ada", now: 2))
    },
    Row(.endSession, prepare: { $0.makeSessions() }) { _ in .logins(.end(user: "ada", .one("x"))) },
    Row(.makeLink, prepare: { $0.makeLinks() }) { Stage.link($0.freshName()) },
    Row(.openLink, prepare: { $0.makeLinks() }) { _ in .links(.open(key: "l.n", now: 2)) },
    Row(.listLinks, prepare: { $0.makeLinks() }) { _ in .links(.list(note: "n", now: 2)) },
    Row(.endLink, prepare: { $0.makeLinks() }) { _ in .links(.end(note: "n", id: "x")) },
    Row(.publishNote, prepare: { $0.publishNotes() }) {
      Stage.publication($0.freshReadableName(), of: "n0")
    },
    Row(.publishNote, "more names than there may be", prepare: { $0.publishNotes() }) {
      Stage.publication($0.freshReadableName(), of: "n0", overall: 100)
    },
    Row(.withdrawName, prepare: { $0.publishNotes() }) { _ in
      .links(.names(.withdraw(note: "n", now: 3)))
    },
    Row(.nameOf, prepare: { $0.publishNotes() }) { _ in .links(.names(.of(note: "n"))) },
    Row(.openName, prepare: { $0.publishNotes() }) { _ in
      .links(.names(.open(Stage.readable("own"))))
    },
    Row(.addAudit, prepare: { $0.makeAudit() }) { _ in .audit(.add(Stage.record)) },
    Row(.auditPage, prepare: { $0.makeAudit() }) { _ in
      .audit(.page(before: nil, limit: 50, AuditFilter()))
    },
    Row(.trimAudit, prepare: { $0.makeAudit() }) { _ in
      .audit(.trim(AuditRule(), now: 2, limit: 50))
    },
    Row(.addNotice, prepare: { $0.makeNotices() }) { Stage.notice($0.freshName()) },
    Row(.listNotices, prepare: { $0.makeNotices() }) { _ in
      .notices(.list("ada", before: nil, limit: 50))
    },
    Row(.unreadNotices, prepare: { $0.makeNotices() }) { _ in .notices(.unread("person 7")) },
    Row(.readNotices, prepare: { $0.makeNotices() }) { stage in
      stage.perform([Stage.notice(stage.freshName())])
      return .notices(.read("ada", .all(through: .max)))
    },
    Row(.audience, prepare: { $0.makeComments() }) { _ in
      .notices(.audience(note: "n", thread: "0"))
    },
    Row(.removeNotices, prepare: { $0.makeNotices() }) { stage in
      stage.perform([Stage.notice(stage.freshName(), for: "eve")])
      return .notices(.remove(of: "eve", limit: 50))
    },
    Row(.trimNotices, prepare: { $0.makeNotices() }) { _ in
      .notices(.trim(NoticeRule(), now: 2, limit: 50))
    },
    Row(.listNames, prepare: { $0.publishNotes() }) { _ in .links(.names(.list)) },
  ]

  private static let rooms: [Row] = [
    Row(.publish, prepare: { $0.publish($0.size) }) { $0.publication(key: $0.freshName()) },
    Row(.page, prepare: { $0.publish($0.size) }) {
      .room(.page("r", .newest, limit: 50, bytesMax: .max, retention: $0.retention, now: 1))
    },
    Row(.recover, prepare: { $0.publish($0.size) }) { stage in
      .room(
        .recover(
          "r", from: nil, limit: 50, bytesMax: .max, retention: stage.retention, now: 1))
    },
    Row(.publish, "a change of one of many values", prepare: { $0.makeValues() }) {
      $0.change("v7")
    },
    Row(.recover, "values in place of publications", prepare: { $0.makeValues() }) { stage in
      .room(
        .recover(
          "r", from: nil, limit: 50, bytesMax: .max, retention: stage.retention, now: 1,
          values: ValueQuery(.prefix("", after: nil), countMax: 50)))
    },
    Row(.values, prepare: { $0.makeValues() }) { _ in
      .room(.values("r", ValueQuery(.prefix("v1", after: "v12"), countMax: 50)))
    },
    Row(.endingValues, prepare: { $0.makeValues() }) { _ in
      .room(.ending(.expired(at: 1), limit: 50))
    },
    Row(.endingValues, "values of a client", prepare: { $0.makeValues() }) { _ in
      .room(.ending(.held(by: "c"), limit: 50))
    },
    Row(.values, "one value", prepare: { $0.makeValues() }) { _ in
      .room(.values("r", ValueQuery(.one("v7"))))
    },
    Row(.renewRoomEpoch, prepare: { $0.publish($0.size) }) { _ in
      .room(.renewEpoch("r", from: "none", to: "other"))
    },
    Row(.roomHeads, prepare: { $0.publish($0.size) }) { _ in .room(.heads(["r", "s"])) },
    Row(.receipt, prepare: { $0.makeReceipts() }) {
      .people(.receipt(place, Receipt(personID: PersonID($0.freshName()), stage: .read)))
    },
    Row(.receipts, prepare: { $0.makeReceipts() }) { _ in .people(.receipts(place)) },
    Row(.flag, prepare: { $0.makeFlags() }) {
      .people(
        .flag("r", PublicationFlag(offset: 1, personID: PersonID($0.freshName()), time: 1)))
    },
    Row(.unflag, prepare: { $0.makeFlags() }) { _ in .people(.unflag(place, "p1")) },
    Row(.flags, prepare: { $0.makeFlags() }) { _ in .people(.flags("r", limit: 50)) },
    Row(.member, prepare: { $0.makeMembers() }) {
      .people(.member("r", PersonID($0.freshName()), isMember: true))
    },
    Row(.members, prepare: { $0.makeMembers() }) { _ in .people(.members("r")) },
    Row(.block, prepare: { $0.makeBlocks() }) {
      .people(.block(PersonBlock(person: "a", blocked: PersonID($0.freshName())), isBlocked: true))
    },
    Row(.blocks, prepare: { $0.makeBlocks() }) { _ in .people(.blocks) },
    Row(.online, prepare: { $0.makeOnline() }) { _ in .people(.online(["p1"], 2)) },
    Row(.lastOnline, prepare: { $0.makeOnline() }) { _ in .people(.lastOnline(["p1"])) },
  ]

  private static let groups: [Row] = [
    Row(.putGroup, prepare: { $0.makeGroup() }) {
      .groups(.put("r", .named($0.freshName()), by: .ann, time: 2))
    },
    Row(once: .deleteGroup, prepare: { $0.makeGroup() }) { _ in .groups(.delete("r", by: .ann)) },
    Row(.group, prepare: { $0.makeGroup() }) { _ in .groups(.group("r")) },
    Row(.groups, prepare: { $0.makeGroups() }) { _ in
      .groups(.groups(of: "ann", after: nil, limit: 50))
    },
    Row(.putMember, prepare: { $0.makeGroup() }) {
      .groups(
        .putMember(
          "r", PersonID($0.freshName()), nickname: "n", by: .ann, time: 2, membersMax: .max))
    },
    Row(.removeMember, prepare: { $0.makeGroup() }) { _ in
      .groups(.removeMember("r", "nobody", by: .ann))
    },
    Row(.groupMembers, prepare: { $0.makeGroup() }) { _ in
      .groups(.members("r", after: nil, limit: 50))
    },
    Row(.like, prepare: { $0.makeLikes() }) {
      .groups(.like(place, PersonID($0.freshName()), reaction: "like", likesMax: .max))
    },
    Row(.likes, prepare: { $0.makeLikes() }) { _ in .groups(.likes("r", since: 0, limit: 50)) },
    Row(
      .likes, "likes after those of a publication that is gone",
      prepare: { $0.makeLikesOfDeletedPublication() }
    ) { _ in .groups(.likes("r", since: 0, limit: 50)) },
    Row(.read, prepare: { $0.makeGroups() }) {
      .groups(.read(RoomName($0.freshName()), "ann", through: 1, marksMax: .max))
    },
    Row(.badges, prepare: { $0.makeGroups() }) { _ in
      .groups(.badges(of: "ann", after: nil, limit: 50))
    },
  ]

  private static let once: [Row] = [
    Row(.keptAnswer, prepare: { $0.makeAnswers() }) {
      .once(.answer($0.keyed("1"), $0.answers))
    },
    Row(.keepAnswer, prepare: { $0.makeAnswers() }) { $0.keeping(key: $0.freshName()) },
    Row(.createOnce, prepare: { $0.makeNotes() }) {
      .once(
        .create(
          NoteDraft(id: DocumentID($0.freshName()), title: "", owner: "ann", time: 1), epoch: epoch,
          restMax: 1)
      )
    },
    Row(.moveNote, prepare: { $0.makeNotes() }) {
      .folders(.move(id: "n", to: FolderPath(stored: $0.freshName()), time: 1))
    },
    Row(.folderNotes, prepare: { $0.makeNotes() }) { _ in
      .folders(.notes(in: .none, after: nil, limit: 50))
    },
    Row(.listFolders, prepare: { $0.makeNotes() }) { _ in
      .folders(
        .list(
          after: nil, limit: 50, counting: FolderCounting(notes: [NamePattern("n*")], folders: []),
          work: 50))
    },
    Row(.foldersOf, prepare: { $0.makeNotes() }) { _ in .folders(.of(["n"])) },
    Row(.moveFolder, prepare: { $0.makeNotes() }) { stage in
      let (old, new) = (stage.freshName(), stage.freshName())
      stage.perform([.folders(.move(id: "n", to: FolderPath(stored: old), time: 1))])
      return .folders(
        .moveAll(from: FolderPath(stored: old), to: FolderPath(stored: new), limit: 50))
    },
    Row(once: .moveFolder, "move of a part of a folder", prepare: { $0.makeFolder("a/b") }) { _ in
      .folders(.moveAll(from: FolderPath(stored: "a"), to: FolderPath(stored: "c"), limit: 50))
    },
  ]

  private static let outbox: [Row] = [
    Row(outbox: .take) { _ in .take(.webhook, limit: 10, bytesMax: .max, now: 1) },
    Row(outbox: .take, "take while much is held back", prepare: { $0.tell(hold: 1_000) }) { _ in
      .take(.webhook, limit: 10, bytesMax: .max, now: 1)
    },
    Row(outbox: .settle) { stage in
      .settle(
        delivered: [], givenUp: [], .queueFull, now: 1,
        adding: [Stage.draft(stage.size)])
    },
    Row(outbox: .deadLetters) { _ in .deadLetters(limit: 50) },
  ]

  @Test("no request costs more than its share of a store of eight times the size", arguments: table)
  func growth(row: Row) {
    let finding = row.law.check()
    #expect(finding.holds, "\(finding)")
  }

  @Test("every request has a row")
  func completeness() {
    #expect(Set(Self.table.map(\.kind)) == Set(Kind.allCases))
  }
}

extension StoreGrowthTests.Stage {
  func makeVersions() {
    makeNote()
    perform((1...size).map { .saveVersion(id: "n", epoch: epoch, version: version($0, "v")) })
  }

  func makeReceipts() {
    publish(1)
    people {
      .receipt(
        PublicationAddress(room: "r", offset: 1), Receipt(personID: "p\($0)", stage: .delivered))
    }
  }

  func makeFlags() {
    publish(1)
    people {
      .flag("r", PublicationFlag(offset: 1, personID: "p\($0)", time: 1))
    }
  }

  func groups(_ make: (Int) -> GroupRequest) { perform((0..<size).map { .groups(make($0)) }) }

  /// Creates a group with `size` members.
  func makeGroup() {
    perform([.groups(.put("r", .named("R"), by: .ann, time: 1))])
    groups { .putMember("r", "p\($0)", nickname: nil, by: .ann, time: 1, membersMax: .max) }
  }

  /// Creates `size` groups of one person.
  func makeGroups() { groups { .put("g\($0)", .named("G"), by: .ann, time: 1) } }

  /// Creates `size` likes of one publication.
  func makeLikes() {
    publish(1)
    groups {
      .like(
        PublicationAddress(room: "r", offset: 1), "p\($0)", reaction: "like", likesMax: .max)
    }
  }

  /// Creates `size` likes of a publication that newer ones have displaced, and one of the newest.
  func makeLikesOfDeletedPublication() {
    makeLikes()
    publish(size + 1)
    perform([
      .groups(
        .like(
          PublicationAddress(room: "r", offset: size + 1), "p", reaction: "like", likesMax: .max))
    ])
  }

  func makeMembers() { people { .member("r", "p\($0)", isMember: true) } }

  func makeBlocks() {
    people { .block(PersonBlock(person: "a", blocked: "p\($0)"), isBlocked: true) }
  }

  /// A limit that is never reached, so that no answer is deleted.
  var answers: AnswerRetention { AnswerRetention(countMax: 1 << 20, ageMax: 1 << 40) }

  func keyed(_ key: String) -> KeyedRequest {
    KeyedRequest(owner: "ann", key: key, variant: "", body: Array("{}".utf8), time: 1)
  }

  /// Returns a request whose answer is stored under a key.
  func keeping(key: String) -> StoreRequest {
    .once(
      .perform(
        .create(id: DocumentID(freshName()), epoch: epoch, title: "", time: 1),
        keeping: [AnswerDraft(keyed(key)) { _ in Array("done".utf8) }], answers))
  }

  func makeAnswers() { perform((0..<size).map { keeping(key: "\($0)") }) }

  func makeOnline() { people { .online(["p\($0)"], 1) } }
}

extension ChangeActor {
  fileprivate static let ann = ChangeActor(person: "ann", name: "Ann", manages: false)
}

extension GroupChanges {
  fileprivate static func named(_ name: String) -> GroupChanges {
    var changes = GroupChanges()
    changes.name = name
    return changes
  }
}
