import OTCore
import SocketMessages

/// The client's side of a note: joins its document, keeps the synchroniser in step with the server,
/// and emits actions for the screen and the disk.
///
///     joining ──joined──▶ live ◀──joined── away        failed · deleted · left
///                          └──line lost, rejoin──▶┘
///
/// The client's part of exactly-once delivery: after the loss of a connection, a change is sent
/// again with the same bytes, base revision and number. The synchroniser stores the change; the
/// note decides when to send it.
struct NoteMachine: Sendable {
  /// The local and the server's text, and the edits between them.
  struct Replica: Sendable {
    /// The text on the screen, with all local edits.
    var local: RichDocument
    /// The server's text at the synchroniser's revision.
    var server: RichDocument
    /// The change that created that revision, if it is known.
    var change: ChangeName?
    var synchronizer: RichSynchronizer
    /// Whether attributes were requested with the text.
    var hasFormats = false
  }

  /// Work that is deferred until a retry.
  enum DeferredWork: Sendable, Equatable {
    case join(fresh: Bool, pages: Bool)
    /// A request for a page of missed changes. A join in its place would be rate-limited again and
    /// again.
    case page
    case change
  }

  /// A join that has no answer yet.
  struct PendingJoin: Sendable {
    let message: Int
    /// Whether the whole text was requested.
    let isFresh: Bool
    /// Whether the answer may be `behind`.
    let pages: Bool
    /// Whether formatting was requested.
    let formats: Bool
  }

  let documentID: String
  let timing: ClientTiming
  /// The phase; never `leaving`, which only the app sees.
  var phase = NoteStatus.Phase.joining
  var access = ServerMessage.Joined.Access.write
  var title = ""
  var replica: Replica?
  /// Whether the app shows formatting, or stored edits have some.
  var knowsFormats = false
  /// The server's kind of the note.
  var serverKind = NoteKind.plain
  /// Whether an unconfirmed edit makes the note a rich one.
  var makesRich = false
  /// The kind that the app knows.
  var reportedKind = NoteKind.plain
  /// The edits that the person can undo, in notes with formats.
  var history: RichUndoHistory?
  /// The client id under which the unconfirmed edits were sent.
  var clientID: String?
  /// The refusal that holds back the unconfirmed edits.
  var refusal: ErrorCode?

  // Pending requests to the server.
  var pendingJoin: PendingJoin?
  /// The pending request for a page of missed changes.
  var pendingPage: Int?
  var changeMessage: (number: Int, sequence: Int)?
  var selectMessage: Int?
  /// Whether the change in flight is obsolete as it was sent, and becomes a new change after the
  /// next join.
  var isRefused = false
  /// Whether the note was restored from a stored state and has not been joined since.
  var isRestored = false
  /// Whether the app has closed the note while its edits are being stored or confirmed.
  private(set) var isLeaving = false
  /// Joins after a disagreement since the last acknowledged change.
  var rejoinCount = 0
  var putOff: DeferredWork?
  var retryAt: Int64?

  var keeping = Keeping()

  /// The numbers of the document and its authors on this connection.
  var numbers: NoteNumbers?

  // The people.
  var people = NotePeople()
  /// This person's carets in the text on the screen.
  var selections: [Selection] = []
  var selectionIsUnsent = false
  var selectAt: Int64?

  private var reportedStatus: NoteStatus?

  init(documentID: String, timing: ClientTiming) {
    self.documentID = documentID
    self.timing = timing
  }

  /// Maximum joins after a disagreement without an acknowledged change.
  static let rejoinsMax = 3

  /// The number of edits that the server has not confirmed.
  var unconfirmed: Int { replica?.synchronizer.unconfirmedCount ?? 0 }

  var isLeft: Bool { phase == .left }

  /// Whether the app has closed the note.
  var isClosed: Bool { isLeaving || isLeft }

  var status: NoteStatus {
    var status = NoteStatus()
    status.phase = isLeaving ? .leaving : phase
    status.access = access
    status.unconfirmed = unconfirmed
    status.refusal = refusal
    status.retryAt = retryAt
    status.isKeepFailing = keeping.isFailing
    return status
  }

  /// The next time at which the note must be woken.
  var deadline: Int64? {
    earlier(earlier(retryAt, selectAt), earlier(keeping.at, people.deadline))
  }

  mutating func wake(_ turn: inout Turn) {
    if let time = keeping.at, time <= turn.now { keepNow(&turn) }
    if let time = retryAt, time <= turn.now {
      retryAt = nil
      let what = putOff
      putOff = nil
      switch what {
      case .join(let isFresh, let pages): join(fresh: isFresh, pages: pages, &turn)
      case .page: askForPage(&turn)
      case .change: resend(&turn)
      case nil: break
      }
    }
    if let time = selectAt, time <= turn.now {
      selectAt = nil
      sendSelection(&turn)
    }
    if people.rest(at: turn.now) { tell(.people, &turn) }
    tellStatus(&turn)
  }

  // MARK: The app

  mutating func open(_ kept: KeptNote?, formats: Bool, _ turn: inout Turn) {
    knowsFormats = formats
    if formats { history = RichUndoHistory() }
    if let kept, kept.documentID.isSame(as: documentID) {
      title = kept.title
      clientID = kept.clientID
      replica = Replica(
        local: kept.localContent, server: kept.serverContent, change: kept.change,
        synchronizer: RichSynchronizer(kept.synchronizer), hasFormats: kept.hasFormats)
      // Edits with formatting are sent with it, whatever this app shows.
      if kept.hasFormats { knowsFormats = true }
      serverKind = kept.kind
      makesRich = kept.makesRich
      keeping.restored()
      isRestored = true
      phase = .away
      tellKind(&turn)
      tell(.reset(kept.localContent), &turn)
    }
    if turn.isOnline { join(&turn) }
    tellStatus(&turn)
  }

  mutating func take(_ event: NoteEvent, _ turn: inout Turn) {
    switch event {
    case .open: break
    case .reopen: reopen(&turn)
    case .leave: leave(&turn)
    case .edit(let operation): edit(operation, &turn)
    case .undo: step(isRedo: false, &turn)
    case .redo: step(isRedo: true, &turn)
    case .endStep: history?.endRun()
    case .select(let selections): select(selections, &turn)
    case .retryRefused:
      if refusal != nil {
        refusal = nil
        transmit(replica?.synchronizer.release(), &turn)
      }
    case .discard: discard(&turn)
    case .sendAgain:
      if phase == .live { transmit(replica?.synchronizer.retry(), &turn) }
    case .kept(let took):
      keeping.done(took: took, timing)
    case .keepFailed: keepFailed(&turn)
    case .unkept: keeping.came(toNothing: timing)
    }
    tellStatus(&turn)
  }

  private mutating func reopen(_ turn: inout Turn) {
    switch phase {
    case .failed, .deleted: break
    case .joining, .live, .away, .leaving, .left: return
    }
    phase = replica == nil ? .joining : .away
    rejoinCount = 0
    if turn.isOnline { join(&turn) }
  }

  private mutating func leave(_ turn: inout Turn) {
    keepNow(&turn)
    isLeaving = true
    leaveIfDone(&turn)
  }

  /// Reopens a note that the app has just closed. It continues with all its edits.
  mutating func openAgain(formats: Bool, _ turn: inout Turn) {
    guard isLeaving else { return }
    isLeaving = false
    reportedKind = .plain
    tellKind(&turn)
    if formats, history == nil { learnFormats(&turn) }
    if let replica { tell(.reset(replica.local), &turn) }
    if !title.utf8.isEmpty { tell(.title(title), &turn) }
    tell(.people, &turn)
    tell(.carets, &turn)
    tellStatus(&turn)
  }

  /// Leaves a note that the app has closed, as soon as no edit can be lost.
  mutating func leaveIfDone(_ turn: inout Turn) {
    guard isLeaving, unconfirmed == 0 || keeping.isDone || !mayConfirm else { return }
    isLeaving = false
    if turn.isOnline, phase == .live || pendingJoin != nil {
      turn.send(.leave(.init(documentID: documentID)))
    }
    settle()
    phase = .left
    tellStatus(&turn)
  }

  /// Whether the server may confirm edits without an action of the person.
  private var mayConfirm: Bool {
    switch phase {
    case .joining, .live, .away: refusal == nil
    case .failed, .deleted, .leaving, .left: false
    }
  }

  private mutating func discard(_ turn: inout Turn) {
    refusal = nil
    forget(&turn)
    settle()
    replica = nil
    makesRich = false
    history?.removeAll()
    isRefused = false
    isRestored = false
    people.removeAll()
    phase = .joining
    if turn.isOnline { join(&turn) }
  }

  /// Forgets all pending requests and retries.
  mutating func settle() {
    pendingJoin = nil
    pendingPage = nil
    changeMessage = nil
    selectMessage = nil
    putOff = nil
    retryAt = nil
    selectAt = nil
  }

  // MARK: The line

  /// Joins, because messages can be sent again.
  mutating func online(_ turn: inout Turn) {
    join(&turn)
    tellStatus(&turn)
  }

  /// Stops waiting for answers, because the connection was lost.
  mutating func lost(_ turn: inout Turn) {
    settle()
    numbers = nil
    if phase == .live { phase = .away }
    replica?.synchronizer.disconnect()
    people.removeAll()
    tell(.people, &turn)
    tell(.carets, &turn)
    tellStatus(&turn)
  }

  // MARK: Actions

  mutating func tell(_ action: NoteAction, _ turn: inout Turn) {
    switch action {
    case .keep, .forget, .status: break
    default: if isLeaving { return }
    }
    turn.actions.append(.note(documentID, action))
  }

  /// Reports the state if it has changed.
  mutating func tellStatus(_ turn: inout Turn) {
    let status = status
    guard status != reportedStatus else { return }
    reportedStatus = status
    tell(.status(status), &turn)
  }

  mutating func retitle(_ title: String, _ turn: inout Turn) {
    guard !title.isSame(as: self.title) else { return }
    self.title = title
    tell(.title(title), &turn)
  }
}
