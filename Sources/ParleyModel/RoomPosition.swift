/// A place in a room's history.
public struct RoomPosition: Sendable, Hashable {
  /// Names the history; another one means another history.
  public var epoch: String
  /// The number of publications up to this point. It never restarts within an epoch.
  public var offset: Int

  /// Makes a position.
  public init(epoch: String, offset: Int) {
    self.epoch = epoch
    self.offset = offset
  }
}
