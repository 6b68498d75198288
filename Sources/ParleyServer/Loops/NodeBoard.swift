/// The gateways on one database, from their reports: one every two seconds, and at once when a gateway is
/// heard for the first time.
///
/// Reports are sent as hints, and may be lost: a silent gateway stays on the board for a minute, with the time
/// since its last report. If no hints arrive, a gateway knows only itself.
package struct NodeBoard: Sendable {
  /// The topic of the reports.
  package static let topic = "gateways"
  /// Milliseconds between reports.
  package static let reportMilliseconds: Int64 = 2_000
  /// Milliseconds between reports while a new gateway waits for one.
  package static let greetingMilliseconds: Int64 = 250
  /// Milliseconds without a report after which a gateway is forgotten.
  package static let keptMilliseconds: Int64 = 60_000
  /// The most other gateways that are kept; reports of further ones are ignored.
  package static let nodesMax = 256

  private struct Other {
    var report: NodeReport
    var heardAt: Int64
  }

  /// This process's own name for people, once it listens.
  package var ownName: String?
  private var others: [String: Other] = [:]
  private var toldAt: Int64?
  private var hasNewcomer = false

  /// Makes an empty board.
  package init() {}

  /// Returns whether it is time for a report, which the caller then sends; forgets silent gateways.
  package mutating func begins(now: Int64) -> Bool {
    let pause = hasNewcomer ? Self.greetingMilliseconds : Self.reportMilliseconds
    if let toldAt, now - toldAt < pause { return false }
    toldAt = now
    hasNewcomer = false
    others = others.filter { now - $0.value.heardAt < Self.keptMilliseconds }
    return true
  }

  /// Takes in another gateway's report, and ignores a malformed one.
  ///
  /// - Parameter own: The name of this process's run.
  package mutating func hear(_ bytes: [UInt8], own: String, now: Int64) {
    guard let report = NodeReport(bytes), !report.run.utf8.elementsEqual(own.utf8) else { return }
    if others[report.run] == nil {
      guard others.count < Self.nodesMax else { return }
      hasNewcomer = true
    }
    others[report.run] = Other(report: report, heardAt: now)
  }

  /// The other gateways by their names, each with the milliseconds since it was heard.
  package func list(now: Int64) -> [(report: NodeReport, silence: Int64)] {
    others.values.map { ($0.report, max(0, now - $0.heardAt)) }.sorted { one, other in
      let names = (Array(one.report.name.utf8), Array(other.report.name.utf8))
      if names.0 != names.1 { return names.0.lexicographicallyPrecedes(names.1) }
      return one.report.run.utf8.lexicographicallyPrecedes(other.report.run.utf8)
    }
  }
}
