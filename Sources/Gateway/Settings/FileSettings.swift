public import ParleyGatewayPorts

/// An operator's settings for the files of notes.
public struct FileSettings: Sendable {
  /// Bytes of one file; 0 takes none.
  public var bytesMax = 10 << 20
  /// Limits of each note's files, and the space that stays free on the disk.
  public var room = FileRoom(noteBytesMax: 100 << 20, diskReserveBytes: 512 << 20)
  /// Milliseconds that a file is kept though no revision names it, for its reference may be on its way.
  public var unusedMilliseconds: Int64 = 86_400_000
  /// Bytes of uploads that may wait for the store, over all.
  public var waitingBytesMax = 64 << 20

  /// The defaults.
  public init() {}
}
