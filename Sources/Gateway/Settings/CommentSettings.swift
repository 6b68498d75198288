/// An operator's limits for comments on notes, which each list of comments announces.
public struct CommentSettings: Sendable {
  /// Bytes of one comment's text.
  public var textBytesMax: Int
  /// Comments of one note, answers included.
  public var countMax: Int
  /// Comments that one user may make in a minute, on average; 0 for as many as come.
  public var perMinuteMax: Int

  /// The defaults.
  public init() {
    textBytesMax = 4_096
    countMax = 1_000
    perMinuteMax = 60
  }
}
