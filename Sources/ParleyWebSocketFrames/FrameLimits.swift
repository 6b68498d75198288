/// The limits of one reader of frames.
public struct FrameLimits: Sendable, Hashable {
  /// The longest message in bytes, all its fragments together.
  public let messageBytesMax: Int
  /// The most frames that one message may come in.
  public let fragmentsMax: Int
  /// The most frames of one message, the last one aside, that carry fewer than
  /// `tinyFragmentBytes`.
  public let tinyFragmentsMax: Int

  /// A fragment that carries fewer bytes counts as tiny.
  public static let tinyFragmentBytes = 16

  /// Sets the limits.
  ///
  /// - Precondition: None is negative, and `messageBytesMax` is at most a quarter of the largest
  ///   integer, so that no sum of lengths overflows where `Int` has 32 bits.
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
  /// Returns the same limits with another for messages.
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
