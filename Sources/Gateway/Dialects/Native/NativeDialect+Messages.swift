import ParleyGatewayPorts
import SocketMessages

/// Dispatch of `parley.v1` messages to their handlers.
extension NativeDialect {
  func handle(
    _ message: ClientMessage, ref: String, _ connection: Connection
  ) throws(MessageRefusal) {
    switch message {
    case .hello: throw MessageRefusal(.notAllowed, "hello was sent already")
    case .refresh(let refresh): try handle(refresh: refresh, ref: ref, connection)
    case .grant(let grant): try handle(grant: grant, ref: ref, connection)
    case .join(let join): try handle(join, ref: ref, connection)
    case .create(let create): try handle(create, ref: ref, connection)
    case .documentHistory(let history): try handle(history, ref: ref, connection)
    case .change(let change): try handle(change, ref: ref, connection)
    case .select(let select): try handle(select, connection)
    case .leave(let leave): try handle(leave, ref: ref, connection)
    case .profile(let profile): try handle(profile, connection)
    case .subscribe(let subscribe): try rooms.handle(subscribe, ref: ref, connection)
    case .unsubscribe(let unsubscribe):
      // The answer repeats the name.
      try rooms.checks.checkName(of: RoomName(unsubscribe.room))
      rooms.leave(room: RoomName(unsubscribe.room), connection)
      send(.unsubscribed(.init(room: unsubscribe.room)), ref: ref, to: connection)
    case .publish(let publish): try rooms.handle(publish, ref: ref, connection)
    case .roomHistory(let history): try rooms.handle(history, ref: ref, connection)
    case .typing(let typing): try rooms.presence.handle(typing, connection)
    case .receipt(let receipt): try rooms.handle(receipt, ref: ref, connection)
    case .receipts(let receipts): try rooms.handle(receipts, ref: ref, connection)
    case .lastOnline(let lastOnline): try rooms.handle(lastOnline, ref: ref, connection)
    case .block(let block): try rooms.presence.handle(block, ref: ref, connection)
    case .blocks: try rooms.presence.handleBlocks(ref: ref, connection)
    case .flag(let flag): try rooms.handle(flag, ref: ref, connection)
    case .flags(let flags): try rooms.handle(flags, ref: ref, connection)
    case .follow(let follow): try rooms.handle(follow, ref: ref, connection)
    case .values(let values): try rooms.handle(values, ref: ref, connection)
    case .roomPresence(let presence): try rooms.presence.handle(presence, connection)
    case .signal(let signal): try rooms.handle(signal, ref: ref, connection)
    case .ping:
      send(.pong(.init(serverTime: dependencies.clock.now)), ref: ref, to: connection)
    case .unknown(let type):
      throw MessageRefusal(.unknownType, "no message has this type (\(type.utf8.count) bytes long)")
    }
  }

  /// Rejects a message over a rate limit, with the time after which to retry.
  func refuse(
    _ message: ClientMessage, _ excess: Excess, ref: String, _ connection: Connection
  ) {
    let words = excess.words(settings.limits)
    if case .change(let change) = message,
      (try? check(documentID: DocumentID(change.documentID))) != nil
    {
      documents.refusals.refuse(
        change.sequence, .tooFast, words, of: DocumentID(change.documentID), ref: ref,
        retryAfter: excess.retryAfter, to: connection)
    } else {
      sendError(.tooFast, words, ref: ref, retryAfter: excess.retryAfter, to: connection)
    }
  }
}
