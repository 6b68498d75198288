/// An incremental reader of one HTTP/1.1 response, which skips informational responses before it.
package struct HTTPAnswer {
  /// The reason why a response is malformed.
  package struct Malformed: Error, Equatable {
    package let reason: String
  }

  private enum Stage {
    case head
    case body(left: Int)
    case chunkSize
    case chunk(left: Int)
    case chunkEnd
    case trailers
    case untilEnd
    case done
  }

  package private(set) var status = 0
  /// The header fields: names in lower case, values without surrounding white space.
  package private(set) var headers: [(name: String, value: String)] = []
  package private(set) var body: [UInt8] = []
  private var stage = Stage.head
  private var line: [UInt8] = []
  private var lines: [[UInt8]] = []
  private var headBytes = 0
  private let hasBody: Bool
  private let bodyBytesMax: Int

  private static let headBytesMax = 64 << 10

  /// - Parameter hasBody: Whether the response may have a body; `false` for `HEAD`.
  package init(hasBody: Bool = true, bodyBytesMax: Int) {
    self.hasBody = hasBody
    self.bodyBytesMax = bodyBytesMax
  }

  package var isDone: Bool { if case .done = stage { true } else { false } }

  /// Processes received bytes; bytes after the response are ignored.
  ///
  /// - Complexity: O(*n*) bytes, over all calls together.
  package mutating func take(_ bytes: some Collection<UInt8>) throws(Malformed) {
    var rest = bytes[...]
    while !rest.isEmpty {
      switch stage {
      case .done: return
      case .body(let left):
        let piece = rest.prefix(left)
        try add(piece)
        rest = rest.dropFirst(piece.count)
        stage = piece.count == left ? .done : .body(left: left - piece.count)
      case .chunk(let left):
        let piece = rest.prefix(left)
        try add(piece)
        rest = rest.dropFirst(piece.count)
        stage = piece.count == left ? .chunkEnd : .chunk(left: left - piece.count)
      case .untilEnd:
        try add(rest)
        return
      case .head, .chunkSize, .chunkEnd, .trailers:
        guard let byte = rest.popFirst() else { return }
        headBytes += 1
        guard headBytes <= Self.headBytesMax else {
          throw Malformed(reason: "its headers are too long")
        }
        guard byte == 0x0a else {
          line.append(byte)
          continue
        }
        if line.last == 0x0d { line.removeLast() }
        let whole = line
        line = []
        try take(line: whole)
      }
    }
  }

  /// Handles the end of the connection.
  package mutating func end() throws(Malformed) {
    if case .untilEnd = stage { stage = .done }
    guard isDone else { throw Malformed(reason: "the connection ended within the response") }
  }

  private mutating func add(_ piece: some Collection<UInt8>) throws(Malformed) {
    guard body.count + piece.count <= bodyBytesMax else {
      throw Malformed(reason: "its answer is over \(bodyBytesMax) bytes")
    }
    body.append(contentsOf: piece)
  }

  private mutating func take(line: [UInt8]) throws(Malformed) {
    switch stage {
    case .head:
      guard line.isEmpty else {
        lines.append(line)
        return
      }
      try readHead()
    case .chunkSize:
      headBytes = 0
      let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 }
      guard digits.count <= 8, let size = Int(String(decoding: digits, as: UTF8.self), radix: 16),
        size >= 0, digits.first != UInt8(ascii: "+"), digits.first != UInt8(ascii: "-")
      else { throw Malformed(reason: "a chunk has no size") }
      stage = size == 0 ? .trailers : .chunk(left: size)
    case .chunkEnd:
      guard line.isEmpty else { throw Malformed(reason: "a chunk is longer than its size") }
      stage = .chunkSize
    case .trailers: if line.isEmpty { stage = .done }
    case .body, .chunk, .untilEnd, .done: break
    }
  }

  private mutating func readHead() throws(Malformed) {
    let all = lines
    lines = []
    guard let first = all.first else { throw Malformed(reason: "its answer is empty") }
    let words = String(decoding: first, as: UTF8.self)
      .split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[1].utf8.count == 3,
      let status = Int(words[1]), (100...999).contains(status)
    else { throw Malformed(reason: "its answer is not HTTP/1.1") }
    if status < 200 {
      headBytes = 0
      return
    }
    self.status = status
    for bytes in all.dropFirst() {
      let text = String(decoding: bytes, as: UTF8.self)
      guard let colon = text.firstIndex(of: ":") else {
        throw Malformed(reason: "a header has no colon")
      }
      let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
      let end = value.lastIndex { $0 != " " && $0 != "\t" }.map { value.index(after: $0) }
      headers.append((text[..<colon].lowercased(), String(value[..<(end ?? value.startIndex)])))
    }
    headBytes = 0
    stage = try bodyStage()
  }

  private func bodyStage() throws(Malformed) -> Stage {
    if !hasBody || status == 204 || status == 304 { return .done }
    if let coding = self["transfer-encoding"] {
      guard coding.lowercased() == "chunked" else {
        throw Malformed(reason: "its answer is in an unknown coding")
      }
      return .chunkSize
    }
    guard let length = self["content-length"] else { return .untilEnd }
    guard let count = Int(length), count >= 0,
      length.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { throw Malformed(reason: "its answer has no length") }
    return count == 0 ? .done : .body(left: count)
  }

  package subscript(name: String) -> String? { headers.last { $0.name == name }?.value }
}
