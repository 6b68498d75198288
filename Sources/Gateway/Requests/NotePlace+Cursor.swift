import GatewayPorts

extension NotePlace {
  /// The place as clients send it back, in hexadecimal digits: nothing to be read or made up.
  var cursor: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: "\(createdAt) \(id)".utf8.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
      as: UTF8.self)
  }

  /// Reads a cursor; `nil` if it is none.
  init?(cursor: String) {
    var bytes: [UInt8] = []
    var high: UInt8?
    for digit in cursor {
      guard digit.isASCII, !digit.isUppercase, let value = digit.hexDigitValue.map(UInt8.init)
      else {
        return nil
      }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    guard high == nil, let text = String(validating: bytes, as: UTF8.self) else { return nil }
    let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let time = Timestamp(parts[0]) else { return nil }
    self.init(createdAt: time, id: String(parts[1]))
  }
}
