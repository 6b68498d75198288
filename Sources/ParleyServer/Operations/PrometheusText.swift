import GatewayPorts

/// Metrics in Prometheus' text format, version 0.0.4.
///
/// Source: the format's description in Prometheus' documentation ("Exposition formats").
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

  /// A value that goes up and down.
  mutating func gauge(_ name: String, _ help: String, _ value: some Numeric) {
    describe(name, .gauge, help)
    line("\(name) \(value)")
  }

  /// Values that go up and down, told apart by a label.
  mutating func gauge(
    _ name: String, _ help: String, label: String, _ values: [(value: String, count: Int)]
  ) {
    describe(name, .gauge, help)
    for (value, count) in values { line("\(name){\(label)=\"\(value)\"} \(count)") }
  }

  /// A value that only goes up; its name ends in `_total`.
  mutating func counter(_ name: String, _ help: String, _ value: some Numeric) {
    describe(name, .counter, help)
    line("\(name) \(value)")
  }

  /// Values that only go up, told apart by a label. The label's values are the program's own
  /// words: nothing in them needs to be escaped.
  mutating func counter(_ name: String, _ help: String, label: String, _ values: [String: Int]) {
    describe(name, .counter, help)
    for (value, count) in values.sorted(by: { $0.key < $1.key }) {
      line("\(name){\(label)=\"\(value)\"} \(count)")
    }
  }

  /// Durations, in seconds; the name ends in `_seconds`.
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
