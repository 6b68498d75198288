import ParleyClient
import ParleyClientCore

/// A subscriber to a room for one loop: translates the room's actions into stream elements.
///
/// The stream ends when the app closes the room, or the server refuses it. The stream retains the
/// follower, and the follower retains a share of the room, so the room is open as long as the
/// stream.
@MainActor final class RoomFollower<Element: Sendable & Equatable>: RoomListener {
  /// An action of the room.
  struct Step {
    let room: Room
    let action: RoomAction
    /// Whether the room is live again after an interruption.
    let isReturn: Bool
  }

  private let share: RoomShare
  private let feed: Feed<Element>
  private let read: @MainActor (Step) -> Element?
  private let shorten: @Sendable (ArraySlice<Element>) -> [Element]
  private var hasBeenLive: Bool

  /// - Parameters:
  ///   - bound: Maximum buffered elements.
  ///   - shorten: Replaces elements beyond the maximum by fewer.
  init(
    _ share: RoomShare, bound: Int,
    shorten: @escaping @Sendable (ArraySlice<Element>) -> [Element],
    read: @escaping @MainActor (Step) -> Element?
  ) {
    self.share = share
    self.shorten = shorten
    self.read = read
    feed = Feed(bound: bound)
    hasBeenLive = share.room.state == .live
    share.room.add(self)
  }

  func put(_ element: Element) { feed.put(element, shorten) }

  func room(_ room: Room, did action: RoomAction) {
    var isReturn = false
    if case .status(let status) = action, status.phase == .live {
      isReturn = hasBeenLive
      hasBeenLive = true
    }
    if let element = read(Step(room: room, action: action, isReturn: isReturn)) { put(element) }
    switch room.state {
    case .failed, .closed: feed.finish()
    case .opening, .live, .offline: break
    }
  }

  /// The elements, for one loop.
  var stream: AsyncStream<Element> {
    AsyncStream { [self, feed] in
      let next = await feed.next()
      withExtendedLifetime(self) {}
      return next
    }
  }
}

extension RoomFollower {
  /// Returns a room's state: the current one, then each changed one. Only the newest is buffered.
  static func states(
    _ share: RoomShare, of state: @escaping @MainActor (Room) -> Element
  ) -> AsyncStream<Element> {
    let last = Last(state(share.room))
    let follower = RoomFollower(share, bound: 1, shorten: { Array($0.suffix(1)) }) { step in
      let value = state(step.room)
      guard value != last.value else { return nil }
      last.value = value
      return value
    }
    follower.put(last.value)
    return follower.stream
  }

  @MainActor private final class Last {
    var value: Element
    init(_ value: Element) { self.value = value }
  }
}
