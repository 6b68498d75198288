import ParleyGatewayPorts
import ParleyServer

/// The command `parley audit`.
enum AuditCommand {
  private static let limitDefault = 100

  static func run(_ arguments: [String]) throws {
    let words = try CommandWords(
      arguments, options: ["limit", "actor", "action", "target", "outcome", "since", "until"],
      switches: ["json", "all"])
    guard words.operands.isEmpty else { throw UsageError("expected flags and settings alone") }
    let filter = try filter(words.options)
    let limit = words.options["limit"].map { Int($0) ?? 0 } ?? limitDefault
    guard limit > 0 else { throw UsageError("expected --limit as a number from 1 on") }
    let isJSON = words.switches.contains("json")
    let commands = StoreCommands(try words.configuration())
    try commands.audit(filter, limit: words.switches.contains("all") ? nil : limit) { record in
      guard !isJSON else { return Terminal.output(JSONReport.line(record)) }
      Terminal.line(
        UTCDate.text(seconds: record.time / 1_000), record.outcome.word, record.actor,
        record.action.name, record.target, record.address, record.detail)
    }
  }

  private static func filter(_ options: [String: String]) throws(UsageError) -> AuditFilter {
    var filter = AuditFilter()
    filter.actor = options["actor"]
    filter.action = options["action"]
    filter.target = options["target"]
    filter.since = try time("since", options)
    filter.until = try time("until", options)
    if let word = options["outcome"] {
      guard let outcome = AuditOutcome.allCases.first(where: { $0.word == word }) else {
        throw UsageError("expected --outcome to be done or refused")
      }
      filter.outcome = outcome
    }
    return filter
  }

  /// Returns a time: milliseconds since 1970, as in the records.
  private static func time(
    _ name: String, _ options: [String: String]
  ) throws(UsageError) -> Timestamp? {
    guard let text = options[name] else { return nil }
    guard let time = Timestamp(text) else {
      throw UsageError("expected --\(name) as milliseconds since 1970, as in the records")
    }
    return time
  }
}
