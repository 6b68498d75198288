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
    Publication(
      offset: whole(), time: Int64(whole()), personID: optional { PersonID($0.text()) },
      senderID: optional { $0.text() }, data: value())
  }

  mutating func person() -> PersonProfile {
    PersonProfile(personID: PersonID(text()), name: text(), color: optional { $0.text() })
  }

  mutating func clientRoomMessages() -> [ClientMessage] {
    [
      .subscribe(
        ClientMessage.Subscribe(
          room: text(), position: optional { $0.roomPoint() }, isPresent: once(in: 2))),
      .unsubscribe(ClientMessage.Unsubscribe(room: text())),
      .publish(
        ClientMessage.Publish(
          room: text(), data: value(), key: optional { $0.text() },
          senderID: optional { $0.text() }, pushes: once(in: 2))),
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
      .subscribed(
        ServerMessage.Subscribed(
          room: text(), position: roomPoint(), isRecovered: optional { $0.once(in: 2) },
          publications: list { $0.publication() },
          present: optional { $0.list { $0.person() } })),
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
