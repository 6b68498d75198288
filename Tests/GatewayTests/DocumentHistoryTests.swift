import Gateway
import ParleyGatewayPorts
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing

/// Pages of changes over the socket, and joins that are too far behind.
@Suite("Pages of a document's changes")
struct DocumentHistoryTests {
  private static let epoch = "epoch of n1"

  /// Returns a gateway with a small window, and a note whose revisions each insert a letter.
  private func rig(
    revisions: Int, _ change: (inout GatewaySettings) -> Void = { _ in }
  ) throws -> GatewayRig {
    let rig = GatewayRig(isDemo: true) {
      $0.windowEntries = 4
      $0.lagRevisionsMax = 6
      change(&$0)
    }
    rig.make("n1")
    let (id, _) = try rig.connectNative(nil)
    rig.ask(id, .join(.init(documentID: "n1")))
    for revision in 0..<revisions {
      var operation = TextOperation()
      operation.insert("x")
      operation.retain(revision)
      rig.ask(
        id,
        .change(
          .init(
            documentID: "n1", epoch: Self.epoch, revision: revision, sequence: revision + 1,
            operation: operation)))
    }
    return rig
  }

  private func page(
    _ rig: GatewayRig, _ id: UInt64, after revision: Int, epoch: String = Self.epoch,
    change: ChangeName? = nil, limit: Int? = nil
  ) throws -> ServerMessage.DocumentHistory {
    let resume = ResumePoint(epoch: epoch, revision: revision, change: change)
    let reply = rig.ask(
      id, .documentHistory(.init(documentID: "n1", resume: resume, limit: limit)))
    guard case .documentHistory(let page)? = reply else { throw Unexpected(message: reply) }
    return page
  }

  private func code(_ reply: ServerMessage?) -> ErrorCode? {
    if case .error(let failure)? = reply { failure.code } else { nil }
  }

  @Test("a client too far behind gets the text, or reads pages first", arguments: [false, true])
  func behind(pages: Bool) throws {
    let rig = try rig(revisions: 20)
    let (id, _) = try rig.connectNative(nil)
    let resume = ResumePoint(epoch: Self.epoch, revision: 2)
    let reply = rig.ask(id, .join(.init(documentID: "n1", resume: resume, pages: pages)))
    switch reply {
    case .behind(let behind)? where pages:
      #expect(
        behind == .init(documentID: "n1", epoch: Self.epoch, revision: 20, lastSequence: 0))
    case .joined(let joined)? where !pages:
      #expect(joined.content == .text(String(repeating: "x", count: 20)))
    default: Issue.record("\(String(describing: reply))")
    }
    let change = ClientMessage.Change(
      documentID: "n1", epoch: Self.epoch, revision: 20, sequence: 1,
      operation: [.retain(20)])
    guard case .refused(let refused)? = rig.ask(id, .change(change)) else {
      #expect(!pages)
      return
    }
    #expect(pages && refused.code == .notJoined)
  }

  @Test("pages contain every change, from memory and from the store, up to the size of a page")
  func pages() throws {
    let rig = try rig(revisions: 20)
    let (id, _) = try rig.connectNative(nil)
    var revision = 0
    var name: ChangeName?
    var sizes: [Int] = []
    while true {
      let page = try page(rig, id, after: revision, change: name)
      #expect(page.revision == revision + 1)
      #expect(
        page.changes.map(\.sequence) == Array(revision + 1..<revision + 1 + page.changes.count))
      sizes.append(page.changes.count)
      revision += page.changes.count
      name = page.changes.last.map {
        ChangeName(clientID: $0.clientID, sequence: $0.sequence, time: page.time)
      }
      if !page.hasMore { break }
    }
    #expect(revision == 20)
    #expect(sizes == [4, 4, 4, 4, 4])
    #expect(try page(rig, id, after: 20).changes == [])
  }

  @Test("a reader can request one page at a time, also while the note is read")
  func oneAtATime() throws {
    let former = try rig(revisions: 20)
    let rig = GatewayRig(isDemo: true, store: former.store, prefix: "h") { $0.windowEntries = 4 }
    let (id, _) = try rig.connectNative(nil)
    rig.isStepwise = true
    let request = ClientMessage.documentHistory(
      .init(documentID: "n1", resume: .init(epoch: Self.epoch, revision: 0)))
    #expect(rig.ask(id, request) == nil)
    for _ in 0..<5 { #expect(code(rig.ask(id, request)) == .busy) }
    // The store reads the note first, then the page.
    #expect(rig.stored.count == 1)
    rig.performStoreRequests()
    #expect(code(rig.ask(id, request)) == .busy)
    #expect(rig.stored.count == 1)
    rig.performStoreRequests()
    let pages = rig.pushes(id).filter { if case .documentHistory = $0 { true } else { false } }
    #expect(pages.count == 1)
    #expect(code(rig.ask(id, request)) == nil)
  }

  @Test("a page has as many bytes as a message should, and one change at least")
  func bytes() throws {
    let rig = try rig(revisions: 20) {
      $0.windowEntries = 1_000
      $0.catchUpBytes = 200
    }
    let (id, _) = try rig.connectNative(nil)
    let count = try page(rig, id, after: 0).changes.count
    #expect((1...4).contains(count))
    #expect(try page(rig, id, after: 0, limit: 1).changes.count == 1)
  }

  @Test("a request for another epoch, another change or a future revision gets no page")
  func refused() throws {
    let rig = try rig(revisions: 20)
    let (id, welcome) = try rig.connectNative(nil)
    func code(_ resume: ResumePoint, limit: Int? = nil) -> ErrorCode? {
      self.code(
        rig.ask(id, .documentHistory(.init(documentID: "n1", resume: resume, limit: limit))))
    }
    #expect(code(.init(epoch: "other", revision: 1)) == .epochChanged)
    #expect(code(.init(epoch: Self.epoch, revision: 21)) == .futureRevision)
    #expect(code(.init(epoch: Self.epoch, revision: -1)) == .futureRevision)
    #expect(code(.init(epoch: Self.epoch, revision: 1), limit: 0) == .badMessage)
    let other = ChangeName(clientID: welcome.clientID, sequence: 9)
    for revision in [3, 19] {
      #expect(
        code(.init(epoch: Self.epoch, revision: revision, change: other)) == .historyGone)
    }
    let unknown = ClientMessage.DocumentHistory(
      documentID: "n2", resume: .init(epoch: "e", revision: 0))
    #expect(self.code(rig.ask(id, .documentHistory(unknown))) == .unknownDocument)
  }

  @Test("a reader whose socket is full gets no page")
  func backpressure() throws {
    let rig = try rig(revisions: 20)
    let (id, _) = try rig.connectNative(nil)
    rig.queues.bytes[id] = 100_000
    let resume = ResumePoint(epoch: Self.epoch, revision: 0)
    let reply = rig.ask(id, .documentHistory(.init(documentID: "n1", resume: resume)))
    #expect(code(reply) == .busy)
  }

  @Test("reading pages needs the right to read the document")
  func rights() throws {
    let rig = GatewayRig()
    rig.make("n1")
    let token = rig.token("ann", [Grant(.documents, NamePattern("n2"), .all)])
    let (id, _) = try rig.connectNative(token)
    let resume = ResumePoint(epoch: Self.epoch, revision: 0)
    let reply = rig.ask(id, .documentHistory(.init(documentID: "n1", resume: resume)))
    #expect(code(reply) == .notAllowed)
  }

  // MARK: Making notes

  @Test("a repeated request over the socket creates a note once")
  func create() throws {
    let rig = GatewayRig()
    let all = [Grant(.documents, NamePattern("*"), .all)]
    let (ann, _) = try rig.connectNative(rig.token("ann", all))
    let (ben, _) = try rig.connectNative(rig.token("ben", all))
    func make(_ id: UInt64, title: String = "Title") -> ServerMessage? {
      rig.ask(id, .create(.init(documentID: "n1", title: title)))
    }
    let made = ServerMessage.Created(documentID: "n1", title: "Title", isRepeated: false)
    #expect(make(ann) == .created(made))
    var again = made
    again.isRepeated = true
    #expect(make(ann) == .created(again))
    #expect(code(make(ann, title: "Other")) == .idTaken)
    #expect(code(make(ben)) == .idTaken)
    guard case .joined? = rig.ask(ann, .join(.init(documentID: "n1"))) else {
      Issue.record("the note is not there")
      return
    }
  }

  @Test("creating a note in a folder needs the right to manage notes there")
  func createInFolder() throws {
    let rig = GatewayRig()
    let team = try #require(NamePattern(folders: "team/*"))
    let (ann, _) = try rig.connectNative(
      rig.token("ann", [Grant(.folders, team, [.read, .manage])]))
    func make(_ name: String, in folder: String?) -> ServerMessage? {
      rig.ask(ann, .create(.init(documentID: name, title: "T", folder: folder)))
    }
    var made = ServerMessage.Created(
      documentID: "n1", title: "T", folder: "team/plans", isRepeated: false)
    #expect(make("n1", in: " team // plans ") == .created(made))
    made.isRepeated = true
    #expect(make("n1", in: "team/plans") == .created(made))
    guard case .joined? = rig.ask(ann, .join(.init(documentID: "n1"))) else {
      Issue.record("the note is not in the folder")
      return
    }
    #expect(code(make("n2", in: nil)) == .notAllowed)
    #expect(code(make("n2", in: "board")) == .notAllowed)
    #expect(code(make("n2", in: "team/../board")) == .badMessage)
    #expect(code(make("n2", in: "team/" + String(repeating: "n", count: 240))) == .tooLarge)
    let board = FolderPath(stored: "board")
    _ = rig.store.perform([.folders(.move(id: "n1", to: board, time: 1))])
    #expect(code(make("n1", in: "team/plans")) == .idTaken)
  }

  @Test("creating a note needs the right to manage it and a valid name")
  func createRefused() throws {
    let rig = GatewayRig { $0.limits.titleBytesMax = 5 }
    let (id, _) = try rig.connectNative(
      rig.token("ann", [Grant(.documents, NamePattern("n*"), .all)]))
    func code(_ name: String, _ title: String) -> ErrorCode? {
      self.code(rig.ask(id, .create(.init(documentID: name, title: title))))
    }
    #expect(code("n1", "title") == nil)
    #expect(code("n2", "titles") == .tooLarge)
    #expect(code("", "t") == .tooLarge)
    #expect(code(String(repeating: "n", count: 201), "t") == .tooLarge)
    #expect(code("m1", "t") == .notAllowed)
  }

  @Test("two devices of one user are one person")
  func devices() throws {
    let rig = GatewayRig()
    rig.make("n1")
    let token = rig.token("ann", [Grant(.documents, NamePattern("*"), .all)])
    let (first, _) = try rig.connectNative(token)
    rig.ask(first, .join(.init(documentID: "n1")))
    let (second, _) = try rig.connectNative(token)
    guard case .joined(let joined)? = rig.ask(second, .join(.init(documentID: "n1"))) else {
      Issue.record("not joined")
      return
    }
    let id = try #require(joined.presence.first?.personID)
    #expect(joined.presence.count == 1)

    // A third device sees both as one person, with another id in another note.
    rig.make("n2")
    let (third, _) = try rig.connectNative(
      rig.token("ben", [Grant(.documents, NamePattern("*"), .all)]))
    func people(_ note: String) -> [String?] {
      guard case .joined(let joined)? = rig.ask(third, .join(.init(documentID: note))) else {
        return []
      }
      return joined.presence.map(\.personID)
    }
    #expect(people("n1") == [id, id])
    rig.ask(first, .join(.init(documentID: "n2")))
    #expect(people("n2") != [id])
    #expect(people("n2").count == 1)
  }
}
