import ParleyServer
import ParleyStoreRecords

/// The command `parley migrate`, which copies a store to one of the other kind.
enum MigrateCommand {
  /// Copies a store, and prints its digest.
  static func run(_ arguments: [String]) throws {
    let words = try CommandWords(arguments, options: ["from", "to"], switches: ["json"])
    guard let source = words.options["from"], let target = words.options["to"],
      words.operands.isEmpty, words.settings.isEmpty
    else {
      throw UsageError("expected --from STORE --to STORE, each a file or a postgres:// address")
    }
    var progress = MoveProgress()
    let report = try StoreMigration(from: source, to: target).run { progress.show($0) }
    if words.switches.contains("json") {
      Terminal.output(JSONReport.migration(report))
    } else {
      let findings = report.result.findings
      Terminal.output(
        "\(report.target): sound, \(findings.notes) notes with \(findings.entries) changes\n"
          + "the digest of both stores is \(report.result.digest); \(report.source) is as it was\n")
    }
  }
}

/// Shows a migration's steps on standard error, and the copied rows at most once a second.
private struct MoveProgress {
  private var shownAt = 0

  mutating func show(_ step: StoreMove.Step) {
    switch step {
    case .checkingSource: Terminal.error("reading and verifying the source\n")
    case .checkingTarget: Terminal.error("reading and verifying the copy\n")
    case .comparing(let table):
      if table == StoreTable.all.first?.name { Terminal.error("comparing both stores\n") }
    case .copying(let table, let rows, let total):
      guard total > 0, rows == total || Self.seconds != shownAt else { return }
      shownAt = Self.seconds
      Terminal.error("copying \(table): \(rows) of \(total)\n")
    }
  }

  private static var seconds: Int { Int(SystemClock().uptime / 1_000) }
}
