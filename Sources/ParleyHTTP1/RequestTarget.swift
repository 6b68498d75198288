/// A request's target (RFC 9112, section 3.2) in its normal form.
struct RequestTarget {
  var path = ""
  var query = ""
  /// The host of an absolute target, which takes precedence over the host field.
  var authority: String?

  init() {}

  init(_ bytes: Span<UInt8>, _ range: Range<Int>, _ method: HTTPMethod) throws(HTTPError) {
    try Self.check(bytes, range)
    var rest = range
    if bytes[rest.lowerBound] != 0x2f {
      if rest.count == 1, bytes[rest.lowerBound] == 0x2a, method == .options {
        path = "*"
        return
      }
      rest = try readAuthority(bytes, rest)
    }
    var mark = rest.lowerBound
    while mark < rest.upperBound, bytes[mark] != 0x3f { mark += 1 }
    path = try Self.normalized(bytes, rest.lowerBound..<mark)
    if mark < rest.upperBound { query = Bytes.string(bytes, (mark + 1)..<rest.upperBound) }
  }

  /// Checks that each byte is allowed in a target, and that two digits follow each percent sign.
  private static func check(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(HTTPError) {
    var index = range.lowerBound
    while index < range.upperBound {
      let byte = bytes[index]
      // A fragment must not be sent.
      guard byte > 0x20, byte < 0x7f, byte != 0x23 else { throw .targetEncoding }
      if byte == 0x25 {
        guard index + 2 < range.upperBound, let high = Bytes.hex(bytes[index + 1]),
          let low = Bytes.hex(bytes[index + 2])
        else { throw .targetEncoding }
        switch high << 4 | low {
        case 0, Bytes.lineFeed, Bytes.carriageReturn: throw .targetControl
        default: break
        }
        index += 2
      }
      index += 1
    }
  }

  /// Reads scheme and host of an absolute target, and returns the rest.
  private mutating func readAuthority(
    _ bytes: Span<UInt8>, _ range: Range<Int>
  ) throws(HTTPError) -> Range<Int> {
    var start = range.lowerBound
    if range.count > 7, Bytes.equals(bytes, start..<(start + 4), "http"),
      bytes[start + 4] == 0x3a, bytes[start + 5] == 0x2f, bytes[start + 6] == 0x2f
    {
      start += 7
    } else if range.count > 8, Bytes.equals(bytes, start..<(start + 5), "https"),
      bytes[start + 5] == 0x3a, bytes[start + 6] == 0x2f, bytes[start + 7] == 0x2f
    {
      start += 8
    } else {
      throw .targetForm
    }
    var end = start
    while end < range.upperBound, bytes[end] != 0x2f, bytes[end] != 0x3f { end += 1 }
    guard end > start, Self.isHost(bytes, start..<end) else { throw .targetForm }
    authority = Bytes.string(bytes, start..<end)
    return end..<range.upperBound
  }

  /// Whether a range is empty, or a host with an optional port. User names are not allowed.
  static func isHost(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
    var index = range.lowerBound
    let end = range.upperBound
    if index < end, bytes[index] == 0x5b {
      index += 1
      let start = index
      while index < end, Bytes.hostAddress.contains(bytes[index]) { index += 1 }
      guard index > start, index < end, bytes[index] == 0x5d else { return false }
      index += 1
    } else {
      while index < end, Bytes.hostName.contains(bytes[index]) { index += 1 }
      if index == range.lowerBound, index < end { return false }
    }
    guard index < end else { return true }
    guard bytes[index] == 0x3a, end - index <= 6 else { return false }
    for place in (index + 1)..<end where !Bytes.isDigit(bytes[place]) { return false }
    return true
  }

  /// Returns a path without empty segments, percent-encoded only where required.
  ///
  /// Segments `.` and `..` are rejected, also percent-encoded: clients resolve them before sending,
  /// and a proxy that checked the path may have interpreted them differently.
  private static func normalized(
    _ bytes: Span<UInt8>, _ range: Range<Int>
  ) throws(HTTPError) -> String {
    if isNormal(bytes, range) { return Bytes.string(bytes, range) }
    var path: [UInt8] = [0x2f]
    path.reserveCapacity(range.count + 1)
    // The start of the current segment in `path`, after its slash.
    var segment = 1
    var index = range.lowerBound
    func endSegment(isLast: Bool) throws(HTTPError) {
      let count = path.count - segment
      if 1...2 ~= count, path[segment...].allSatisfy({ $0 == 0x2e }) { throw .targetDots }
      if count > 0, !isLast { path.append(0x2f) }
      segment = path.count
    }
    while index < range.upperBound {
      var byte = bytes[index]
      index += 1
      if byte == 0x2f {
        try endSegment(isLast: false)
        continue
      }
      var isEncoded = !Bytes.segment.contains(byte)
      if byte == 0x25, let high = Bytes.hex(bytes[index]), let low = Bytes.hex(bytes[index + 1]) {
        byte = high << 4 | low
        index += 2
        isEncoded = !Bytes.unreserved.contains(byte)
      }
      if isEncoded {
        path.append(0x25)
        path.append(digit(byte >> 4))
        path.append(digit(byte & 15))
      } else {
        path.append(byte)
      }
    }
    try endSegment(isLast: true)
    return String(decoding: path, as: UTF8.self)
  }

  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }

  private static func isNormal(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
    guard !range.isEmpty else { return false }
    var last: UInt8 = 0
    for index in range {
      let byte = bytes[index]
      if last == 0x2f, byte == 0x2f || byte == 0x2e { return false }
      guard byte == 0x2f || Bytes.segment.contains(byte) else { return false }
      last = byte
    }
    return true
  }
}
