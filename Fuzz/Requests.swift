// Any bytes are requests with one answer each, or an error, within the limits, and the same ones
// however reads cut them. No answer contains an injected line.

import ParleyHTTP1

/// Called by libFuzzer for each input. Its first two bytes choose limits and cuts.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard count >= 2 else { return 0 }
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  let stream = bytes[2...]
  checkProxyHeader(Array(stream))
  let whole = Log.reading(stream, choices: bytes[0], cutting: 0)
  guard Log.reading(stream, choices: bytes[0], cutting: 1) == whole,
    Log.reading(stream, choices: bytes[0], cutting: UInt32(bytes[1]) | 0x100) == whole
  else { fatalError("another cut gives other events") }
  return 0
}

private func checkProxyHeader(_ bytes: [UInt8]) {
  let whole = bytes.withUnsafeBytes { ProxyHeader.read($0) }
  if case .whole(_, let count) = whole, count > bytes.count { fatalError("a header is too long") }
  let half = bytes[..<(bytes.count / 2)].withUnsafeBytes { ProxyHeader.read($0) }
  guard half == .incomplete || half == whole else { fatalError("a header changes as it grows") }
}

/// Returns the maximum bytes of an accepted body.
private func longestBody(_ limits: HTTPLimits) -> Int {
  limits.asksForLongerBodies ? 2 * limits.bodyBytesMax : limits.bodyBytesMax
}

/// The events and answers of a stream, as comparable bytes.
private struct Log: Equatable {
  var events: [UInt8] = []
  var output: [UInt8] = []

  static func reading(_ stream: ArraySlice<UInt8>, choices: UInt8, cutting seed: UInt32) -> Log {
    var limits = HTTPLimits()
    if choices & 1 != 0 {
      limits.requestLineBytesMax = 100
      limits.headBytesMax = 300
      limits.fieldsMax = 6
      limits.bodyBytesMax = 100
      limits.chunkExtensionBytesMax = 20
    }
    limits.pipelinedMax = Int(choices >> 1 & 3) + 1
    limits.asksForLongerBodies = choices & 8 != 0
    var connection = HTTPServerConnection(limits: limits, now: 0)
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 256, alignment: 16)
    defer { scratch.deallocate() }
    var log = Log()
    var place = stream.startIndex
    var random = seed
    while place < stream.endIndex {
      random = random &* 1_664_525 &+ 1_013_904_223
      let wanted = seed == 0 ? Int.max : seed == 1 ? 1 : Int(random >> 24) % 40 + 1
      let end = stream.index(place, offsetBy: min(wanted, stream.endIndex - place))
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: end - place, alignment: 1)
      memory.copyBytes(from: stream[place..<end])
      var input = UnsafeRawBufferPointer(memory)
      var hasMoved = true
      while hasMoved {
        hasMoved = false
        while let event = connection.next(&input, now: 0) {
          hasMoved = true
          log.note(event, &connection, limits)
        }
        while connection.unsentByteCount > 0 {
          hasMoved = true
          connection.writeNext(joiningIn: scratch, now: 0) {
            log.output += $0.prefix(100)
            return min(100, $0.count)
          }
        }
      }
      guard input.isEmpty else { fatalError("input is left") }
      let heldMax = limits.headBytesMax + longestBody(limits) + (end - place)
      memory.deallocate()
      place = end
      guard connection.heldByteCount <= heldMax else {
        fatalError("\(connection.heldByteCount) bytes are held")
      }
      if connection.ending == .close { fatalError("the connection is cut") }
    }
    log.checkOutput()
    return log
  }

  private mutating func note(
    _ event: HTTPServerConnection.Event, _ connection: inout HTTPServerConnection,
    _ limits: HTTPLimits
  ) {
    switch event {
    case .request(let number, let head, let body):
      guard body.count <= longestBody(limits), head.fields.count <= limits.fieldsMax else {
        fatalError("a request is over its limits")
      }
      guard head.path == "*" || head.path.utf8.first == UInt8(ascii: "/"),
        !head.path.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7f }), !head.path.contains("//"),
        !head.path.split(separator: "/").contains(where: { $0 == "." || $0 == ".." })
      else { fatalError("a path is not in its one form") }
      events += Array(
        "\(head.method.rawValue) \(head.path)?\(head.query) \(head.host) \(body.count)".utf8)
      events += body
      var fields = [(name: "x-path", value: head.path)]
      for index in 0..<head.fields.count {
        let name = head.fields.name(at: index)
        let value = head.fields.value(at: index)
        events += Array("\(name):\(value)".utf8)
        fields.append(("x-\(name)", value))
      }
      connection.respond(
        to: number,
        with: HTTPResponse(
          status: 200, fields: fields, body: [UInt8](repeating: 46, count: 9)),
        now: 0)
    case .upgrade(let number, let head, let offer):
      events += Array("upgrade \(head.path) \(offer.key)".utf8)
      events += Array(offer.subprotocols.joined(separator: ",").utf8)
      connection.respond(to: number, with: HTTPResponse(status: 403), now: 0)
    case .asksForBody(let head, let byteCount):
      guard limits.asksForLongerBodies, byteCount.map({ $0 > limits.bodyBytesMax }) ?? true else {
        fatalError("a body of \(byteCount ?? 0) bytes is asked about")
      }
      events += Array("asks \(head.path) \(byteCount ?? -1)".utf8)
      if byteCount.map({ $0 <= longestBody(limits) }) ?? true {
        connection.takeBody(bytesMax: longestBody(limits), now: 0)
      } else {
        connection.refuseBody(now: 0)
      }
    case .rejected(let error): events += Array(error.message.utf8)
    case .abandoned: fatalError("every request is answered")
    }
  }

  /// Checks the answers: each has a status line, fields, and as much body as its length says.
  private func checkOutput() {
    var rest = output[...]
    while !rest.isEmpty {
      guard let end = rest.firstRange(of: [13, 10, 13, 10]) else { fatalError("half an answer") }
      let lines = rest[..<end.lowerBound].split(separator: 10)
      guard lines.first?.starts(with: "HTTP/1.1 ".utf8) ?? false else { fatalError("no status") }
      rest = rest[end.upperBound...]
      let length = lines.first { $0.starts(with: "content-length: ".utf8) }
        .map { String(decoding: $0.dropFirst(16).dropLast($0.last == 13 ? 1 : 0), as: UTF8.self) }
      // An answer to HEAD has no body, and bodies here consist of dots.
      let count = length.flatMap { Int($0) } ?? 0
      if rest.prefix(count).count == count, !rest.starts(with: "HTTP/1.1 ".utf8) {
        rest = rest.dropFirst(count)
      }
    }
  }
}
