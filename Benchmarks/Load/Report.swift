import Glibc

/// The results as one line of JSON.
struct Report {
  private var fields: [String] = []

  init(_ mode: String) { fields.append("\"mode\":\"\(mode)\"") }

  mutating func add(_ name: String, _ value: Int) { fields.append("\"\(name)\":\(value)") }

  /// Adds a number, rounded to three decimal places.
  mutating func add(_ name: String, _ value: Double) {
    let thousandths = Int((value * 1_000).rounded())
    let digits = String(abs(thousandths) % 1_000)
    let fraction = String(repeating: "0", count: 3 - digits.count) + digits
    fields.append(
      "\"\(name)\":\(thousandths < 0 ? "-" : "")\(abs(thousandths) / 1_000).\(fraction)")
  }

  /// Adds the percentiles of a histogram in milliseconds.
  mutating func add(_ name: String, _ histogram: Histogram) {
    for (label, part) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)] {
      add("\(name)_\(label)_ms", histogram.milliseconds(part))
    }
  }

  func print() {
    puts("{" + fields.joined(separator: ",") + "}")
    fflush(nil)
  }
}

/// A period for which rates and processor time are measured.
struct Measurement {
  private let server: ServerProcess
  private let began = nanoseconds()
  private let serverBegan: Double
  private let ownBegan = ownProcessorSeconds()

  init(_ server: ServerProcess) {
    self.server = server
    serverBegan = server.processorSeconds()
  }

  /// Seconds since the period began.
  var seconds: Double { Double(nanoseconds() - began) / 1_000_000_000 }

  /// Seconds of the server's processor time since the period began.
  var serverSeconds: Double { server.processorSeconds() - serverBegan }

  /// Adds the rate of an operation, and its processor time in the server and this program.
  func add(_ name: String, _ count: Int, to report: inout Report) {
    let seconds = seconds
    let served = serverSeconds
    report.add("seconds", seconds)
    report.add("\(name)_per_second", Int(Double(count) / seconds))
    report.add("server_microseconds_each", count > 0 ? served * 1_000_000 / Double(count) : 0)
    report.add("server_cores", served / seconds)
    report.add("load_cores", (ownProcessorSeconds() - ownBegan) / seconds)
  }
}
