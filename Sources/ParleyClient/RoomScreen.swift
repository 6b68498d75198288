import ParleyJSON
import ParleyClientCore
import SocketMessages

/// A room's state.
public enum RoomState: Sendable, Hashable {
  /// The server has not answered yet.
  case opening
  /// In sync with the server.
  case live
  /// The server is unreachable.
  case offline
  /// The server has ended the subscription.
  case failed(NoteTrouble)
  /// The app has closed the room.
  case closed

  var isFailed: Bool { if case .failed = self { true } else { false } }

  init(_ phase: RoomStatus.Phase) {
    switch phase {
    case .subscribing: self = .opening
    case .live: self = .live
    case .away: self = .offline
    case .ended(let failure): self = .failed(NoteTrouble(failure))
    case .left: self = .closed
    }
  }
}

/// The reason why a room is not subscribed.
public enum RoomError: Error, Sendable, Hashable {
  /// The server has ended the subscription, or refused it.
  case failed(NoteTrouble)
  /// The server gave no answer. The client still subscribes when there is a connection.
  case noAnswer(NoAnswer)
  /// The room was closed, or the client was released.
  case closed
  /// The task was cancelled.
  case cancelled
}

extension RoomError: CustomStringConvertible {
  /// The reason, and what to do.
  public var description: String {
    switch self {
    case .failed(let trouble): "the room is not subscribed: \(trouble)"
    case .noAnswer(let reason): "\(reason)"
    case .closed: "the room is closed"
    case .cancelled: "the task was cancelled"
    }
  }
}

/// A room's state without a user interface, shared by ``Room`` and ``ServiceRoom``.
struct RoomScreen {
  private(set) var state = RoomState.opening
  private(set) var position: RoomPosition?
  private var updates = Feeds<RoomUpdate>()
  private var starts = Feeds<Void>()
  private var states = Feeds<Void>()
  private(set) var publishing = Publishing()

  /// Maximum publications buffered for one reader.
  static let updatesMax = 1_000

  mutating func take(_ action: RoomAction) {
    switch action {
    case .publication(let publication, let epoch):
      let news = Publication(publication, epoch: epoch)
      position = news.position
      if publication.data != nil { put(.publication(news)) }
    case .gap(let after, let through):
      put(.gap(after: RoomPosition(after), through: RoomPosition(through)))
    case .position(let point):
      let isFirst = position == nil
      position = RoomPosition(point)
      if isFirst { starts.put(()) { _ in [()] } }
    case .status(let status):
      state = RoomState(status.phase)
      states.put(()) { _ in [()] }
      if case .closed = state { close() }
    case .published, .publishFailed, .publishUnsure: publishing.take(action)
    case .outOfStep, .people, .receipt, .receipts, .flagged, .values, .conflict, .signal,
      .keepChanges:
      break
    }
  }

  /// Closes the room for this client, and ends all readers and waiting calls.
  mutating func close() {
    state = .closed
    updates.finish()
    starts.finish()
    states.finish()
  }

  private func put(_ update: RoomUpdate) {
    updates.put(update) { Self.shorten($0) }
  }

  /// Replaces the older half of the updates by a gap.
  static func shorten(_ waiting: ArraySlice<RoomUpdate>) -> [RoomUpdate] {
    let dropped = waiting.prefix(waiting.count / 2 + 1)
    let rest = waiting.dropFirst(dropped.count)
    guard let first = dropped.first, let last = dropped.last else { return Array(waiting) }
    let after =
      switch first {
      case .gap(let after, _): after
      case .publication(let publication):
        RoomPosition(
          epoch: publication.position.epoch, offset: publication.position.offset - 1)
      }
    let through =
      switch last {
      case .gap(_, let through): through
      case .publication(let publication): publication.position
      }
    return [.gap(after: after, through: through)] + rest
  }

  mutating func updateFeed() -> Feed<RoomUpdate> {
    let feed = Feed<RoomUpdate>(bound: Self.updatesMax)
    updates.add(feed)
    return feed
  }

  /// Returns a feed that signals the first subscription; `nil` if the room was already subscribed.
  mutating func startFeed() -> Feed<Void>? {
    guard position == nil else { return nil }
    let feed = Feed<Void>(bound: 1)
    starts.add(feed)
    return feed
  }

  mutating func stateFeed() -> Feed<Void> {
    let feed = Feed<Void>(bound: 1)
    states.add(feed)
    return feed
  }

  /// Whether the room is subscribed.
  func isOpened() throws(RoomError) -> Bool {
    switch state {
    case .live: return true
    case .failed(let trouble): throw .failed(trouble)
    case .closed: throw .closed
    case .opening, .offline: return false
    }
  }

  // MARK: Publishing

  /// Returns the event that publishes JSON, and the feed that receives the result.
  mutating func publish(
    _ json: [UInt8], in room: String, key: String, senderID: String?, pushes: Bool = false
  ) throws(PublishError) -> (RoomEvent, Feed<Publishing.Answer>) {
    guard state != .closed else { throw .closed }
    guard let data = JSONValue(json) else { throw .notJSON }
    let feed = publishing.wait(for: key)
    let publication = ClientMessage.Publish(
      room: room, data: data, key: key, senderID: senderID, pushes: pushes)
    return (.publish(publication, key: key), feed)
  }

  /// Returns the event that changes values, and the feed that receives the result.
  mutating func change(
    _ operations: [ValueOperation], _ ifOffsets: [ValueName: Int], in room: String, key: String,
    cause: ValueCause
  ) throws(PublishError) -> (RoomEvent, Feed<Publishing.Answer>) {
    guard state != .closed else { throw .closed }
    let feed = publishing.wait(for: key)
    var publication = ClientMessage.Publish(room: room, data: .null, key: key)
    publication.data = nil
    publication.values = ValueOperationList(operations)
    publication.ifOffsets = ifOffsets.isEmpty ? nil : ValueOffsets(ifOffsets)
    return (.change(publication, key: key, cause), feed)
  }

  /// Returns a new, unique key: 128 random bits.
  static func newKey() -> String {
    // With a separator: without one, two pairs of numbers can give the same key.
    String(UInt64.random(in: .min ... .max), radix: 36) + "-"
      + String(UInt64.random(in: .min ... .max), radix: 36)
  }
}
