public import ParleyGatewayPorts
import Glibc
import ParleyLocks

/// Writes log lines to standard error, each with one `write`, so that lines of several threads do
/// not mix. Lines that exceed a rate are dropped, see ``LogLimits``.
public struct StandardErrorLog: LogSink {
  /// Lines below this level are not written.
  public let level: LogLevel
  private let format: LogFormat
  private let limits = Monitor(LogLimits())

  /// Creates a log that writes lines of a level and above.
  public init(level: LogLevel, format: LogFormat) {
    self.level = level
    self.format = format
  }

  /// Writes one line.
  public func write(_ level: LogLevel, _ message: String, _ data: [(key: String, value: String)]) {
    guard level >= self.level else { return }
    let uptime = SystemClock().uptime
    guard let leftOut = limits.withLock({ $0.take(level, message, now: uptime) }) else { return }
    let data = leftOut == 0 ? data : data + [("leftOut", "\(leftOut)")]
    let now = Int(SystemClock().now)
    let line = LogLine.bytes(
      format, level, message, data, seconds: now / 1_000, milliseconds: now % 1_000)
    // A failure to write cannot be reported.
    Files.write(line, to: STDERR_FILENO)
  }
}

/// Encodes log lines as text or JSON.
package enum LogLine {
  /// Returns a line with its newline. Escapes control characters, line separators and invisible
  /// characters, so that a peer can neither forge a line nor control a terminal.
  package static func bytes(
    _ format: LogFormat, _ level: LogLevel, _ message: String,
    _ data: [(key: String, value: String)], seconds: Int, milliseconds: Int
  ) -> [UInt8] {
    var line: [UInt8] = []
    line.reserveCapacity(160)
    switch format {
    case .text:
      UTCDate.append(seconds, milliseconds, to: &line)
      line.append(contentsOf: " \(level.word.padded(to: 7)) \(message)".utf8)
      for (key, value) in data {
        line.append(contentsOf: " \(key)=".utf8)
        if value.unicodeScalars.allSatisfy(isPlain), !value.isEmpty {
          line.append(contentsOf: value.utf8)
        } else {
          appendQuoted(value, to: &line)
        }
      }
    case .json:
      line.append(contentsOf: "{\"time\":\"".utf8)
      UTCDate.append(seconds, milliseconds, to: &line)
      line.append(contentsOf: "\",\"level\":\"\(level.word)\",\"message\":".utf8)
      appendQuoted(message, to: &line)
      for (key, value) in data {
        line.append(UInt8(ascii: ","))
        appendQuoted(key, to: &line)
        line.append(UInt8(ascii: ":"))
        appendQuoted(value, to: &line)
      }
      line.append(UInt8(ascii: "}"))
    }
    line.append(UInt8(ascii: "\n"))
    return line
  }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    scalar != "\"" && scalar != "=" && !scalar.isBlank && !isEscaped(scalar)
  }

  /// Whether a scalar could end a line, control a terminal, or change how the line is read.
  private static func isEscaped(_ scalar: Unicode.Scalar) -> Bool {
    guard !scalar.isASCII else { return scalar.value < 0x20 || scalar.value == 0x7F }
    return scalar.isInvisible || scalar.isDeceiving || scalar.isBlank
  }

  private static func appendQuoted(_ text: String, to line: inout [UInt8]) {
    line.append(UInt8(ascii: "\""))
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" {
        line.append(UInt8(ascii: "\\"))
        line.append(UInt8(scalar.value))
      } else if isEscaped(scalar) {
        for unit in UTF16.encode(scalar) ?? UTF16.EncodedScalar() { appendEscape(unit, to: &line) }
      } else {
        line.append(contentsOf: Unicode.UTF8.encode(scalar) ?? Unicode.UTF8.EncodedScalar())
      }
    }
    line.append(UInt8(ascii: "\""))
  }

  private static func appendEscape(_ unit: UInt16, to line: inout [UInt8]) {
    let digits = Array("0123456789abcdef".utf8)
    line.append(contentsOf: "\\u".utf8)
    for shift in [12, 8, 4, 0] { line.append(digits[Int(unit >> UInt16(shift)) & 15]) }
  }
}

extension String {
  /// Returns the text, padded with spaces to a minimum width.
  package func padded(to width: Int) -> String {
    self + String(repeating: " ", count: Swift.max(0, width - count))
  }
}
