import ParleyJSON

/// The gateways that use one database, known from their reports. Each gateway reports every two
/// seconds, and sooner when it has heard a new gateway.
///
/// Reports are sent as hints, and may be lost: a silent gateway remains for a minute, with the time
/// since its last report. If no hints arrive, a gateway knows only itself.
package struct ClusterStatus: Sendable {
  /// The topic of the reports.
  package static let topic = "gateways"
  /// Milliseconds between reports.
  package static let reportMilliseconds: Int64 = 2_000
  /// Minimum milliseconds between reports after a new gateway was heard.
  package static let greetingMilliseconds: Int64 = 250
  /// Milliseconds without a report after which a gateway is removed.
  package static let keptMilliseconds: Int64 = 60_000
  /// Maximum other gateways; reports of further ones are ignored.
  package static let nodesMax = 256

  private struct Other {
    var report: NodeReport
    var heardAt: Int64
  }

  /// The display name of this gateway; `nil` before it listens.
  package var ownName: String?
  private var others: [String: Other] = [:]
  private var reportedAt: Int64?
  private var hasNewcomer = false

  /// Creates an empty board.
  package init() {}

  /// Returns whether a report is due, which the caller then sends. Removes silent gateways.
  package mutating func begins(now: Int64) -> Bool {
    let pause = hasNewcomer ? Self.greetingMilliseconds : Self.reportMilliseconds
    if let reportedAt, now - reportedAt < pause { return false }
    reportedAt = now
    hasNewcomer = false
    others = others.filter { now - $0.value.heardAt < Self.keptMilliseconds }
    return true
  }

  /// Adds or updates another gateway's report; ignores a malformed one.
  ///
  /// - Parameter own: The id of this run of the process, whose own reports are ignored.
  package mutating func hear(_ bytes: [UInt8], own: String, now: Int64) {
    guard let report = NodeReport(bytes), !report.run.isExactly(own) else { return }
    if others[report.run] == nil {
      guard others.count < Self.nodesMax else { return }
      hasNewcomer = true
    }
    others[report.run] = Other(report: report, heardAt: now)
  }

  /// Returns the other gateways sorted by name, each with the milliseconds since its last report.
  package func list(now: Int64) -> [(report: NodeReport, silence: Int64)] {
    others.values.map { ($0.report, max(0, now - $0.heardAt)) }.sorted { one, other in
      let names = (Array(one.report.name.utf8), Array(other.report.name.utf8))
      if names.0 != names.1 { return names.0.lexicographicallyPrecedes(names.1) }
      return one.report.run.utf8.lexicographicallyPrecedes(other.report.run.utf8)
    }
  }
}
