import Gateway
import ParleyGatewayPorts
import ParleyJSON
import OTCore
import ParleySimulationKit
import SocketMessages
import ParleyWebSocketFrames

/// A gateway with an in-memory store that discards the messages it sends, for measurements.
///
/// Rates and sizes are not limited. Person 0 is connected from the start.
final class QuietRig {
  /// The document and the room of the measured work.
  static let document = "d"
  static let room = "r"
  static let epoch = "epoch of d"
  /// A second token of person 0.
  static let pass = "pass"

  private let clock = VirtualClock()
  private let book = TokenBook()
  private let gateway: Gateway
  let store = MemoryStore(losableCommitsMax: 0)
  /// Whether the store records when people were last online, which copies all of them each time.
  var recordsLastOnline = true
  private var nextID: UInt64 = 1
  private let reads: Bool
  /// Kinds of messages that were sent.
  private(set) var kinds: Set<ClientMessage.Kind> = []
  /// The server's refusals; recorded only if the rig reads the server's messages.
  private(set) var refusals: [String] = []

  /// The document's revision, from which person 0's changes take their sequence numbers.
  private(set) var revision = 0
  private var lateChanges = 0
  /// The latest result of ``alternate()``.
  private var isBack = false

  /// - Parameter reads: Whether the server's messages are read for refusals.
  init(reads: Bool = false) {
    self.reads = reads
    var settings = GatewaySettings()
    settings.isDemo = false
    settings.windowEntries = 1_000_000
    settings.lagRevisionsMax = 1_000_000
    settings.recoveryMax = 1_000_000
    settings.recoveryBytesMax = 1 << 30
    settings.catchUpBytes = 1 << 30
    settings.pageBytes = 1 << 30
    settings.pageDefault = 1_000_000
    settings.roomRetention = RoomRetention(publicationsMax: 1_000_000, ageMax: 86_400_000)
    settings.limits = Limits(byName: { _ in 1 << 30 })
    let unlimited: [WritableKeyPath<Limits, Int>] = [
      \.burstSeconds, \.signsPerSecondMax, \.messagesPerSecondMax, \.bytesPerSecondMax,
      \.userConnectionsMax, \.userConnectsPerSecondMax, \.userMessagesPerSecondMax,
      \.userBytesPerSecondMax, \.userRequestsPerSecondMax, \.addressConnectionsMax,
      \.addressConnectsPerSecondMax, \.addressMessagesPerSecondMax, \.addressBytesPerSecondMax,
      \.addressRequestsPerSecondMax,
    ]
    for path in unlimited { settings.limits[keyPath: path] = 0 }
    settings.limits.typingMilliseconds = 6_000
    gateway = Gateway(
      settings: settings,
      dependencies: Gateway.Dependencies(
        clock: clock, names: SeededNames(prefix: "g"), tokens: PlainTokens(), log: NoLog(),
        authenticator: book, queuedBytes: { _ in 0 }))
    make([Self.document])
    enter(1)
    book.enter(Self.pass, user: Self.person(0), tokenID: Self.pass, Self.grants)
  }

  private static let grants = [
    Grant(.documents, NamePattern("*"), .all), Grant(.rooms, NamePattern("*"), .all),
  ]

  static func person(_ index: Int) -> String { "person \(index)" }

  /// Returns the connection of a person.
  static func connection(_ index: Int) -> UInt64 { UInt64(index + 1) }

  static func names(_ count: Int) -> [String] { (0..<count).map { "name \($0)" } }

  // MARK: Making large amounts

  func make(_ documents: [String]) {
    _ = store.perform(
      documents.map {
        .create(id: DocumentID($0), epoch: "epoch of \($0)", title: $0, time: clock.now)
      })
  }

  /// Connects people, numbered from 0.
  func enter(_ count: Int) {
    for _ in 0..<count {
      let person = Self.person(Int(nextID) - 1)
      book.enter(person, user: person, name: person, Self.grants)
      ask(open(), .hello(.init(name: person, token: person)))
    }
  }

  /// Connects people who follow the document and the room.
  func gather(_ count: Int, joins: Bool = false, subscribes: Bool = false, presence: Bool = false) {
    enter(count - 1)
    for index in 0..<count {
      if joins { ask(index, .join(.init(documentID: Self.document))) }
      if subscribes { ask(index, .subscribe(.init(room: Self.room, isPresent: presence))) }
    }
  }

  /// Makes person 0 follow documents and rooms.
  func follow(_ count: Int) {
    let names = Self.names(count)
    make(names)
    for name in names {
      ask(0, .join(.init(documentID: name)))
      ask(0, .subscribe(.init(room: name)))
    }
  }

  /// Makes person 0 write a text into the document.
  func write(scalars: Int) {
    ask(0, .join(.init(documentID: Self.document)))
    var operation = TextOperation()
    operation.insert(String(repeating: "é", count: scalars))
    change(operation)
  }

  /// Makes person 0 change the document.
  func change(_ operation: TextOperation) {
    revision += 1
    ask(
      0,
      .change(
        .init(
          documentID: Self.document, epoch: Self.epoch, revision: revision - 1,
          sequence: revision, operation: operation)))
  }

  /// Makes person 1 change the document on the base of revision 1, which has one scalar.
  func changeLate() {
    lateChanges += 1
    revision += 1
    ask(
      1,
      .change(
        .init(
          documentID: Self.document, epoch: Self.epoch, revision: 1, sequence: lateChanges,
          operation: [.retain(1), .insert("b")])))
  }

  /// Stores publications of person 0 in the room.
  func publications(_ count: Int) {
    let draft = PublicationDraft(
      time: clock.now, personID: PersonID(Self.person(0)),
      data: JSONValue(trusted: Array(#"{"x":1}"#.utf8)))
    let retention = RoomRetention(publicationsMax: 1_000_000, ageMax: 86_400_000)
    _ = store.perform(
      (0..<count).map { _ in
        .room(.publish(RoomName(Self.room), draft, retention: retention, keyAge: 1_000))
      })
  }

  /// Performs a request in the store once for each number.
  func people(_ count: Int, _ request: (Int) -> PeopleRequest) {
    _ = store.perform((0..<count).map { .people(request($0)) })
  }

  // MARK: Steps

  /// Opens a connection without sending a message.
  func open() -> UInt64 {
    defer { nextID += 1 }
    gateway.opened(ConnectionID(nextID), as: .native, token: nil, limitedBy: nil)
    perform()
    return nextID
  }

  func close(_ connection: UInt64) {
    gateway.closed(ConnectionID(connection))
    perform()
  }

  /// Sends a message of a person.
  func ask(_ person: Int, _ message: ClientMessage) { ask(Self.connection(person), message) }

  /// Sends a message on a connection.
  func ask(_ connection: UInt64, _ message: ClientMessage) {
    if let kind = message.kind { kinds.insert(kind) }
    var bytes: [UInt8] = []
    message.encode(messageID: "m", into: &bytes)
    bytes.withUnsafeBytes { gateway.received(ConnectionID(connection), message: $0, kind: .text) }
    perform()
  }

  /// Advances the clock by a second, and performs the work that depends on time.
  func tick() {
    clock.advance(milliseconds: 1_000)
    gateway.ticked()
    perform()
  }

  /// Returns true and false alternately.
  func alternate() -> Bool {
    isBack.toggle()
    return isBack
  }

  // MARK: Inside

  private func perform() {
    while true {
      let rest = gateway.endTurn()
      let actions = gateway.takeActions()
      if actions.isEmpty {
        guard let rest else { return }
        if rest > 0 { clock.advance(milliseconds: Int64(rest)) }
      }
      for action in actions { perform(action) }
    }
  }

  private func perform(_ action: GatewayAction) {
    switch action {
    case .send(let frame, _): if reads { read(frame) }
    case .broadcast(let frame, let connections): if reads { for _ in connections { read(frame) } }
    case .close(let connection, let code, _):
      refusals.append("closed with \(code.rawValue)")
      gateway.closed(connection)
    case .respond, .search, .gather, .admit, .count: break
    case .forget, .publish, .follow, .leave: break
    case .store(let ticket, .people) where !recordsLastOnline:
      gateway.stored(ticket, reply: .people(.done))
    case .store(let ticket, let request):
      for reply in store.perform([request]) { gateway.stored(ticket, reply: reply) }
    }
  }

  private func read(_ frame: Frame) {
    Array(frame.payload).withUnsafeBytes { bytes in
      switch try? ServerMessage.decode(bytes).message {
      case .error(let failure): refusals.append(failure.message)
      case .refused(let refusal): refusals.append(refusal.message)
      case .resync: refusals.append("a resync was sent")
      default: break
      }
    }
  }
}
