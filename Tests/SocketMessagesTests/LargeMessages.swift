import ParleyJSON
import OTCore
import SocketMessages

/// Messages as large as asked for: each text has so many scalars, each list so many elements.
///
/// The switches have no default: a new message does not compile here until it has a large form.
enum Large {
  /// A text with what has to be escaped and what has to be decoded.
  static func text(_ size: Int) -> String {
    String(String(repeating: "aé\"漢\n👍 b", count: size / 8 + 1).unicodeScalars.prefix(size))
  }

  /// Short texts, no two of them alike.
  static func texts(_ size: Int) -> [String] { (0..<size).map { "é\($0)" } }

  static func value(_ size: Int) -> JSONValue {
    JSONValue([JSONValue(text(size)), JSONValue((0..<size).map(JSONValue.init(_:)))])
  }

  static func operation(_ size: Int) -> TextOperation {
    var operation = TextOperation()
    for _ in 0..<size / 2 {
      operation.retain(1)
      operation.insert("é")
    }
    operation.insert(text(size))
    return operation
  }

  static func selections(_ size: Int) -> [Selection] {
    (0..<size).map { Selection(anchor: $0, head: $0 + 1) }
  }

  static func change(_ size: Int) -> ServerMessage.Change {
    .init(clientID: text(size), sequence: size, operation: operation(size))
  }

  static func changes(_ size: Int) -> [ServerMessage.Change] {
    [change(size)] + texts(size).map { .init(clientID: $0, sequence: 1, operation: operation(2)) }
  }

  static func participants(_ size: Int) -> [ServerMessage.Participant] {
    [.init(clientID: "c", name: text(size), color: nil, selections: selections(size))]
      + texts(size).map { .init(clientID: $0, name: $0, color: "#123456", selections: []) }
  }

  static func people(_ size: Int) -> [PersonProfile] {
    texts(size).map { .init(personID: PersonID($0), name: $0) }
  }

  static func publications(_ size: Int) -> [Publication] {
    [.init(offset: 1, time: 1, data: value(size))]
      + (0..<size).map { .init(offset: $0, time: 1, personID: "p", data: .null) }
  }

  static func message(_ kind: ClientMessage.Kind, _ size: Int) -> ClientMessage {
    let text = text(size)
    return switch kind {
    case .hello:
      .hello(
        .init(
          name: text, color: text, client: .init(id: text, resumeToken: text), token: text))
    case .refresh: .refresh(.init(token: text))
    case .grant: .grant(.init(token: text))
    case .join:
      .join(
        .init(
          documentID: text,
          resume: .init(epoch: text, revision: 1, change: .init(clientID: text, sequence: 1))))
    case .create: .create(.init(documentID: text, title: text, folder: text))
    case .documentHistory:
      .documentHistory(.init(documentID: text, resume: .init(epoch: text, revision: 1), limit: 1))
    case .change:
      .change(
        .init(
          documentID: text, epoch: text, revision: 1, sequence: 1, operation: operation(size)))
    case .select:
      .select(.init(documentID: text, revision: 1, selections: selections(size)))
    case .leave: .leave(.init(documentID: text))
    case .profile: .profile(.init(name: text, color: text))
    case .subscribe: .subscribe(.init(room: text, position: .init(epoch: Epoch(text), offset: 1)))
    case .unsubscribe: .unsubscribe(.init(room: text))
    case .publish:
      .publish(.init(room: text, data: value(size), key: text, senderID: text, pushes: true))
    case .roomHistory: .roomHistory(.init(room: text, since: 1, before: 2, limit: 3))
    case .typing: .typing(.init(room: text, isTyping: true))
    case .receipt: .receipt(.init(room: text, offset: 1, state: .read))
    case .receipts: .receipts(.init(room: text, offset: 1))
    case .lastOnline: .lastOnline(.init(room: text, people: texts(size)))
    case .block: .block(.init(personID: text, isBlocked: true))
    case .blocks: .blocks
    case .flag: .flag(.init(room: text, offset: 1, isFlagged: true, reason: text))
    case .flags: .flags(.init(room: text))
    case .follow: .follow(.init(room: text, isFollowing: true))
    case .values: .values(.init(room: text, prefix: text, after: ValueName(text)))
    case .signal: .signal(.init(room: text, name: text, data: value(size)))
    case .roomPresence: .roomPresence(.init(room: text, data: value(size)))
    case .ping: .ping
    }
  }

  static func message(_ kind: ServerMessage.Kind, _ size: Int) -> ServerMessage {
    let text = text(size)
    return switch kind {
    case .welcome:
      .welcome(
        .init(
          clientID: text, resumeToken: text, serverTime: 1, demo: false,
          capabilities: texts(size), limits: Limits()))
    case .refreshed: .refreshed(.init(expiresAt: 1))
    case .granted: .granted(.init(expiresAt: 1))
    case .tokenExpiring: .tokenExpiring(.init(expiresAt: 1))
    case .accessChanged: .accessChanged(.init(documentID: text, access: .read))
    case .joined:
      .joined(
        .init(
          documentID: text, title: text, epoch: text, revision: 1,
          content: .changes(changes(size)), lastSequence: 1, access: .write,
          presence: participants(size)))
    case .created:
      .created(.init(documentID: text, title: text, folder: text, isRepeated: true))
    case .behind: .behind(.init(documentID: text, epoch: text, revision: 1, lastSequence: 1))
    case .documentHistory:
      .documentHistory(
        .init(
          documentID: text, epoch: text, revision: 1, changes: changes(size), hasMore: true))
    case .changes: .changes(.init(documentID: text, revision: 1, changes: changes(size)))
    case .numberedChanges:
      .numberedChanges(
        .init(
          run: .init(
            document: 1, revision: 1, time: 1,
            changes: changes(size).map {
              .init(author: 1, sequence: 1, operation: $0.operation)
            }),
          authors: [.init(number: 1, clientID: text)]))
    case .acknowledged: .acknowledged(.init(documentID: text, sequence: 1, revision: 1))
    case .refused:
      .refused(
        .init(
          documentID: text, sequence: 1, code: .badMessage, message: text, retryable: false,
          retryAfter: nil))
    case .resync:
      .resync(
        .init(
          documentID: text, reason: .lagging, epoch: text, revision: 1, text: text,
          lastSequence: 1))
    case .selections:
      .selections(
        .init(documentID: text, revision: 1, clientID: text, selections: selections(size)))
    case .presence:
      .presence(
        .init(
          documentID: text, joined: participants(size), updated: participants(size),
          left: texts(size)))
    case .left: .left(.init(documentID: text))
    case .subscribed:
      .subscribed(
        .init(
          room: text, position: .init(epoch: Epoch(text), offset: 1),
          publications: publications(size),
          present: people(size)))
    case .values:
      .values(
        .init(
          room: text, position: .init(epoch: Epoch(text), offset: 1),
          values: NamedValues((0..<size).map { .init(ValueName("v\($0)"), .null, offset: 1) }),
          hasMore: true))
    case .signal:
      .signal(.init(room: text, clientID: text, personID: nil, name: text, data: value(size)))
    case .unsubscribed: .unsubscribed(.init(room: text))
    case .published:
      .published(
        .init(room: text, position: .init(epoch: Epoch(text), offset: 1), isRepeated: false))
    case .publication:
      .publication(
        .init(
          room: text, epoch: Epoch(text), publication: .init(offset: 1, time: 1, data: value(size)))
      )
    case .roomHistory:
      .roomHistory(
        .init(
          room: text, position: .init(epoch: Epoch(text), offset: 1),
          publications: publications(size),
          hasGap: false, hasMore: true))
    case .roomPresence:
      .roomPresence(
        .init(
          room: RoomName(text), joined: people(size), updated: people(size),
          left: texts(size).map { PersonID($0) }))
    case .typing: .typing(.init(room: text, personID: text, isTyping: true))
    case .receipt: .receipt(.init(room: text, offset: 1, personID: text, state: .read))
    case .receipts:
      .receipts(
        .init(
          room: text, offset: 1,
          receipts: texts(size).map { .init(personID: PersonID($0), stage: .read) }))
    case .lastOnline:
      .lastOnline(
        .init(
          room: text,
          people: texts(size).map { .init(personID: $0, isOnline: false, time: 1) }))
    case .blocks: .blocks(.init(people: texts(size)))
    case .flag:
      .flag(.init(room: text, offset: 1, personID: text, isFlagged: true, reason: text))
    case .flags:
      .flags(
        .init(
          room: text,
          flags: texts(size).map { .init(offset: 1, personID: PersonID($0), reason: $0, time: 1) }))
    case .following: .following(.init(room: text, isFollowing: true))
    case .resourceUpdate: .resourceUpdate(.init(resourceID: text, senderID: text))
    case .documentChanged:
      .documentChanged(.init(documentID: text, title: text, deleted: false))
    case .error:
      .error(.init(code: .badMessage, message: text, retryable: false, retryAfter: nil))
    case .goodbye: .goodbye(.init(reason: text, reconnectAfter: 1...2))
    case .pong: .pong(.init(serverTime: 1))
    }
  }

  static func message(_ kind: WhalerClientKind, _ size: Int) -> WhalerClientMessage {
    switch kind {
    case .resourceConnection: .resourceConnection(.init(resourceID: text(size)))
    case .docChange:
      .docChange(.init(resourceID: text(size), revision: 1, operation: operation(size)))
    }
  }

  static func message(_ kind: WhalerServerKind, _ size: Int) -> WhalerServerMessage {
    switch kind {
    case .resourceConnectionConf:
      .resourceConnectionConf(
        .init(resourceID: text(size), initialState: text(size), revision: 1))
    case .docChangeReturnOps:
      .docChangeReturnOps(.init(resourceID: text(size), operation: operation(size)))
    case .resourceUpdate: .resourceUpdate(.init(resourceID: text(size), senderID: text(size)))
    }
  }
}
