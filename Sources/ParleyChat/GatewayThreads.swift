import ParleyClient
import ParleyClientCore
import SocketMessages

struct GatewayThreads: ThreadHandler {
  let parley: Parley
  let store: MessageStore

  func messages(in thread: ChatThread) -> AsyncStream<ThreadUpdate> {
    RoomFollower<ThreadUpdate>(
      parley.share(room: thread.name), bound: 1_000, shorten: Self.shorten
    ) { [store] step in
      switch step.action {
      case .publication(let publication, let epoch):
        let message = ChatMessage(ParleyClient.Publication(publication, epoch: epoch), in: thread)
        store.put([message])
        return .message(message)
      case .gap(let after, let through):
        return .gap(
          after: ParleyClient.RoomPosition(after), through: ParleyClient.RoomPosition(through))
      default: return nil
      }
    }.stream
  }

  /// Replaces the older half by one gap.
  nonisolated static func shorten(_ waiting: ArraySlice<ThreadUpdate>) -> [ThreadUpdate] {
    let dropped = waiting.prefix(waiting.count / 2 + 1)
    guard let first = dropped.first, let last = dropped.last else { return [] }
    let after =
      switch first {
      case .gap(let after, _): after
      case .message(let message):
        ParleyClient.RoomPosition(
          epoch: message.id.position.epoch, offset: message.id.position.offset - 1)
      }
    let through =
      switch last {
      case .gap(_, let through): through
      case .message(let message): message.id.position
      }
    return [.gap(after: after, through: through)] + waiting.dropFirst(dropped.count)
  }

  func history(
    _ range: HistoryRange, limit: Int
  ) async throws(RequestError) -> HistoryPage {
    var request = ClientMessage.RoomHistory(room: range.thread.name, limit: max(1, limit))
    var known: ChatMessage.ID?
    switch range {
    case .newest: break
    case .before(let message):
      known = message
      request.before = message.position.offset
    case .after(let message):
      known = message
      request.since = message.position.offset
    }
    if let known { try parley.check(known) }
    let reply = try await parley.ask(.history(request), \.history)
    let head = ParleyClient.RoomPosition(reply.position)
    if let known, Epoch(known.position.epoch) != reply.position.epoch { throw .otherHistory }
    let messages = reply.publications.map {
      ChatMessage(ParleyClient.Publication($0, epoch: reply.position.epoch), in: range.thread)
    }
    store.put(messages)
    return HistoryPage(messages: messages, hasMore: reply.hasMore, hasGap: reply.hasGap, head: head)
  }
}

struct CachedSearch: SearchHandler {
  let store: MessageStore

  func search(_ text: String, in thread: ChatThread?, limit: Int) async -> [ChatMessage] {
    await store.cache.found(text, in: thread, limit: limit)
  }
}
