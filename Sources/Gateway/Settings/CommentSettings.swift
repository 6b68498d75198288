/// An operator's limits for comments on notes, which each list of comments announces.
public struct CommentSettings: Sendable {
  /// Bytes of one comment's text.
  public var textBytesMax = 4_096
  /// Comments of one note, answers included.
  public var countMax = 1_000
  /// Comments that one user may make in a minute, on average; 0 for as many as come.
  public var perMinuteMax = 60

  /// The defaults.
  public init() {}
}
