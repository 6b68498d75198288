import ParleyJSON
import OTCore
import ParleyOTWorkloads
import ParleyClientCore
import SocketMessages

/// An operation from the notation `=3 +text -2`.
func op(_ notation: String) -> TextOperation { TextOperation(notation: notation) }

/// A client with a server and a disk that a test plays by hand. What the machine asks for is written
/// down in short words:
///
///     connect · disconnect · token? · online · waiting · stopped
///     > hello A · > join n@e:3 · > change 1@3 =2 +x · > select 3
///     keep · keep! (required) · forget · reset text · apply =2 +x · live 1 (unconfirmed)
struct Rig {
  var machine: ClientMachine
  var now: Int64 = 0
  /// The deadline that the machine has named last.
  private(set) var wakeAt: Int64?
  /// The stored state of the note `n`.
  private(set) var disk: KeptNote?
  private(set) var claim: ClientClaim?
  /// The sent messages, by their ids.
  private(set) var sent: [(id: String, message: ClientMessage)] = []
  /// The places of the edits that were moved by a difference.
  private(set) var moved: [Range<Int>] = []
  /// The text on a screen that does every action.
  private(set) var screen: RichDocument?
  /// Whether changes of values that are stored are among the words.
  var showsKept = false
  /// Actions for the app beside the states.
  var told: [ClientAction] = []

  init(
    usesTokens: Bool = false, claim: ClientClaim? = nil, seed: UInt64 = 1,
    _ change: (inout ClientSettings) -> Void = { _ in }
  ) {
    var settings = ClientSettings(name: "Ann", usesTokens: usesTokens)
    change(&settings)
    machine = ClientMachine(settings: settings, claim: claim, seed: seed)
    self.claim = claim
  }

  /// Hands an event over, and returns what is asked for in words.
  @discardableResult
  mutating func handle(_ event: ClientEvent) -> [String] {
    if case .note("n", .edit(let operation)) = event { try? screen?.apply(operation) }
    return machine.handle(event, now: now).compactMap { take($0) }
  }

  @discardableResult
  mutating func note(_ event: NoteEvent) -> [String] { handle(.note("n", event)) }

  @discardableResult
  mutating func room(_ event: RoomEvent) -> [String] { handle(.room("r", event)) }

  /// A message of the server comes; in reply to the last message of a kind, or unasked.
  @discardableResult
  mutating func receive(_ message: ServerMessage, to kind: String? = nil) -> [String] {
    var id = "s"
    if let kind, let last = sent.last(where: { Self.kind($0.message) == kind }) { id = last.id }
    var bytes: [UInt8] = []
    message.encode(messageID: id, into: &bytes)
    return handle(.received(bytes))
  }

  /// Moves the clock on to what the machine waits for.
  @discardableResult
  mutating func awaken() -> [String] {
    guard let next = wakeAt else { return [] }
    now = max(now, next)
    wakeAt = nil
    return handle(.wake)
  }

  /// Moves the clock on, waking the machine whenever it asks for it.
  @discardableResult
  mutating func pass(_ milliseconds: Int64) -> [String] {
    let end = now + milliseconds
    var words: [String] = []
    while let next = wakeAt, next <= end { words += awaken() }
    now = end
    return words
  }

  // MARK: Whole conversations

  /// Connects and is welcomed.
  mutating func connect(as id: String = "A", limits: Limits = Limits()) {
    handle(.start)
    handle(.opened)
    welcome(as: id, limits: limits)
  }

  /// The features of the server.
  static let capabilities = ["rich"]

  @discardableResult
  mutating func welcome(
    as id: String = "A", limits: Limits = Limits(), capabilities: [String] = Rig.capabilities
  ) -> [String] {
    receive(
      .welcome(
        .init(
          clientID: id, resumeToken: "of " + id, serverTime: 1, demo: true,
          capabilities: capabilities, limits: limits)), to: "hello")
  }

  /// Loses the connection and gets another.
  mutating func reconnect(as id: String = "A") -> [String] {
    handle(.closed(code: 1006))
    handle(.reachable)
    handle(.opened)
    return welcome(as: id)
  }

  /// Connects and joins the note `n` at revision 3.
  mutating func join(_ text: String = "abc", limits: Limits = Limits()) {
    connect(limits: limits)
    note(.open(nil))
    joined(text: text)
  }

  @discardableResult
  mutating func joined(
    text: String, epoch: String = "e", revision: Int = 3, last: Int = 0,
    settled: ChangeName? = nil
  ) -> [String] {
    receive(.joined(Self.joined(.text(text), epoch, revision, last, settled)), to: "join")
  }

  /// The answer to a join with what was missed after the revision asked for.
  @discardableResult
  mutating func resumed(
    _ changes: [ServerMessage.Change] = [], revision: Int, epoch: String = "e", last: Int = 0
  ) -> [String] {
    receive(.joined(Self.joined(.changes(changes), epoch, revision, last)), to: "join")
  }

  static func joined(
    _ content: ServerMessage.Joined.Content, _ epoch: String, _ revision: Int, _ last: Int,
    _ settled: ChangeName? = nil
  ) -> ServerMessage.Joined {
    .init(
      documentID: "n", title: "Title", epoch: epoch, revision: revision, content: content,
      lastSequence: last, settled: settled, access: .write, presence: [])
  }

  /// The answer to a join that too much was missed for one message.
  @discardableResult
  mutating func behind(_ revision: Int, epoch: String = "e", last: Int = 0) -> [String] {
    receive(
      .behind(.init(documentID: "n", epoch: epoch, revision: revision, lastSequence: last)),
      to: "join")
  }

  /// A page of what was missed, which begins with this revision.
  @discardableResult
  mutating func page(
    _ revision: Int, _ changes: [ServerMessage.Change], epoch: String = "e", more: Bool = false
  ) -> [String] {
    receive(
      .documentHistory(
        .init(
          documentID: "n", epoch: epoch, revision: revision, changes: changes, time: 1,
          hasMore: more)), to: "page")
  }

  @discardableResult
  mutating func acknowledge(_ sequence: Int, _ revision: Int) -> [String] {
    receive(
      .acknowledged(.init(documentID: "n", sequence: sequence, revision: revision)), to: "change")
  }

  @discardableResult
  mutating func changes(_ revision: Int, _ changes: [ServerMessage.Change]) -> [String] {
    receive(.changes(.init(documentID: "n", revision: revision, changes: changes)))
  }

  @discardableResult
  mutating func refuse(
    _ sequence: Int, _ code: ErrorCode, after: Int? = nil
  ) -> [String] {
    receive(
      .refused(
        .init(
          documentID: "n", sequence: sequence, code: code, message: "",
          retryable: code.isRetryable, retryAfter: after)), to: "change")
  }

  @discardableResult
  mutating func fail(_ kind: String, _ code: ErrorCode, after: Int? = nil) -> [String] {
    receive(
      .error(.init(code: code, message: "", retryable: code.isRetryable, retryAfter: after)),
      to: kind)
  }

  @discardableResult
  mutating func resync(
    _ text: String, epoch: String = "e", revision: Int, last: Int = 0
  ) -> [String] {
    receive(
      .resync(
        .init(
          documentID: "n", reason: .lagging, epoch: epoch, revision: revision, text: text,
          lastSequence: last)))
  }

  // MARK: The room `r`

  /// Moves the room's position.
  @discardableResult
  mutating func subscribed(
    _ offset: Int, epoch: Epoch = "p", recovered: Bool? = nil, _ publications: [Int] = [],
    present: [String]? = nil
  ) -> [String] {
    receive(
      .subscribed(
        .init(
          room: "r", position: RoomPosition(epoch: epoch, offset: offset), isRecovered: recovered,
          publications: publications.map { .init(offset: $0, time: 1, data: .null) },
          present: present?.map { .init(personID: PersonID($0), name: $0) })), to: "subscribe")
  }

  @discardableResult
  mutating func publication(_ offset: Int, epoch: Epoch = "p") -> [String] {
    receive(
      .publication(
        .init(
          room: "r", epoch: epoch, publication: .init(offset: offset, time: 1, data: .null))))
  }

  @discardableResult
  mutating func published(_ offset: Int) -> [String] {
    receive(
      .published(
        .init(room: "r", position: RoomPosition(epoch: "p", offset: offset), isRepeated: false)),
      to: "publish")
  }

  /// A new process restores what is on disk.
  func restarted(knowing claim: ClientClaim?) -> Rig {
    var rig = Rig(claim: claim)
    rig.now = now
    rig.disk = disk
    rig.note(.open(disk))
    return rig
  }

  var text: String? { machine.document(of: "n")?.text }

  var status: NoteStatus? { machine.status(of: "n") }

  // MARK: Words

  private mutating func take(_ action: ClientAction) -> String? {
    switch action {
    case .connect: return "connect"
    case .disconnect: return "disconnect"
    case .needToken: return "token?"
    case .claim(let claim):
      self.claim = claim
      return "claim \(claim.id)"
    case .wake(let at):
      wakeAt = at
      return nil
    case .send(let bytes):
      guard let (id, message) = try? bytes.withUnsafeBytes({ try ClientMessage.decode($0) }) else {
        return "> nonsense"
      }
      sent.append((id, message))
      return "> " + Self.words(message)
    case .line(let state): return Self.words(state)
    case .welcome, .tokenEnds, .refreshed, .resource:
      told.append(action)
      return nil
    case .note(_, let action): return take(action)
    case .room(_, .keepChanges) where !showsKept: return nil
    case .room(_, let action): return Self.words(action)
    case .answer(let id, .success): return "answer \(id)"
    case .answer(let id, .failure(.refused(let code))): return "answer \(id) \(code)"
    case .answer(let id, .failure(.otherPerson)): return "answer \(id) otherPerson"
    }
  }

  private mutating func take(_ action: NoteAction) -> String? {
    switch action {
    case .keep(let kept, let isRequired):
      disk = kept
      return isRequired ? "keep!" : "keep"
    case .forget:
      disk = nil
      return "forget"
    case .reset(let content):
      screen = content
      return "reset \(content.text.text)" + Self.words(content)
    case .apply(let operation, _, _):
      try? screen?.apply(operation)
      return "apply " + Self.words(operation)
    case .step(let operation, let selection):
      try? screen?.apply(operation)
      return "step " + Self.words(operation) + " \(selection.anchor) \(selection.head)"
    case .kind(let kind): return "kind \(kind)"
    case .status(let status): return Self.words(status)
    case .people: return nil
    case .carets: return nil
    case .title(let title): return "title \(title)"
    case .rebased(let places):
      moved = places
      return "rebased"
    case .outOfStep: return "out of step"
    case .misfit: return "misfit"
    }
  }

  /// Returns an operation's notation, and the JSON form of its formatting.
  static func words(_ operation: RichOperation) -> String {
    var format: [UInt8] = []
    operation.changeFormat?.appendJSON(to: &format)
    return operation.text.notation + (format.isEmpty ? "" : " ")
      + String(decoding: format, as: UTF8.self)
  }

  /// Returns the JSON form of a text's attributes; an empty text without attributes.
  static func words(_ content: RichDocument) -> String {
    guard content.hasAttributes else { return "" }
    var format: [UInt8] = []
    content.appendFormatJSON(to: &format)
    return " " + String(decoding: format, as: UTF8.self)
  }

  private static func words(_ state: LineState) -> String {
    switch state {
    case .stopped: "stopped"
    case .authorising: "authorising"
    case .connecting: "connecting"
    case .greeting: "greeting"
    case .online: "online"
    case .waiting: "waiting"
    }
  }

  private static func words(_ status: NoteStatus) -> String {
    let phase =
      switch status.phase {
      case .joining: "joining"
      case .live: "live"
      case .away: "away"
      case .failed: "failed"
      case .deleted: "deleted"
      case .leaving: "leaving"
      case .left: "left"
      }
    return "\(phase) \(status.unconfirmed)" + (status.refusal.map { " \($0)" } ?? "")
  }

  private static func words(_ action: RoomAction) -> String? {
    switch action {
    case .publication(let publication, _): "r has \(publication.offset)"
    case .gap(let after, let through): "r gap \(after.offset)-\(through.offset)"
    case .outOfStep: "r out of step"
    case .position(let position): "r at \(position.offset)"
    case .status(let status):
      switch status.phase {
      case .subscribing: "r subscribing"
      case .live: "r live"
      case .away: "r away"
      case .ended: "r ended"
      case .left: "r left"
      }
    case .people: nil
    case .published(let key, let position, _): "r stored \(key) \(position.offset)"
    case .publishFailed(let key, _): "r failed \(key)"
    case .publishUnsure(let key): "r unsure \(key)"
    case .receipt(let receipt): "r receipt \(receipt.offset)"
    case .receipts(let offset, let receipts, let code):
      "r receipts \(offset) \(code?.rawValue ?? receipts.map(\.personID.text).joined(separator: ","))"
    case .flagged(let flag): "r flagged \(flag.offset)"
    case .values(let update): "r values " + Self.words(update)
    case .conflict(let key, let values, _):
      "r conflict \(key) \(values.all.map(\.name.text).joined(separator: ","))"
    case .signal(let signal): "r signal \(signal.name)"
    case .keepChanges(let changes):
      "r keeps "
        + (changes.isEmpty
          ? "nothing"
          : changes.map { $0.key + ($0.clientID.map { " by \($0)" } ?? "") }
            .joined(separator: " "))
    }
  }

  private static func words(_ update: ValueUpdate) -> String {
    update.changed.sorted { $0.key < $1.key }.map { name, value in
      "\(name)=\(value.map { String(decoding: $0.utf8, as: UTF8.self) } ?? "-")"
    }.joined(separator: " ")
  }

  private static func words(_ message: ClientMessage) -> String {
    switch message {
    case .hello(let hello):
      "hello" + (hello.client.map { " \($0.id)" } ?? "") + (hello.token.map { " with \($0)" } ?? "")
    case .refresh(let refresh): "refresh \(refresh.token)"
    case .join(let join):
      "join \(join.documentID)" + (join.resume.map { "@\($0.epoch):\($0.revision)" } ?? "")
    case .documentHistory(let history):
      "page \(history.documentID)@\(history.resume.epoch):\(history.resume.revision)"
    case .change(let change):
      "change \(change.sequence)@\(change.revision) \(change.operation.notation)"
    case .select(let select):
      "select@\(select.revision) "
        + select.selections.map { "\($0.anchor)-\($0.head)" }.joined(separator: ",")
    case .subscribe(let subscribe):
      "subscribe \(subscribe.room)"
        + (subscribe.position.map { "@\($0.epoch):\($0.offset)" } ?? "")
    case .publish(let publish): "publish \(publish.key ?? "")"
    case .typing(let typing): "typing \(typing.isTyping)"
    case .receipt(let receipt): "receipt \(receipt.offset)"
    case .block(let block): "block \(block.personID) \(block.isBlocked)"
    case .follow(let follow): "follow \(follow.room) \(follow.isFollowing)"
    default: kind(message)
    }
  }

  private static func kind(_ message: ClientMessage) -> String {
    switch message {
    case .hello: "hello"
    case .refresh: "refresh"
    case .join: "join"
    case .documentHistory: "page"
    case .change: "change"
    case .select: "select"
    case .leave: "leave"
    case .profile: "profile"
    case .ping: "ping"
    case .subscribe: "subscribe"
    case .unsubscribe: "unsubscribe"
    case .publish: "publish"
    case .typing: "typing"
    case .receipt: "receipt"
    case .roomHistory: "history"
    case .receipts: "receipts"
    case .lastOnline: "last online"
    case .block: "block"
    case .blocks: "blocks"
    case .flag: "flag"
    case .flags: "flags"
    case .follow: "follow"
    case .values: "values"
    case .signal: "signal"
    default: "other"
    }
  }
}

/// A change by another client.
func change(_ client: String, _ sequence: Int, _ notation: String) -> ServerMessage.Change {
  .init(clientID: client, sequence: sequence, operation: op(notation))
}
