import Gateway
import ParleyGatewayPorts

/// A rule for the history of rooms that match a pattern, written `chat-*=500/24h`.
struct RoomHistoryRule {
  /// The rule.
  let rule: RoomRetentionRule

  /// Parses a rule; `nil` if it is malformed.
  init?(_ text: String) {
    // Split at the last `=`: a room's name may contain one, a number and a time do not.
    guard let equals = text.lastIndex(of: "=") else { return nil }
    let pattern = ValueText.trimmed(text[..<equals])
    let parts = text[text.index(after: equals)...].split(separator: "/")
    guard !pattern.isEmpty, parts.count == 2,
      let count = ValueText.number(ValueText.trimmed(parts[0])), (0...1_000_000).contains(count),
      let age = ValueText.duration(ValueText.trimmed(parts[1]))
    else { return nil }
    rule = RoomRetentionRule(
      NamePattern(pattern),
      RoomRetention(publicationsMax: count, ageMax: Timestamp(age.milliseconds)))
  }
}
