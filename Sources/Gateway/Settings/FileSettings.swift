public import ParleyGatewayPorts

/// An operator's settings for the files of notes.
public struct FileSettings: Sendable {
  /// Maximum bytes of one file; 0 rejects all files.
  public var bytesMax = 10 << 20
  /// Maximum size of a note's files, and the disk space that remains free.
  public var limits = FileLimits(noteBytesMax: 100 << 20, diskReserveBytes: 512 << 20)
  /// Milliseconds for which an unreferenced file is retained: an edit may still refer to it.
  public var unusedMilliseconds: Int64 = 86_400_000
  /// Maximum total bytes of uploads that wait for the store.
  public var waitingBytesMax = 64 << 20

  /// The defaults.
  public init() {}
}
