import Glibc

/// A time within a text: `@` and sixteen hexadecimal digits, in nanoseconds.
enum TimeMark {
  static func append(_ time: UInt64, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "@"))
    for index in 0..<16 {
      let digit = UInt8(time >> UInt64(60 - 4 * index) & 0xf)
      bytes.append(digit < 10 ? 48 + digit : 87 + digit)
    }
  }

  static func text(_ time: UInt64) -> String {
    var bytes: [UInt8] = []
    append(time, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  static func first(in bytes: UnsafeRawBufferPointer) -> UInt64? {
    guard let base = bytes.baseAddress,
      let found = memchr(base, 64, bytes.count).map({ UnsafeRawPointer($0) })
    else { return nil }
    return time(UnsafeRawBufferPointer(rebasing: bytes[(found - base)...]))
  }

  /// Calls `body` with each mark.
  static func forEach(in bytes: UnsafeRawBufferPointer, _ body: (UInt64) -> Void) {
    var bytes = bytes
    while let base = bytes.baseAddress,
      let found = memchr(base, 64, bytes.count).map({ UnsafeRawPointer($0) })
    {
      bytes = UnsafeRawBufferPointer(rebasing: bytes[(found - base)...])
      if let time = time(bytes) { body(time) }
      bytes = UnsafeRawBufferPointer(rebasing: bytes[1...])
    }
  }

  private static func time(_ bytes: UnsafeRawBufferPointer) -> UInt64? {
    guard bytes.count >= 17 else { return nil }
    var time: UInt64 = 0
    for index in 1...16 {
      let byte = bytes[index]
      time = time << 4 | UInt64(byte <= 57 ? byte &- 48 : byte &- 87)
    }
    return time
  }
}
