import ParleyJSON
import ParleyOTWorkloads
import SocketMessages

/// Messages about rooms with anything in them that the types allow.
extension SplitMix64 {
  private static let values = [
    "null", "true", "0", "-12.5e+3", "\"\"", "\"\\ud83d\\udc4d\\n\"", "[]", "{}",
    "{\"a\": [1, {\"b\":null}], \"a\":2}", "[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]",
  ]

  mutating func value() -> JSONValue { JSONValue(element(Self.values).utf8) ?? .null }

  mutating func roomPoint() -> RoomPosition { RoomPosition(epoch: Epoch(text()), offset: whole()) }

  mutating func receiptState() -> ReceiptStage { element(ReceiptStage.allCases) }

  mutating func publication() -> Publication {
    var publication = Publication(
      offset: whole(), time: Int64(whole()), personID: optional { PersonID($0.text()) },
      senderID: optional { $0.text() }, data: value())
    publication.values = optional { ValueOperation.json(of: $0.operations().all) }
    if publication.values != nil, once(in: 2) { publication.data = nil }
    return publication
  }

  /// A name of a value with an allowed length.
  mutating func valueName() -> ValueName { element(["card-7", "__proto__", "e\u{301}", "\u{0}"]) }

  mutating func operations() -> ValueOperationList {
    ValueOperationList(
      list { random in
        let name = random.valueName()
        switch random.number(0...3) {
        case 0:
          let lifetime = ValueOperation.Lifetime.seconds(random.number(1...9))
          return ValueOperation(name, .set(JSONValue(random.whole())), lifetime: lifetime)
        case 1: return ValueOperation(name, .merge(["a": .null]), lifetime: .connection)
        case 2: return ValueOperation(name, .add(random.number(-9...9)))
        default: return ValueOperation(name, .delete)
        }
      })
  }

  mutating func namedValues() -> NamedValues {
    NamedValues(list { .init($0.valueName(), $0.optional { $0.value() }, offset: $0.whole()) })
  }

  mutating func person() -> PersonProfile {
    var profile = PersonProfile(
      personID: PersonID(text()), name: text(), color: optional { $0.text() })
    profile.data = optional { $0.value() }
    return profile
  }

  private mutating func subscribe() -> ClientMessage.Subscribe {
    var subscribe = ClientMessage.Subscribe(
      room: text(), position: optional { $0.roomPoint() }, isPresent: once(in: 2))
    subscribe.values = optional { ValueNames(prefix: $0.text()) }
    subscribe.isLatest = once(in: 2)
    subscribe.presenceData = optional { $0.value() }
    return subscribe
  }

  private mutating func publish() -> ClientMessage.Publish {
    var publish = ClientMessage.Publish(
      room: text(), data: value(), key: optional { $0.text() },
      senderID: optional { $0.text() }, pushes: once(in: 2))
    if once(in: 2) {
      publish.data = nil
      publish.values = operations()
    }
    publish.ifOffsets = optional { ValueOffsets([$0.valueName(): $0.number(0...9)]) }
    publish.ifPosition = optional { $0.roomPoint() }
    return publish
  }

  private mutating func subscribed() -> ServerMessage.Subscribed {
    var subscribed = ServerMessage.Subscribed(
      room: text(), position: roomPoint(), isRecovered: optional { $0.once(in: 2) },
      publications: list { $0.publication() },
      present: optional { $0.list { $0.person() } })
    subscribed.values = optional { $0.namedValues() }
    subscribed.hasMore = once(in: 2)
    return subscribed
  }

  mutating func clientRoomMessages() -> [ClientMessage] {
    [
      .values(
        ClientMessage.Values(
          room: text(), prefix: text(), after: optional { $0.valueName() })),
      .signal(ClientMessage.Signal(room: text(), name: text(), data: value())),
      .roomPresence(ClientMessage.RoomPresence(room: text(), data: optional { $0.value() })),
      .subscribe(subscribe()),
      .unsubscribe(ClientMessage.Unsubscribe(room: text())),
      .publish(publish()),
      .roomHistory(
        ClientMessage.RoomHistory(
          room: text(), since: optional { $0.whole() }, before: optional { $0.whole() },
          limit: optional { $0.whole() })),
      .typing(ClientMessage.Typing(room: text(), isTyping: once(in: 2))),
      .receipt(ClientMessage.Receipt(room: text(), offset: whole(), state: receiptState())),
      .receipts(ClientMessage.Receipts(room: text(), offset: whole())),
      .lastOnline(ClientMessage.LastOnline(room: text(), people: list { $0.text() })),
      .block(ClientMessage.Block(personID: text(), isBlocked: once(in: 2))),
      .blocks,
      .flag(
        ClientMessage.Flag(
          room: text(), offset: whole(), isFlagged: once(in: 2), reason: optional { $0.text() })),
      .flags(ClientMessage.Flags(room: text())),
      .follow(ClientMessage.Follow(room: text(), isFollowing: once(in: 2))),
    ]
  }

  mutating func serverRoomMessages() -> [ServerMessage] {
    [
      .values(
        ServerMessage.Values(
          room: text(), position: roomPoint(), values: namedValues(), hasMore: once(in: 2))),
      .signal(
        ServerMessage.Signal(
          room: text(), clientID: optional { $0.text() },
          personID: optional { PersonID($0.text()) }, name: text(), data: value())),
      .subscribed(subscribed()),
      .unsubscribed(ServerMessage.Unsubscribed(room: text())),
      .published(
        ServerMessage.Published(room: text(), position: roomPoint(), isRepeated: once(in: 2))),
      .publication(
        ServerMessage.RoomPublication(
          room: text(), epoch: Epoch(text()), publication: publication())),
      .roomHistory(
        ServerMessage.RoomHistory(
          room: text(), position: roomPoint(), publications: list { $0.publication() },
          hasGap: once(in: 2), hasMore: once(in: 2))),
      .roomPresence(
        PresenceChange(
          room: RoomName(text()), joined: list { $0.person() }, updated: list { $0.person() },
          left: list { PersonID($0.text()) })),
      .typing(ServerMessage.Typing(room: text(), personID: text(), isTyping: once(in: 2))),
      .receipt(
        ServerMessage.Receipt(
          room: text(), offset: whole(), personID: text(), state: receiptState())),
      .receipts(
        ServerMessage.Receipts(
          room: text(), offset: whole(),
          receipts: list {
            Receipt(personID: PersonID($0.text()), stage: $0.receiptState())
          })),
      .lastOnline(
        ServerMessage.LastOnline(
          room: text(),
          people: list {
            ServerMessage.LastOnline.Item(
              personID: $0.text(), isOnline: $0.once(in: 2),
              time: $0.optional { Int64($0.whole()) })
          })),
      .blocks(ServerMessage.Blocks(people: list { $0.text() })),
      .flag(
        ServerMessage.Flag(
          room: text(), offset: whole(), personID: text(), isFlagged: once(in: 2),
          reason: optional { $0.text() })),
      .flags(
        ServerMessage.Flags(
          room: text(),
          flags: list {
            PublicationFlag(
              offset: $0.whole(), personID: PersonID($0.text()), reason: $0.optional { $0.text() },
              time: Int64($0.whole()))
          })),
      .following(ServerMessage.Following(room: text(), isFollowing: once(in: 2))),
    ]
  }
}
