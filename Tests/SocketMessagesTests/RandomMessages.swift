import OTCore
import ParleyOTWorkloads
import SocketMessages

/// Messages with anything in them that the types allow.
extension SplitMix64 {
  // MARK: Parts

  /// Texts with what breaks careless code: quotes, controls, all lengths of UTF-8, joiners, BOM.
  private static let pieces = [
    "a", "Z", " ", "\"", "\\", "/", "\n", "\r", "\r\n", "\t", "\u{0}", "\u{8}", "\u{c}", "\u{1f}",
    "\u{7f}", "é", "e\u{301}", "ß", "中", "\u{feff}", "\u{2028}", "\u{2029}", "\u{d7ff}",
    "\u{e000}", "\u{fffd}", "\u{ffff}", "👍", "👩‍👩‍👧", "\u{10ffff}", "K", "\\u0041", "{}", "[1]", ",",
  ]

  mutating func text(_ piecesMax: Int = 8) -> String {
    var text = ""
    for _ in 0..<number(0...piecesMax) { text += Self.pieces[number(0...Self.pieces.count - 1)] }
    return text
  }

  mutating func whole() -> Int {
    switch number(0...4) {
    case 0: 0
    case 1: number(0...9)
    case 2: number(-1000...1000)
    case 3: 1 << 53
    default: number(-(1 << 53)...(1 << 53))
    }
  }

  mutating func list<Element>(
    _ countMax: Int = 4, _ element: (inout SplitMix64) -> Element
  ) -> [Element] {
    (0..<number(0...countMax)).map { _ in element(&self) }
  }

  mutating func optional<Value>(_ value: (inout SplitMix64) -> Value) -> Value? {
    once(in: 2) ? value(&self) : nil
  }

  mutating func operation() -> TextOperation {
    var operation = TextOperation()
    for _ in 0..<number(0...6) {
      switch number(0...2) {
      case 0: operation.retain(number(0...100_000))
      case 1: operation.delete(number(0...100_000))
      default: operation.insert(text())
      }
    }
    return operation
  }

  mutating func selections() -> [Selection] {
    list { Selection(anchor: $0.whole(), head: $0.whole()) }
  }

  mutating func participant() -> ServerMessage.Participant {
    ServerMessage.Participant(
      clientID: text(), name: text(), color: optional { $0.text() }, selections: selections(),
      personID: optional { $0.text() })
  }

  mutating func change() -> ServerMessage.Change {
    ServerMessage.Change(
      clientID: text(), sequence: whole(), operation: operation(), format: optional { $0.format() })
  }

  mutating func exactChange() -> ClientMessage.Change {
    var change = ClientMessage.Change(
      documentID: text(), epoch: text(), revision: whole(), sequence: whole(),
      operation: operation(), format: optional { $0.format() })
    change.isExact = once(in: 2)
    return change
  }

  mutating func refused() -> ServerMessage.Refused {
    var refused = ServerMessage.Refused(
      documentID: text(), sequence: whole(), code: element(ErrorCode.allCases),
      message: text(), retryable: once(in: 2), retryAfter: optional { $0.whole() })
    refused.revision = optional { $0.whole() }
    return refused
  }

  /// The formatting of any change.
  mutating func format() -> FormatJSON {
    var format = RichOperationBuilder()
    for _ in 0...number(0...2) {
      let set = "{\"a\":\(number(0...9)),\"b-\(number(0...9))\":\"\(number(0...9))\\n\"}"
      guard let set = try? AttributeSet(json: set) else { continue }
      format.retain(number(1...9), setting: set)
      format.insert("x", with: set)
    }
    guard let format = ChangeFormat(format.finished().format, makesRich: once(in: 3)) else {
      preconditionFailure("every operation has a set")
    }
    return FormatJSON(format)
  }

  /// The attributes of any text.
  mutating func runs() -> FormatJSON {
    let words = ["x", "yz", text(5)]
    var document = RichOperationBuilder()
    for word in words {
      document.insert(word, with: (try? AttributeSet(json: "{\"a\":true}")) ?? AttributeSet())
    }
    var made = RichDocument()
    try? made.apply(document.finished())
    return FormatJSON(of: made)
  }

  mutating func kind() -> NoteKind? { optional { $0.element(NoteKind.allCases) } }

  mutating func author() -> ServerMessage.Author {
    ServerMessage.Author(number: whole(), clientID: text())
  }

  mutating func changeName() -> ChangeName {
    ChangeName(clientID: text(), sequence: whole())
  }

  mutating func element<Element>(_ elements: [Element]) -> Element {
    elements[number(0...elements.count - 1)]
  }

  // MARK: Messages

  /// One message of every case, in the order of the declaration.
  mutating func clientMessages() -> [ClientMessage] {
    [
      .hello(
        ClientMessage.Hello(
          name: text(), color: optional { $0.text() },
          client: optional { ClientMessage.Hello.Claim(id: $0.text(), resumeToken: $0.text()) },
          token: optional { $0.text() }, takesNumbers: once(in: 2),
          numbersMax: optional { $0.whole() })),
      .refresh(ClientMessage.Refresh(token: text())),
      .grant(ClientMessage.Refresh(token: text())),
      .join(
        ClientMessage.Join(
          documentID: text(),
          resume: optional {
            ResumePoint(
              epoch: $0.text(), revision: $0.whole(), change: $0.optional { $0.changeName() })
          }, unanswered: optional { $0.changeName() }, pages: once(in: 2), formats: once(in: 2))),
      .create(
        ClientMessage.Create(
          documentID: text(), title: text(), folder: optional { $0.text() }, kind: kind())),
      .documentHistory(
        ClientMessage.DocumentHistory(
          documentID: text(), resume: ResumePoint(epoch: text(), revision: whole()),
          limit: optional { $0.whole() })),
      .change(exactChange()),
      .select(
        ClientMessage.Select(documentID: text(), revision: whole(), selections: selections())),
      .leave(ClientMessage.Leave(documentID: text())),
      .profile(ClientMessage.Profile(name: text(), color: optional { $0.text() })),
      .ping,
    ] + clientRoomMessages()
  }

  mutating func serverMessages() -> [ServerMessage] {
    let limits = Limits(byName: { _ in whole() })
    let ends = [whole(), whole()].sorted()
    return [
      .welcome(
        ServerMessage.Welcome(
          clientID: text(), resumeToken: text(), serverTime: Int64(whole()), demo: once(in: 2),
          capabilities: list { $0.text() }, limits: limits, personID: optional { $0.text() })),
      .refreshed(ServerMessage.Refreshed(expiresAt: optional { Int64($0.whole()) })),
      .granted(ServerMessage.Refreshed(expiresAt: optional { Int64($0.whole()) })),
      .tokenExpiring(ServerMessage.TokenExpiring(expiresAt: Int64(whole()))),
      .accessChanged(
        ServerMessage.AccessChanged(
          documentID: text(), access: element(ServerMessage.AccessChanged.Access.allCases))),
      .joined(
        ServerMessage.Joined(
          documentID: text(), title: text(), epoch: text(), revision: whole(),
          content: once(in: 2) ? .text(text(30)) : .changes(list { $0.change() }),
          lastSequence: whole(), change: optional { $0.changeName() },
          settled: optional { $0.changeName() }, access: once(in: 2) ? .read : .write,
          presence: list { $0.participant() }, people: optional { $0.whole() },
          numbers: optional {
            ServerMessage.Numbers(
              document: $0.whole(), time: Int64($0.whole()), authors: $0.list { $0.author() })
          }, kind: kind(), format: optional { $0.runs() })),
      .numberedChanges(
        ServerMessage.NumberedChanges(
          run: .init(
            document: whole(), revision: whole(), time: Int64(whole()),
            changes: list {
              .init(
                author: $0.whole(), sequence: $0.whole(), operation: $0.operation(),
                format: $0.optional { $0.format() })
            }),
          authors: list { $0.author() })),
      .created(
        ServerMessage.Created(
          documentID: text(), title: text(), folder: optional { $0.text() },
          isRepeated: once(in: 2))),
      .behind(
        ServerMessage.Behind(
          documentID: text(), epoch: text(), revision: whole(), lastSequence: whole(),
          settled: optional { $0.changeName() })),
      .documentHistory(
        ServerMessage.DocumentHistory(
          documentID: text(), epoch: text(), revision: whole(), changes: list { $0.change() },
          time: optional { Int64($0.whole()) }, hasMore: once(in: 2))),
      .changes(
        ServerMessage.Changes(
          documentID: text(), revision: whole(), changes: list { $0.change() },
          time: optional { Int64($0.whole()) })),
      .acknowledged(
        ServerMessage.Acknowledged(
          documentID: text(), sequence: whole(), revision: whole(),
          time: optional { Int64($0.whole()) })),
      .refused(refused()),
      .resync(
        ServerMessage.Resync(
          documentID: text(), reason: element(ServerMessage.ResyncReason.allCases), epoch: text(),
          revision: whole(), text: text(30), lastSequence: whole(),
          change: optional { $0.changeName() }, kind: kind(), format: optional { $0.runs() })),
      .selections(
        ServerMessage.Selections(
          documentID: text(), revision: whole(), clientID: text(), selections: selections())),
      .presence(
        ServerMessage.Presence(
          documentID: text(), joined: list { $0.participant() },
          updated: list { $0.participant() }, left: list { $0.text() },
          people: optional { $0.whole() })),
      .left(ServerMessage.Left(documentID: text())),
      .resourceUpdate(ResourceUpdate(resourceID: text(), senderID: optional { $0.text() })),
      .documentChanged(
        ServerMessage.DocumentChanged(
          documentID: text(), title: optional { $0.text() }, deleted: once(in: 2))),
      .error(
        ServerMessage.Failure(
          code: element(ErrorCode.allCases), message: text(), retryable: once(in: 2),
          retryAfter: optional { $0.whole() })),
      .goodbye(ServerMessage.Goodbye(reason: text(), reconnectAfter: ends[0]...ends[1])),
      .pong(ServerMessage.Pong(serverTime: Int64(whole()))),
    ] + serverRoomMessages()
  }

  mutating func whalerClientMessages() -> [WhalerClientMessage] {
    [
      .resourceConnection(WhalerClientMessage.ResourceConnection(resourceID: text())),
      .docChange(
        WhalerClientMessage.DocChange(
          resourceID: text(), revision: whole(), operation: operation())),
    ]
  }

  mutating func whalerServerMessages() -> [WhalerServerMessage] {
    [
      .resourceConnectionConf(
        WhalerServerMessage.ResourceConnectionConf(
          resourceID: text(), initialState: text(30), revision: whole())),
      .docChangeReturnOps(
        WhalerServerMessage.DocChangeReturnOps(resourceID: text(), operation: operation())),
      .resourceUpdate(ResourceUpdate(resourceID: text(), senderID: optional { $0.text() })),
    ]
  }

  /// The bytes of one message of every case.
  mutating func encoded(_ dialect: Dialect) -> [[UInt8]] {
    let id = text()
    func bytes<Message>(
      _ messages: [Message], _ encode: (Message, inout [UInt8]) -> Void
    ) -> [[UInt8]] {
      messages.map { message in
        var buffer: [UInt8] = []
        encode(message, &buffer)
        return buffer
      }
    }
    switch dialect.direction {
    case .client: return bytes(clientMessages()) { $0.encode(messageID: id, into: &$1) }
    case .server: return bytes(serverMessages()) { $0.encode(messageID: id, into: &$1) }
    case .whalerClient: return bytes(whalerClientMessages()) { $0.encode(messageID: id, into: &$1) }
    case .whalerServer:
      return bytes(whalerServerMessages()) {
        $0.encode(senderID: Dialect.whalerSender, messageID: id, into: &$1)
      }
    }
  }
}
