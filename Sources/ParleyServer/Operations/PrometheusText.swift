import ParleyGatewayPorts

/// Metrics in Prometheus' text format, version 0.0.4.
///
/// Source: the Prometheus documentation, "Exposition formats".
struct PrometheusText {
  /// The content type of the format.
  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  private(set) var bytes: [UInt8] = []

  private enum Kind: String {
    case counter, gauge, histogram
  }

  private mutating func describe(_ name: String, _ kind: Kind, _ help: String) {
    line("# HELP \(name) \(help)")
    line("# TYPE \(name) \(kind.rawValue)")
  }

  private mutating func line(_ text: String) {
    bytes += text.utf8
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Adds a value that can rise and fall.
  mutating func gauge(_ name: String, _ help: String, _ value: some Numeric) {
    describe(name, .gauge, help)
    line("\(name) \(value)")
  }

  /// Adds values that can rise and fall, distinguished by a label.
  mutating func gauge(
    _ name: String, _ help: String, label: String, _ values: [(value: String, count: Int)]
  ) {
    describe(name, .gauge, help)
    for (value, count) in values { line("\(name){\(label)=\"\(value)\"} \(count)") }
  }

  /// Adds a value that only rises; its name ends in `_total`.
  mutating func counter(_ name: String, _ help: String, _ value: some Numeric) {
    describe(name, .counter, help)
    line("\(name) \(value)")
  }

  /// Adds values that only rise, distinguished by a label. The label's values are constants of the
  /// program, and are not escaped.
  mutating func counter(_ name: String, _ help: String, label: String, _ values: [String: Int]) {
    describe(name, .counter, help)
    for (value, count) in values.sorted(by: { $0.key < $1.key }) {
      line("\(name){\(label)=\"\(value)\"} \(count)")
    }
  }

  /// Adds a distribution of durations; the name ends in `_seconds`. The histogram has microseconds.
  mutating func histogram(_ name: String, _ help: String, _ histogram: Histogram) {
    describe(name, .histogram, help)
    var total = 0
    for (bound, count) in zip(histogram.bounds, histogram.counts) {
      total += count
      line("\(name)_bucket{le=\"\(Double(bound) / 1_000_000)\"} \(total)")
    }
    total += histogram.counts.last ?? 0
    line("\(name)_bucket{le=\"+Inf\"} \(total)")
    line("\(name)_sum \(Double(histogram.sum) / 1_000_000)")
    line("\(name)_count \(total)")
  }
}
