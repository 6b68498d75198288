/// A position in a room's history.
public struct RoomPosition: Sendable, Hashable {
  /// The id of the history. Another epoch means another history.
  public var epoch: Epoch
  /// The number of publications up to the position. It never restarts within an epoch.
  public var offset: Int

  /// Creates a position in an epoch.
  public init(epoch: Epoch, offset: Int) {
    self.epoch = epoch
    self.offset = offset
  }
}
