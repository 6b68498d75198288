import ParleyHTTP1
import ParleyOTWorkloads

/// An event of a connection, in a form that can be compared.
enum Seen: Hashable, CustomStringConvertible {
  case request(String, String, query: String, host: String, fields: [[String]], body: [UInt8])
  case upgrade(String, WebSocketOffer)
  case asksForBody(String, Int?)
  case rejected(HTTPError)
  case abandoned

  init(_ event: HTTPServerConnection.Event) {
    switch event {
    case .request(_, let head, let body):
      self = .request(
        head.method.rawValue, head.path, query: head.query, host: head.host,
        fields: (0..<head.fields.count).map {
          [head.fields.name(at: $0), head.fields.value(at: $0)]
        },
        body: body)
    case .upgrade(_, let head, let offer): self = .upgrade(head.path, offer)
    case .asksForBody(let head, let byteCount): self = .asksForBody(head.path, byteCount)
    case .rejected(let error): self = .rejected(error)
    case .abandoned: self = .abandoned
    }
  }

  var description: String {
    switch self {
    case .request(let method, let path, let query, _, let fields, let body):
      "\(method) \(path)?\(query) \(fields) + \(body.count)"
    case .upgrade(let path, let offer): "upgrade \(path) \(offer)"
    case .asksForBody(let path, let byteCount):
      "asks for \(byteCount.map(String.init) ?? "chunks") of \(path)"
    case .rejected(let error): "rejected \(error)"
    case .abandoned: "abandoned"
    }
  }
}

/// Memory in which small pieces of output are joined.
final class Scratch {
  let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 512, alignment: 16)

  deinit { bytes.deallocate() }
}

/// A connection with a socket that takes everything, and an owner who answers at once, if at all.
struct Peer {
  var connection: HTTPServerConnection
  var now: Int64 = 0
  var seen: [Seen] = []
  /// Requests in the order in which they came.
  var requests: [(number: HTTPServerConnection.RequestNumber, head: HTTPRequestHead)] = []
  var output: [UInt8] = []
  var heldByteCountMax = 0
  /// The answer to each request; `nil` for none yet.
  var answer: (HTTPRequestHead, [UInt8]) -> HTTPResponse? = { head, body in
    HTTPResponse(status: 200, body: Array("\(head.method.rawValue) \(head.path)".utf8))
  }
  /// The bytes behind an accepted handshake.
  var upgraded: [UInt8]?
  var upgrades = true
  /// Decides about a longer body.
  var decide: (inout HTTPServerConnection, HTTPRequestHead, Int?, Int64) -> Void = {
    connection, _, _, now in connection.takeBody(bytesMax: 1_000_000, now: now)
  }
  /// Bytes that the socket takes in one write.
  var takes = Int.max
  private let scratch = Scratch()

  init(_ limits: HTTPLimits = HTTPLimits()) {
    connection = HTTPServerConnection(limits: limits, now: 0)
  }

  /// The bytes of the output as text.
  var text: String { String(decoding: output, as: UTF8.self) }
  /// The statuses of the responses in the output.
  var statuses: [Int] {
    text.split(separator: "HTTP/1.1 ", omittingEmptySubsequences: false).dropFirst()
      .compactMap { Int($0.prefix(3)) }
  }

  mutating func feed(_ text: String) { feed(Array(text.utf8)[...]) }

  mutating func feed(_ piece: ArraySlice<UInt8>) {
    // Memory that ends where the piece does.
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: piece.count, alignment: 1)
    defer { memory.deallocate() }
    memory.copyBytes(from: piece)
    var input = UnsafeRawBufferPointer(memory)
    drain(&input)
    precondition(input.isEmpty, "the connection left input behind")
    heldByteCountMax = max(heldByteCountMax, connection.heldByteCount)
  }

  /// Continues with the bytes that were held back.
  mutating func proceed() {
    var input = UnsafeRawBufferPointer(start: nil, count: 0)
    drain(&input)
  }

  private mutating func drain(_ input: inout UnsafeRawBufferPointer) {
    var hasMoved = true
    while hasMoved {
      hasMoved = false
      while let event = connection.next(&input, now: now) {
        hasMoved = true
        handle(event)
      }
      while takes > 0, connection.unsentByteCount > 0 {
        hasMoved = true
        write(takes)
      }
    }
  }

  mutating func handle(_ event: HTTPServerConnection.Event) {
    seen.append(Seen(event))
    switch event {
    case .request(let number, let head, let body):
      requests.append((number, head))
      if let response = answer(head, body) {
        connection.respond(to: number, with: response, now: now)
      }
    case .upgrade(let number, let head, let offer):
      requests.append((number, head))
      guard upgrades else { return }
      let accepted = connection.upgrade(
        number, accept: WebSocketHandshake.accept(for: offer.key),
        subprotocol: offer.subprotocols.first)
      output += accepted?.response ?? []
      upgraded = accepted?.rest
    case .asksForBody(let head, let byteCount): decide(&connection, head, byteCount, now)
    case .rejected, .abandoned: break
    }
  }

  @discardableResult
  mutating func write(_ most: Int) -> Int {
    var taken: [UInt8] = []
    connection.writeNext(joiningIn: scratch.bytes, now: now) {
      taken = Array($0.prefix(most))
      return taken.count
    }
    output += taken
    return taken.count
  }

  /// Answers the request with this index.
  mutating func respond(_ index: Int, _ response: HTTPResponse) {
    connection.respond(to: requests[index].number, with: response, now: now)
    proceed()
  }

  /// Feeds bytes cut at the places given. A connection that wants no input is given it all the
  /// same: the socket may have been read before.
  static func of(_ bytes: [UInt8], cuts: [Int] = [], _ limits: HTTPLimits = HTTPLimits()) -> Peer {
    var peer = Peer(limits)
    var start = 0
    for cut in cuts + [bytes.count] where cut > start {
      peer.feed(bytes[start..<cut])
      start = cut
    }
    return peer
  }
}

/// Ways to cut a stream: not at all, after each byte, and at a few random places.
func cuts(_ count: Int, _ generator: inout SplitMix64) -> [[Int]] {
  var ways = [[], Array(0...count)]
  for _ in 0..<3 {
    var cuts: [Int] = []
    var place = 0
    while place < count {
      place += generator.chance(50) ? generator.below(8) : generator.below(200)
      cuts.append(min(place, count))
    }
    ways.append(cuts)
  }
  return ways
}

enum Seeds {
  static let smoke = Array(UInt64(1)...40)
}
