import Glibc

/// A row of results: the times of a repeated workload.
struct Measurement {
  var workload: String
  var unit: String
  /// Units in one repetition.
  var count: Int
  /// Seconds of processor time of each repetition, sorted.
  var seconds: [Double]
  /// Further fields of the result line, as JSON.
  var extra: [(key: String, json: String)] = []
  /// Whether the results equal those in the workload file.
  var isVerified: Bool

  var median: Double { seconds[seconds.count / 2] }
  var nanosecondsPerUnit: Double { median * 1e9 / Double(count) }

  /// Runs `body` at least three times, until the time limit is reached; only once if it takes more
  /// than three times the limit.
  static func repeated(for limit: Double, _ body: () throws -> Void) rethrows -> [Double] {
    var seconds: [Double] = []
    let start = processorSeconds()
    while seconds.count < 400 {
      let before = processorSeconds()
      try body()
      let after = processorSeconds()
      seconds.append(after - before)
      if seconds.count > 2, after - start > limit { break }
      if seconds.count == 1, seconds[0] > 3 * limit { break }
    }
    return seconds.sorted()
  }

  private static func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  /// The result line of Benchmarks/README.md.
  var json: String {
    var fields = [
      "\"peer\":\"parley\"", "\"workload\":\"\(workload)\"", "\"unit\":\"\(unit)\"",
      "\"n\":\(count)", "\"reps\":\(seconds.count)", "\"med_s\":\(median)",
      "\"min_s\":\(seconds[0])", "\"ns\":\(nanosecondsPerUnit)",
    ]
    fields += extra.map { "\"\($0.key)\":\($0.json)" }
    fields.append("\"ok\":\(isVerified)")
    return "{" + fields.joined(separator: ",") + "}"
  }

  /// The result as a line of text.
  var row: String {
    let group = extra.first { $0.key == "group" }.map { " " + $0.json.filter { $0 != "\"" } } ?? ""
    let name = workload + group
    let padding = String(repeating: " ", count: max(1, 36 - name.count))
    let tenths = Int((nanosecondsPerUnit * 10).rounded())
    let time = "\(tenths / 10).\(tenths % 10)"
    let left = String(repeating: " ", count: max(1, 12 - time.count))
    return "\(name)\(padding)\(left)\(time) ns per \(unit)  \(isVerified ? "verified" : "WRONG")"
  }
}
