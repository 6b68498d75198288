/// The limits of a frame reader.
public struct FrameLimits: Sendable, Hashable {
  /// Maximum bytes of a message, all its fragments together.
  public let messageBytesMax: Int
  /// Maximum frames of a message.
  public let fragmentsMax: Int
  /// Maximum tiny frames of a message, not counting the last frame; see `tinyFragmentBytes`.
  public let tinyFragmentsMax: Int

  /// Minimum bytes of a fragment that does not count as tiny.
  public static let tinyFragmentBytes = 16

  /// Creates limits.
  ///
  /// - Precondition: No limit is negative, and `messageBytesMax` is at most a quarter of `Int.max`,
  ///   so that no sum of lengths overflows if `Int` has 32 bits.
  public init(
    messageBytesMax: Int = 1 << 20, fragmentsMax: Int = 1 << 17, tinyFragmentsMax: Int = 1 << 10
  ) {
    precondition(
      0...Int.max / 4 ~= messageBytesMax, "messageBytesMax is out of range")
    precondition(fragmentsMax >= 1, "fragmentsMax must be at least 1")
    precondition(tinyFragmentsMax >= 0, "tinyFragmentsMax is negative")
    self.messageBytesMax = messageBytesMax
    self.fragmentsMax = fragmentsMax
    self.tinyFragmentsMax = tinyFragmentsMax
  }
}

extension FrameLimits {
  /// Returns the limits with another `messageBytesMax`.
  func with(messageBytesMax: Int) -> FrameLimits {
    FrameLimits(
      messageBytesMax: messageBytesMax, fragmentsMax: fragmentsMax,
      tinyFragmentsMax: tinyFragmentsMax)
  }
}

/// The kind of a message.
public enum MessageKind: UInt8, Sendable, Hashable {
  /// Text in UTF-8.
  case text = 0x1
  /// Any bytes.
  case binary = 0x2
}
