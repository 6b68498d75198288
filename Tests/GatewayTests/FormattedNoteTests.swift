import Gateway
import ParleyGatewayPorts
import ParleyJSON
import OTCore
import ParleyOTWorkloads
import ParleySimulationKit
import SocketMessages
import Testing

/// A client in a note that shows only what the server has sent, and has one change in flight.
final class NoteFollower {
  let line: UInt64
  let id: String
  let formats: Bool
  private let rig: GatewayRig
  private(set) var revision = 0
  /// The content at the revision; without attributes for a client that knows only text.
  private(set) var document = RichDocument()
  private(set) var kind: NoteKind?
  private(set) var refusals: [ErrorCode] = []
  private var sequence = 0
  private var numbers: [Int: String] = [:]
  /// The change in flight, rebased to the revision.
  private var pending: RichOperation?
  /// The change in flight as it was sent.
  private(set) var sent: ClientMessage.Change?
  /// Whether messages are given to the client when the test says so.
  var isSlow = false

  init(_ rig: GatewayRig, formats: Bool, numbers: Bool = false) throws {
    self.rig = rig
    self.formats = formats
    line = rig.connect()
    let reply = rig.ask(line, .hello(.init(name: "Ann", takesNumbers: numbers, numbersMax: 4_096)))
    guard case .welcome(let welcome)? = reply else { throw Unexpected(message: reply) }
    id = welcome.clientID
    try join()
  }

  func join(resume: ResumePoint? = nil) throws {
    let reply = rig.ask(line, .join(.init(documentID: "n1", resume: resume, formats: formats)))
    guard case .joined(let joined)? = reply else { throw Unexpected(message: reply) }
    kind = joined.kind
    for author in joined.numbers?.authors ?? [] { numbers[author.number] = author.clientID }
    switch joined.content {
    case .text(let text): try take(text, joined.format, at: joined.revision)
    case .changes(let changes): try take(changes, from: joined.revision - changes.count + 1)
    }
  }

  private func take(_ text: String, _ format: FormatJSON?, at revision: Int) throws {
    #expect(formats || format == nil)
    let text = Document(text)
    document = try format?.document(of: text) ?? RichDocument(text)
    self.revision = revision
  }

  private func take(_ changes: [ServerMessage.Change], from first: Int) throws {
    #expect(first == revision + 1)
    for change in changes {
      #expect(formats || change.format == nil)
      let format = try change.format?.changeFormat(of: change.operation)
      let operation = RichOperation(change.operation, format)
      if change.clientID == id {
        #expect(!formats || operation == pending || pending == nil)
        pending = nil
      } else {
        pending = try pending?.transformed(over: operation, side: .right)
      }
      try document.apply(operation)
      revision += 1
    }
  }

  /// Sends a change of the content at the client's revision.
  func send(_ operation: RichOperation, makesRich: Bool = false) {
    sequence += 1
    let format = ChangeFormat(operation.format, makesRich: makesRich)
    pending = RichOperation(operation.text, format)
    let change = ClientMessage.Change(
      documentID: "n1", epoch: "epoch of n1", revision: revision, sequence: sequence,
      operation: operation.text, format: format.map(FormatJSON.init))
    sent = change
    _ = rig.send(line, .change(change))
  }

  var isWaiting: Bool { pending != nil }

  /// Handles all messages that have arrived.
  func read() throws {
    for message in rig.pushes(line) {
      switch message {
      case .changes(let changes): try take(changes.changes, from: changes.revision)
      case .numberedChanges(let numbered):
        for author in numbered.authors { numbers[author.number] = author.clientID }
        let changes = try numbered.run.changes.map {
          ServerMessage.Change(
            clientID: try #require(numbers[$0.author]), sequence: $0.sequence,
            operation: $0.operation, format: $0.format)
        }
        try take(changes, from: numbered.run.revision)
      case .acknowledged(let acknowledged):
        guard let own = pending else { continue }
        #expect(acknowledged.revision == revision + 1)
        try document.apply(own)
        revision += 1
        pending = nil
      case .refused(let refused):
        refusals.append(refused.code)
        pending = nil
        sequence -= 1
      case .resync(let resync):
        kind = resync.kind
        pending = nil
        sequence = resync.lastSequence
        try take(resync.text, resync.format, at: resync.revision)
      default: break
      }
    }
  }
}

@Suite("Formatted notes")
struct FormattedNoteTests {
  private let rig: GatewayRig

  init() {
    rig = GatewayRig(isDemo: true)
    rig.make("n1")
  }

  private func operation(_ text: TextOperation, _ format: String) throws -> RichOperation {
    try RichOperation(text: text, formatJSON: Array(format.utf8))
  }

  /// The content of the note's log, in which each text is that of its operations alone.
  private func stored(_ rig: GatewayRig? = nil) throws -> NoteContent {
    var content = NoteContent()
    var text = Document()
    for entry in (rig ?? self.rig).store.log(of: "n1") ?? [] {
      try content.apply(entry.operation, entry.format)
      try text.apply(entry.operation)
      #expect(text == content.text)
      content.document.checkInvariants()
    }
    return content
  }

  /// Makes a rich note `The fox\n` with a bold word.
  private func begin() throws -> NoteFollower {
    let author = try NoteFollower(rig, formats: true)
    author.send(
      try operation([.insert("The fox\n")], #"{"sets":[{"bold":true}],"put":[3,1]}"#),
      makesRich: true)
    try author.read()
    return author
  }

  private static let bold = #"{"sets":[{"bold":true}],"kept":[4,3,1]}"#

  @Test("clients that know formatting receive it, others the text; both are sent the kind")
  func joining() throws {
    let author = try begin()
    let plain = try NoteFollower(rig, formats: false)
    let rich = try NoteFollower(rig, formats: true)
    #expect(plain.kind == .rich && rich.kind == .rich)
    #expect(rich.document == author.document && rich.document.hasAttributes)
    #expect(plain.document == RichDocument(Document("The fox\n")))
    author.send(try operation(.identity(length: 8), Self.bold))
    plain.send(RichOperation([.retain(7), .insert("es"), .retain(1)]))
    for client in [author, plain, rich] { try client.read() }
    // The letters were typed behind bold text.
    #expect(author.document.attributes(at: 8) == (try AttributeSet(json: #"{"bold":true}"#)))
    for client in [author, rich] { #expect(client.document == (try stored().document)) }
    #expect(plain.document == RichDocument(try stored().text))
  }

  @Test("a note is encoded once for each form, and plain notes for one")
  func forms() throws {
    let author = try begin()
    var clients: [NoteFollower] = []
    for numbers in [false, true] {
      for formats in [false, true] {
        for _ in 0..<3 {
          clients.append(try NoteFollower(rig, formats: formats, numbers: numbers))
        }
      }
    }
    func frames(_ change: RichOperation) throws -> Int {
      rig.frameAddresses = []
      author.send(change)
      for client in clients { try client.read() }
      try author.read()
      #expect(rig.frameAddresses.count == 13)
      // One of the frames is the author's acknowledgement.
      return Set(rig.frameAddresses).count - 1
    }
    #expect(try frames(operation(.identity(length: 8), Self.bold)) == 4)
    #expect(try frames(RichOperation(.identity(length: 8))) == 2)
    for client in clients {
      #expect(
        client.document == (client.formats ? author.document : RichDocument(Document("The fox\n"))))
    }
  }

  @Test("formatting is refused in a plain note, and its author may send another change")
  func plainNote() throws {
    let author = try NoteFollower(rig, formats: true)
    author.send(RichOperation([.insert("The fox\n")]))
    try author.read()
    author.send(try operation(.identity(length: 8), Self.bold))
    try author.read()
    #expect(author.refusals == [.notAllowed])
    author.send(try operation(.identity(length: 8), Self.bold), makesRich: true)
    try author.read()
    #expect(author.revision == 2 && author.kind == nil)
    #expect(author.document == (try stored().document))
    let plain = try NoteFollower(rig, formats: false)
    plain.send(try operation(.identity(length: 8), Self.bold))
    try plain.read()
    #expect(plain.refusals == [.notAllowed])
  }

  @Test("a lost acknowledgement is repeated for the same formatting alone")
  func repeating() throws {
    let author = try begin()
    author.send(try operation(.identity(length: 8), Self.bold))
    try author.read()
    let change = try #require(author.sent)
    guard case .acknowledged(let again)? = rig.ask(author.line, .change(change)) else {
      Issue.record("a repetition was not acknowledged")
      return
    }
    #expect(again.revision == 2)
    var other = change
    other.format = nil
    guard case .refused(let refused)? = rig.ask(author.line, .change(other)) else {
      Issue.record("another change under the same number was not refused")
      return
    }
    #expect(refused.code == .sequenceReused)
    #expect(rig.store.log(of: "n1")?.count == 2)
  }

  @Test(
    "bad formatting is refused, and nothing is lost",
    arguments: [
      (#"{"sets":[{"bold":false}],"kept":[0,1,1]}"#, ErrorCode.badOperation),
      (#"{"sets":[{"bold":true}],"kept":[0,9,1]}"#, .badOperation),
      (#"{"sets":[{"bold":true}],"kept":[0,1,2]}"#, .badOperation),
      (#"{"sets":[{"bold":null}],"put":[1,1]}"#, .badOperation),
      (#"{"sets":[{"embed":{"rule":true}}],"kept":[0,1,1]}"#, .badOperation),
      (#"{"sets":[{"__proto__":true}],"kept":[0,1,1]}"#, .badOperation),
      (#"{"sets":[{"Bold":true}],"kept":[0,1,1]}"#, .badOperation),
      (#"{"sets":[{"a":{"b":1}}],"kept":[0,1,1]}"#, .badOperation),
      (#"[]"#, .badOperation), (#""bold""#, .badOperation), ("7", .badOperation),
    ])
  func badFormats(format: String, code: ErrorCode) throws {
    let author = try begin()
    func say(_ format: String) -> [ServerMessage] {
      rig.say(
        author.line,
        #"{"messageId":"m","type":"change","data":{"documentId":"n1","epoch":"epoch of n1","#
          + #""revision":1,"sequence":2,"operation":[8],"format":\#(format)}}"#)
      return rig.pushes(author.line)
    }
    guard case .refused(let refused)? = say(format).first else {
      Issue.record("not refused: \(format)")
      return
    }
    #expect(refused.code == code && refused.sequence == 2)
    #expect(!refused.message.contains("proto"))
    // Names from programming languages are names like any other.
    let sets = #"{"sets":[{"constructor":"__proto__","prototype":1}],"kept":[0,1,1]}"#
    guard case .acknowledged? = say(sets).first else {
      Issue.record("not accepted")
      return
    }
    #expect(
      try stored().document.attributes(at: 0)
        == (try AttributeSet(json: #"{"bold":true,"constructor":"__proto__","prototype":1}"#)))
  }

  @Test("a reader that falls behind continues in its own form", arguments: [false, true])
  func lagging(isLong: Bool) throws {
    let rig = GatewayRig(isDemo: true) {
      $0.windowEntries = 2
      if isLong { $0.lagRevisionsMax = 3 }
    }
    rig.make("n1")
    let author = try NoteFollower(rig, formats: true)
    author.send(
      try operation([.insert("The fox\n")], #"{"sets":[{"bold":true}],"put":[3,1]}"#),
      makesRich: true)
    try author.read()
    let slow = try [true, false].map { try NoteFollower(rig, formats: $0) }
    for client in slow { rig.queues.bytes[client.line] = .max }
    for round in 0..<6 {
      author.send(
        try operation(
          .identity(length: 8), #"{"sets":[{"size":\#(round)}],"kept":[\#(round),1,1]}"#))
      try author.read()
    }
    for client in slow {
      rig.queues.bytes[client.line] = nil
      // Entries that are no longer in memory are read in several steps.
      for _ in 0..<7 where client.revision < 7 {
        rig.drain(client.line)
        try client.read()
      }
      #expect(client.revision == 7)
    }
    #expect(slow[0].document == author.document)
    #expect(slow[1].document == RichDocument(author.document.text))
    #expect(slow.allSatisfy { $0.kind == .rich })
  }

  @Test("a client that resumes, and one that reads pages, receive formatting if they know it")
  func resuming() throws {
    let author = try begin()
    author.send(try operation(.identity(length: 8), Self.bold))
    try author.read()
    for formats in [true, false] {
      let (line, _) = try rig.connectNative(nil)
      let resume = ResumePoint(epoch: "epoch of n1", revision: 0)
      let join = ClientMessage.Join(documentID: "n1", resume: resume, formats: formats)
      guard case .joined(let joined)? = rig.ask(line, .join(join)),
        case .changes(let missed) = joined.content
      else {
        Issue.record("not resumed")
        return
      }
      #expect(joined.kind == .rich && joined.format == nil)
      #expect(missed.map { $0.format != nil } == [formats, formats])
      let history = ClientMessage.DocumentHistory(documentID: "n1", resume: resume)
      guard case .documentHistory(let page)? = rig.ask(line, .documentHistory(history)) else {
        Issue.record("no page")
        return
      }
      #expect(page.changes == missed)
    }
  }

  @Test("notes are made as rich ones over the socket and over HTTP, and lists say so")
  func creation() throws {
    let (line, welcome) = try rig.connectNative(nil)
    #expect(welcome.capabilities.contains("rich"))
    guard
      case .created? = rig.ask(line, .create(.init(documentID: "r1", title: "R", kind: .rich))),
      case .joined(let joined)? = rig.ask(line, .join(.init(documentID: "r1")))
    else {
      Issue.record("not made")
      return
    }
    #expect(joined.kind == .rich)
    let put = rig.request("PUT", "/api/notes/r2", #"{"title":"R","kind":"rich"}"#)
    #expect(put.status == 201 && put.body.contains(#""kind":"rich""#))
    let made = rig.request("POST", "/api/notes", #"{"title":"R","kind":"rich"}"#)
    #expect(made.status == 201 && made.body.contains(#""kind":"rich""#))
    for method in ["PUT", "POST"] {
      let path = method == "PUT" ? "/api/notes/r3" : "/api/notes"
      #expect(rig.request(method, path, #"{"title":"R","kind":"tree"}"#).status == 400)
    }
    #expect(rig.request("GET", "/api/notes/r2").body.contains(#""kind":"rich""#))
    #expect(!rig.request("GET", "/api/notes/n1").body.contains("kind"))
    let list = rig.request("GET", "/api/notes").body
    #expect(list.components(#""kind":"rich""#) == 3)
    let parts = rig.request("GET", "/api/notes?parts=").body
    let places = JSONValue(Array(parts.utf8))?.fields?["rich"]?.elements?.count
    #expect(places == 3)
  }

  @Test("edits over HTTP: texts inherit, formats state, restored versions have their attributes")
  func edits() throws {
    let author = try begin()
    author.send(try operation(.identity(length: 8), Self.bold))
    try author.read()
    let before = try stored()
    #expect(rig.request("PUT", "/api/notes/n1/text", "The old fox\n").status == 200)
    var content = try stored()
    #expect(content.document.attributes(at: 9) == (try AttributeSet(json: #"{"bold":true}"#)))
    let change =
      #"{"revision":3,"operation":[12,"!"],"format":{"sets":[{"size":9}],"put":[1,1]}}"#
    #expect(rig.request("POST", "/api/notes/n1/changes", change).status == 200)
    content = try stored()
    #expect(content.document.attributes(at: 12) == (try AttributeSet(json: #"{"size":9}"#)))
    for (format, status) in [
      (#"{"sets":[{"size":1.5}],"put":[1,1]}"#, 400), ("7", 400),
      (#"{"sets":[\#(repeatElement("{}", count: 1_001).joined(separator: ","))]}"#, 413),
    ] {
      let body = #"{"revision":4,"operation":[13,"!"],"format":\#(format)}"#
      #expect(rig.request("POST", "/api/notes/n1/changes", body).status == status)
    }
    let text = rig.request("GET", "/api/notes/n1/text?revision=2").body
    #expect(text.contains(#""format":{"sets":[{"bold":true}],"runs":[3,1,1,0,3,1,1,0]}"#))
    #expect(
      rig.request("POST", "/api/notes/n1/restore", #"{"revision":2}"#).status == 200)
    #expect(try stored() == before)
    try author.read()
    #expect(author.document == before.document)
  }

  @Test(
    "clients of all kinds have one text, and those that know formatting one document",
    arguments: UInt64(1)...12)
  func mixed(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let clients = try [
      NoteFollower(rig, formats: true), NoteFollower(rig, formats: true, numbers: true),
      NoteFollower(rig, formats: false), NoteFollower(rig, formats: false, numbers: true),
    ]
    let whaler = SimulatedWhalerClient(name: "w", resourceID: "n1")
    let line = rig.connectWhaler(pool: nil, token: nil)
    rig.say(line, String(decoding: whaler.connect(), as: UTF8.self))
    func read() throws {
      for frame in rig.frames(line) {
        let reply = try Array(frame.utf8).withUnsafeBytes { try whaler.receive($0) }
        if let reply { rig.say(line, String(decoding: reply, as: UTF8.self)) }
      }
    }
    try read()
    for step in 0..<80 {
      switch random.below(7) {
      case 5:
        let length = try #require(whaler.document).scalarCount
        let edit = TextOperation.random(length: length, edits: 2, wide: false, using: &random)
        if let sent = try whaler.edit(edit) { rig.say(line, String(decoding: sent, as: UTF8.self)) }
        if random.chance(60) { try read() }
      case 6:
        let text = try stored().text.text
        let status =
          random.chance(50)
          ? rig.request("PUT", "/api/notes/n1/text", text + "\(step)\n").status
          : rig.request(
            "POST", "/api/notes/n1/restore",
            #"{"revision":\#(random.below((rig.store.log(of: "n1") ?? []).count + 1))}"#
          ).status
        #expect(status == 200)
      case let index where index < 4:
        let client = clients[index]
        if random.chance(60) || client.isWaiting { try client.read() }
        var change = ReferenceRich.random(
          length: client.document.text.scalarCount, using: &random
        ).packed
        if !client.formats { change = RichOperation(change.text) }
        client.send(change, makesRich: client.formats)
      default:
        for client in clients where random.chance(50) { try client.read() }
        try read()
      }
    }
    repeat { try read() } while !whaler.isSettled
    for client in clients { try client.read() }
    let content = try stored()
    #expect(whaler.document == content.text)
    for client in clients {
      #expect(client.refusals == [])
      #expect(client.document == (client.formats ? content.document : RichDocument(content.text)))
    }
  }
}

extension String {
  /// The number of occurrences of a text.
  fileprivate func components(_ text: String) -> Int { ranges(of: text).count }
}
