import GatewayPorts
import SocketMessages
import WebSocketFrames

/// Messages of `parley.v1` clients: reading them, and where each goes.
extension NativeDialect {
  /// A message has come.
  ///
  /// - Parameter excess: why it is not to be done, if it is too much.
  func receive(
    _ bytes: UnsafeRawBufferPointer, kind: MessageKind, excess: Excess?,
    on connection: Connection
  ) {
    guard kind == .text else {
      sendError(
        .badMessage, "expected a text frame with JSON; a binary frame came", ref: "",
        to: connection)
      close(connection, .badMessage, "binary frame")
      return
    }
    let message: ClientMessage
    let ref: String
    do {
      (ref, message) = try ClientMessage.decode(
        bytes, operationComponentsMax: settings.limits.operationComponentsMax)
    } catch {
      metrics.received["malformed", default: 0] += 1
      if let change = error.change, case .ready = connection.phase {
        documents.refuse(
          change.sequence, error.code, error.description, of: change.documentID,
          ref: error.messageID ?? "", to: connection)
        return
      }
      sendError(error.code, error.description, ref: error.messageID ?? "", to: connection)
      // A change that cannot be read has no sequence to refuse; the error names its message.
      return
    }
    metrics.received[message.metricName, default: 0] += 1
    if let excess {
      refuse(message, excess, ref: ref, connection)
      return
    }
    switch connection.phase {
    case .greeting:
      guard case .hello(let hello) = message else {
        sendError(
          .notAllowed, "expected hello as the first message; say hello, then the rest", ref: ref,
          to: connection)
        return
      }
      greet(hello, ref: ref, connection)
    case .ready: handle(message, ref: ref, connection)
    case .closing: break
    }
  }

  private func handle(
    _ message: ClientMessage, ref: String, _ connection: Connection
  ) {
    switch message {
    case .hello:
      sendError(.notAllowed, "hello was said already", ref: ref, to: connection)
    case .refresh(let refresh): handle(refresh: refresh, ref: ref, connection)
    case .grant(let grant): handle(grant: grant, ref: ref, connection)
    case .join(let join): handle(join, ref: ref, connection)
    case .create(let create): handle(create, ref: ref, connection)
    case .documentHistory(let history): handle(history, ref: ref, connection)
    case .change(let change): handle(change, ref: ref, connection)
    case .select(let select): handle(select, ref: ref, connection)
    case .leave(let id):
      if let subscription = connection.subscriptions[id.documentID] {
        documents.leave(subscription)
        leaveRoom(ofNote: id.documentID, connection)
      }
      send(.left(.init(documentID: id.documentID)), ref: ref, to: connection)
    case .profile(let profile): handle(profile, ref: ref, connection)
    case .subscribe(let subscribe): rooms.handle(subscribe, ref: ref, connection)
    case .unsubscribe(let unsubscribe):
      rooms.leave(room: unsubscribe.room, connection)
      send(.unsubscribed(.init(room: unsubscribe.room)), ref: ref, to: connection)
    case .publish(let publish): rooms.handle(publish, ref: ref, connection)
    case .roomHistory(let history): rooms.handle(history, ref: ref, connection)
    case .typing(let typing): rooms.handle(typing, ref: ref, connection)
    case .receipt(let receipt): rooms.handle(receipt, ref: ref, connection)
    case .receipts(let receipts): rooms.handle(receipts, ref: ref, connection)
    case .lastOnline(let lastOnline): rooms.handle(lastOnline, ref: ref, connection)
    case .block(let block): rooms.handle(block, ref: ref, connection)
    case .blocks: rooms.handleBlocks(ref: ref, connection)
    case .flag(let flag): rooms.handle(flag, ref: ref, connection)
    case .flags(let flags): rooms.handle(flags, ref: ref, connection)
    case .follow(let follow): rooms.handle(follow, ref: ref, connection)
    case .ping:
      send(.pong(.init(serverTime: surroundings.clock.now)), ref: ref, to: connection)
    case .unknown(let type):
      sendError(
        .unknownType, "no message has this type (\(type.utf8.count) bytes long)", ref: ref,
        to: connection)
    }
  }

  /// Refuses a message, to be sent again later.
  private func refuse(
    _ message: ClientMessage, _ excess: Excess, ref: String, _ connection: Connection
  ) {
    let words = excess.words(settings.limits)
    if case .change(let change) = message {
      documents.refuse(
        change.sequence, .tooFast, words, of: change.documentID, ref: ref,
        retryAfter: excess.retryAfter, to: connection)
    } else {
      sendError(.tooFast, words, ref: ref, retryAfter: excess.retryAfter, to: connection)
    }
  }
}
