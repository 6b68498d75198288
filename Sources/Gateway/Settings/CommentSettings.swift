/// An operator's limits for comments on notes. Clients receive them with each list of comments.
public struct CommentSettings: Sendable {
  /// Maximum bytes of one comment's text.
  public var textBytesMax = 4_096
  /// Maximum comments of one note, answers included.
  public var countMax = 1_000
  /// Maximum people whom one comment mentions.
  public var mentionsMax = 20
  /// Maximum comments of one user per minute, on average; 0 for no limit.
  public var perMinuteMax = 60

  /// The defaults.
  public init() {}
}
