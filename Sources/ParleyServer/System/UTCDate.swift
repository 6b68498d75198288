import Glibc

/// Formats times in ISO 8601, always in UTC, such as 2026-11-21T09:30:00.000Z.
package enum UTCDate {
  /// Returns the text of a time in seconds since 1970.
  package static func text(seconds: Int64) -> String {
    var bytes: [UInt8] = []
    append(Int(seconds), 0, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends the text of a time in seconds since 1970, plus milliseconds.
  static func append(_ seconds: Int, _ milliseconds: Int, to line: inout [UInt8]) {
    var time = time_t(seconds)
    var parts = tm()
    gmtime_r(&time, &parts)
    func append(_ number: Int32, _ width: Int, _ tail: String) {
      let digits = String(number)
      for _ in digits.utf8.count..<max(width, digits.utf8.count) {
        line.append(UInt8(ascii: "0"))
      }
      line.append(contentsOf: digits.utf8)
      line.append(contentsOf: tail.utf8)
    }
    append(parts.tm_year + 1900, 4, "-")
    append(parts.tm_mon + 1, 2, "-")
    append(parts.tm_mday, 2, "T")
    append(parts.tm_hour, 2, ":")
    append(parts.tm_min, 2, ":")
    append(parts.tm_sec, 2, ".")
    append(Int32(milliseconds), 3, "Z")
  }
}
