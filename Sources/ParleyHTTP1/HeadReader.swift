/// A reader of a request's head. It parses each line once.
///
/// Errors are reported in the order of bytes, so that they do not depend on how a head was split.
struct HeadReader {
  /// The offset up to which line ends have been searched.
  private var scanned = 0
  private var lineStart = 0
  private var hasRequestLine = false

  private var entries: [HTTPFields.Entry] = []
  private var method = HTTPMethod.get
  private var minorVersion = 1
  private var target = RequestTarget()

  private var hostCount = 0
  private var host = 0..<0
  private var length: UInt64?
  private var hasCoding = false
  private var isChunked = false
  private var hasOtherCoding = false
  private var hasCodingAfterChunked = false
  private var closes = false
  private var keepsAlive = false
  private var expectsContinue = false
  private var expectsOther = false
  private var connectionUpgrades = false
  private var upgradesToWebSocket = false
  private var keyCount = 0
  private var key = 0..<0
  private var versionCount = 0
  private var isVersion13 = false
  private var protocols: [Range<Int>] = []

  init() {}

  /// Whether any byte of a head has been read.
  var hasBegun: Bool { scanned > 0 }

  /// Processes more bytes, and returns the head's length once it is complete.
  ///
  /// - Parameter bytes: All available bytes, starting with the head's first one.
  mutating func read(_ bytes: Span<UInt8>, _ limits: HTTPLimits) throws(HTTPError) -> Int? {
    guard bytes.count > 0 else { return nil }
    if scanned == 0, !Bytes.token.contains(bytes[0]) {
      throw bytes[0] == 0x16 ? .encrypted : .requestLine
    }
    while true {
      let limit = hasRequestLine ? limits.headBytesMax : limits.requestLineBytesMax
      let tooLong: HTTPError =
        hasRequestLine ? .headTooLong(limit) : .targetTooLong(limit)
      let end = min(bytes.count, limit)
      guard let place = Bytes.firstControl(in: bytes, from: scanned, to: end) else {
        if end == limit { throw tooLong }
        scanned = end
        return nil
      }
      scanned = place
      guard bytes[place] == Bytes.carriageReturn else {
        throw bytes[place] == Bytes.lineFeed ? .lineBreak : .control
      }
      if place + 2 > limit { throw tooLong }
      if place + 1 == bytes.count { return nil }
      guard bytes[place + 1] == Bytes.lineFeed else { throw .lineBreak }
      let line = lineStart..<place
      scanned = place + 2
      lineStart = scanned
      if !hasRequestLine {
        try readRequestLine(bytes, line)
        hasRequestLine = true
      } else if line.isEmpty {
        return scanned
      } else {
        try readField(bytes, line, limits)
      }
    }
  }

  // MARK: Request line

  private mutating func readRequestLine(
    _ bytes: Span<UInt8>, _ line: Range<Int>
  ) throws(HTTPError) {
    var methodEnd = line.lowerBound
    while methodEnd < line.upperBound, Bytes.token.contains(bytes[methodEnd]) { methodEnd += 1 }
    // The version has eight bytes, after a second space.
    let versionStart = line.upperBound - 8
    guard methodEnd + 2 < versionStart, bytes[methodEnd] == Bytes.space,
      bytes[versionStart - 1] == Bytes.space,
      bytes[versionStart + 6] == 0x2e, Bytes.isDigit(bytes[versionStart + 5]),
      Bytes.isDigit(bytes[versionStart + 7]), isHTTP(bytes, versionStart)
    else { throw .requestLine }
    let range = (methodEnd + 1)..<(versionStart - 1)
    for index in range where bytes[index] == Bytes.space || bytes[index] == Bytes.tab {
      throw .requestLine
    }
    guard bytes[versionStart + 5] == 0x31 else { throw .version }
    minorVersion = bytes[versionStart + 7] == 0x30 ? 0 : 1
    guard let method = Self.method(bytes, line.lowerBound..<methodEnd) else { throw .method }
    self.method = method
    target = try RequestTarget(bytes, range, method)
  }

  private func isHTTP(_ bytes: Span<UInt8>, _ start: Int) -> Bool {
    bytes[start] == 0x48 && bytes[start + 1] == 0x54 && bytes[start + 2] == 0x54
      && bytes[start + 3] == 0x50 && bytes[start + 4] == 0x2f
  }

  private static func method(_ bytes: Span<UInt8>, _ range: Range<Int>) -> HTTPMethod? {
    var word: UInt64 = 0
    guard range.count <= 8 else { return nil }
    for index in range { word = word << 8 | UInt64(bytes[index]) }
    switch word {
    case 0x47_45_54: return .get
    case 0x48_45_41_44: return .head
    case 0x50_4f_53_54: return .post
    case 0x50_55_54: return .put
    case 0x50_41_54_43_48: return .patch
    case 0x44_45_4c_45_54_45: return .delete
    case 0x4f_50_54_49_4f_4e_53: return .options
    default: return nil
    }
  }

  // MARK: Fields

  private mutating func readField(
    _ bytes: Span<UInt8>, _ line: Range<Int>, _ limits: HTTPLimits
  ) throws(HTTPError) {
    let first = bytes[line.lowerBound]
    if first == Bytes.space || first == Bytes.tab { throw .foldedField }
    var colon = line.lowerBound
    while colon < line.upperBound, Bytes.token.contains(bytes[colon]) { colon += 1 }
    guard colon > line.lowerBound, colon < line.upperBound, bytes[colon] == 0x3a else {
      throw .field
    }
    guard entries.count < limits.fieldsMax else { throw .tooManyFields(limits.fieldsMax) }
    let name = line.lowerBound..<colon
    let value = Bytes.trimmed(bytes, (colon + 1)..<line.upperBound)
    if entries.isEmpty { entries.reserveCapacity(16) }
    entries.append(
      HTTPFields.Entry(
        nameStart: UInt32(name.lowerBound), nameCount: UInt32(name.count),
        valueStart: UInt32(value.lowerBound), valueCount: UInt32(value.count)))
    try note(bytes, name, value)
  }

  /// Records a field that affects the connection or the body.
  @inline(__always)
  private mutating func note(
    _ bytes: Span<UInt8>, _ name: Range<Int>, _ value: Range<Int>
  ) throws(HTTPError) {
    // Compare lengths first, so that most names are not compared at all.
    switch name.count {
    case 4 where Bytes.equals(bytes, name, "host"):
      hostCount += 1
      host = value
      if hostCount > 1 { throw .hostCount }
      guard RequestTarget.isHost(bytes, value) else { throw .host }
    case 6 where Bytes.equals(bytes, name, "expect"):
      if Bytes.equals(bytes, value, "100-continue") {
        expectsContinue = true
      } else {
        expectsOther = true
      }
    case 7 where Bytes.equals(bytes, name, "upgrade"):
      Bytes.forEachElement(bytes, value) {
        if Bytes.equals(bytes, $0, "websocket") { upgradesToWebSocket = true }
      }
    case 10 where Bytes.equals(bytes, name, "connection"):
      Bytes.forEachElement(bytes, value) {
        if Bytes.equals(bytes, $0, "close") { closes = true }
        if Bytes.equals(bytes, $0, "keep-alive") { keepsAlive = true }
        if Bytes.equals(bytes, $0, "upgrade") { connectionUpgrades = true }
      }
    case 14 where Bytes.equals(bytes, name, "content-length"):
      if length != nil { throw .lengthRepeated }
      length = try Self.number(bytes, value)
    case 17 where Bytes.equals(bytes, name, "transfer-encoding"):
      hasCoding = true
      Bytes.forEachElement(bytes, value) {
        if isChunked { hasCodingAfterChunked = true }
        if Bytes.equals(bytes, $0, "chunked") { isChunked = true } else { hasOtherCoding = true }
      }
    case 17 where Bytes.equals(bytes, name, "sec-websocket-key"):
      keyCount += 1
      key = value
    case 21 where Bytes.equals(bytes, name, "sec-websocket-version"):
      versionCount += 1
      isVersion13 =
        value.count == 2 && bytes[value.lowerBound] == 0x31 && bytes[value.lowerBound + 1] == 0x33
    case 22 where Bytes.equals(bytes, name, "sec-websocket-protocol"):
      protocols.append(value)
    default:
      break
    }
  }

  /// Parses a length of digits. A length beyond 64 bits becomes the largest one.
  private static func number(
    _ bytes: Span<UInt8>, _ range: Range<Int>
  ) throws(HTTPError) -> UInt64 {
    guard !range.isEmpty else { throw .length }
    var number: UInt64 = 0
    for index in range {
      guard Bytes.isDigit(bytes[index]) else { throw .length }
      let (tens, overflows) = number.multipliedReportingOverflow(by: 10)
      let (sum, overflowsToo) = tens.addingReportingOverflow(UInt64(bytes[index] - 0x30))
      number = overflows || overflowsToo ? .max : sum
    }
    return number
  }

  // MARK: The complete head

  /// Creates the head, after checking that its fields are consistent.
  ///
  /// - Parameter bytes: The complete head.
  func finish(_ bytes: Span<UInt8>) throws(HTTPError) -> HTTPRequestHead {
    if minorVersion > 0, hostCount != 1 { throw .hostCount }
    var body = HTTPRequestHead.Body.none
    if hasCoding {
      if length != nil { throw .lengthAndCoding }
      if minorVersion == 0 { throw .codingOrder }
      if hasOtherCoding, !hasCodingAfterChunked { throw .coding }
      guard isChunked, !hasCodingAfterChunked else { throw .codingOrder }
      body = .chunks
    } else if let length, length > 0 {
      body = .length(Int(clamping: length))
    }
    // A client of HTTP/1.0 does not wait for 100.
    if expectsOther, minorVersion > 0 { throw .expectation }
    let offer =
      upgradesToWebSocket && connectionUpgrades ? try webSocketOffer(bytes, body) : nil
    return HTTPRequestHead(
      method: method, path: target.path, query: target.query,
      host: target.authority ?? Bytes.string(bytes, host), minorVersion: minorVersion,
      fields: HTTPFields(bytes, entries),
      keepsAlive: !closes && (minorVersion > 0 || keepsAlive), webSocket: offer, body: body,
      expectsContinue: expectsContinue && minorVersion > 0)
  }

  /// Checks a handshake (RFC 6455, section 4.2.1).
  private func webSocketOffer(
    _ bytes: Span<UInt8>, _ body: HTTPRequestHead.Body
  ) throws(HTTPError) -> WebSocketOffer {
    guard method == .get, minorVersion > 0 else { throw .upgradeMethod }
    guard body == .none else { throw .upgradeBody }
    guard versionCount == 1, isVersion13 else { throw .upgradeVersion }
    guard keyCount == 1, WebSocketHandshake.isKey(bytes, key) else { throw .upgradeKey }
    var names: [String] = []
    var areTokens = true
    for list in protocols {
      Bytes.forEachElement(bytes, list) { element in
        for index in element where !Bytes.token.contains(bytes[index]) { areTokens = false }
        names.append(Bytes.string(bytes, element))
      }
    }
    guard areTokens else { throw .upgradeProtocols }
    return WebSocketOffer(key: Bytes.string(bytes, key), subprotocols: names)
  }
}
