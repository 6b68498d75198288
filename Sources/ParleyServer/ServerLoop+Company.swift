import Gateway
import GatewayPorts
import JSON
import SocketMessages
import TransportLibwebsockets

/// Requests of operators that are about the connections of all loops.
///
/// The gateway of the loop that is asked admits the request and answers for itself first; only then do the
/// others, and the answers become one. With an `Idempotency-Key` that one is kept, so that all is done once.
///
///     GET  /api/connections, /api/rooms                     lists, put together in order
///     POST /api/users/{user}/disconnect, …/refresh-rights   numbers, added
///     POST /api/revoke                                      the others look what was taken back
extension ServerLoop {
  /// A request that waits for the answers of other loops.
  struct Gathering {
    let request: RequestID
    let kind: Kind
    var answer: Response
    /// The rooms that somebody is in, at any loop, by the bytes of their names.
    var rooms: Set<[UInt8]>
    /// The answers that are still to come.
    var awaited: Int
  }

  /// The way in which answers become one.
  enum Kind: Sendable {
    case connections(limit: Int)
    case rooms(limit: Int)
    case numbers
    case revocation

    init?(_ head: RequestHead) {
      // The name of a user may hold a slash.
      let isOfUser =
        head.path.hasPrefix("/api/users/")
        && ["/disconnect", "/refresh-rights"].contains { head.path.hasSuffix($0) }
      switch (head.method, head.path) {
      case ("GET", "/api/connections"): self = .connections(limit: Self.limit(head))
      case ("GET", "/api/rooms"): self = .rooms(limit: Self.limit(head))
      case ("POST", "/api/revoke"): self = .revocation
      case ("POST", _) where isOfUser: self = .numbers
      default: return nil
      }
    }

    /// The items of one page that were asked for.
    private static func limit(_ head: RequestHead) -> Int {
      let name = "limit="
      let field = head.query.split(separator: "&").first { $0.hasPrefix(name) }
      return field.flatMap { Int($0.dropFirst(name.utf8.count)) } ?? 100
    }
  }

  /// The names of requests that loops make of each other begin here.
  private static let ownRequestsBegin: UInt64 = 1 << 63

  /// Has the other loops do their parts of a request that this one's gateway has admitted, and done its own
  /// of; gives the answer of all back to it.
  func gather(_ request: RequestID, _ head: RequestHead, _ body: [UInt8], _ answer: Response) {
    guard let company = attached.company, let kind = Kind(head) else {
      gateway.gathered(request, answer)
      perform()
      return
    }
    let number = nextGathering
    nextGathering += 1
    gatherings[number] = Gathering(
      request: request, kind: kind, answer: answer, rooms: rooms(for: kind), awaited: 0)
    let home = place
    for other in 0..<company.count where other != home {
      let isAsked = company.post(to: other) { loop in
        loop.answer(head, body, kind) { answer, rooms in
          _ = company.post(to: home) { $0.gathered(answer, rooms, for: number) }
        }
      }
      // Who has ended has no connections.
      if isAsked { gatherings[number]?.awaited += 1 }
    }
    finishGathering(number)
  }

  /// Does this loop's part of a request that another has admitted. It is not admitted or counted again, nor
  /// is its answer kept by a key: all that is for the loop that was asked.
  private func answer(
    _ head: RequestHead, _ body: [UInt8], _ kind: Kind,
    _ then: @escaping @Sendable (Response, Set<[UInt8]>) -> Void
  ) {
    let rooms = rooms(for: kind)
    if case .revocation = kind {
      let closed = gateway.takeBackElsewhere(body)
      perform()
      return then(Self.response(connections: closed), rooms)
    }
    let request = RequestID(Self.ownRequestsBegin + nextOwnRequest)
    nextOwnRequest += 1
    ownRequests[request] = { then($0, rooms) }
    if gateway.requestPart(request, head: head, body: body) {
      perform()
    } else {
      ownRequests[request] = nil
      then(Self.unfinished, rooms)
    }
  }

  /// The rooms of this loop, if a request counts them: a room is one, at however many loops.
  private func rooms(for kind: Kind) -> Set<[UInt8]> {
    guard case .rooms = kind else { return [] }
    return Set(gateway.openRoomNames.map { Array($0.utf8) })
  }

  /// The answer where a loop has not done its part.
  fileprivate static var unfinished: Response {
    .problem(503, .unavailable, "this was done in part; send it again")
  }

  private func gathered(_ answer: Response, _ rooms: Set<[UInt8]>, for number: UInt64) {
    guard var gathering = gatherings[number] else { return }
    gathering.rooms.formUnion(rooms)
    gathering.awaited -= 1
    gathering.add(answer)
    gatherings[number] = gathering
    finishGathering(number)
  }

  private func finishGathering(_ number: UInt64) {
    guard let gathering = gatherings[number], gathering.awaited == 0 else { return }
    gatherings[number] = nil
    gateway.gathered(gathering.request, gathering.answer)
    perform()
  }

  fileprivate static func response(connections count: Int) -> Response {
    var body: [UInt8] = []
    JSONWriter.object(&body) { $0.field("connections", count, &$1) }
    return .json(200, body)
  }
}

extension ServerLoop.Gathering {
  /// Puts the answer of another loop with those that are there.
  mutating func add(_ other: Response) {
    guard answer.status == 200, other.status == 200, let mine = JSONValue(answer.body)?.fields,
      let theirs = JSONValue(other.body)?.fields
    else {
      answer = ServerLoop.unfinished
      return
    }
    switch kind {
    case .numbers, .revocation:
      let count = (mine["connections"]?.integer ?? 0) + (theirs["connections"]?.integer ?? 0)
      answer.body = ServerLoop.response(connections: count).body
    case .connections(let limit):
      let items = Self.items("connections", mine) + Self.items("connections", theirs)
      let sorted = items.sorted { Self.number($0) < Self.number($1) }
      answer.body = Self.page(
        "connections", sorted, limit, total: Self.sum("total", mine, theirs), mine, theirs)
    case .rooms(let limit):
      let items = Self.rooms(Self.items("rooms", mine) + Self.items("rooms", theirs))
      answer.body = Self.page("rooms", items, limit, total: rooms.count, mine, theirs)
    }
  }

  private static func items(_ name: String, _ fields: JSONFields) -> [JSONFields] {
    fields[name]?.elements?.compactMap(\.fields) ?? []
  }

  private static func sum(_ name: String, _ one: JSONFields, _ other: JSONFields) -> Int {
    (one[name]?.integer ?? 0) + (other[name]?.integer ?? 0)
  }

  private static func number(_ connection: JSONFields) -> UInt64 {
    connection["id"]?.string.flatMap { UInt64($0) } ?? 0
  }

  /// The rooms by their names, each once.
  private static func rooms(_ items: [JSONFields]) -> [JSONFields] {
    var byName: [[UInt8]: JSONFields] = [:]
    for item in items {
      let name = Array((item["room"]?.string ?? "").utf8)
      guard let known = byName[name] else {
        byName[name] = item
        continue
      }
      var sum: [UInt8] = []
      JSONWriter.object(&sum) { object, body in
        object.field("room", known["room"]?.string, &body)
        object.field("subscribers", Self.sum("subscribers", known, item), &body)
        // Who is present every loop knows of all.
        object.field(
          "present", max(known["present"]?.integer ?? 0, item["present"]?.integer ?? 0), &body)
      }
      byName[name] = JSONValue(sum)?.fields ?? known
    }
    return byName.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
  }

  private static func page(
    _ name: String, _ items: [JSONFields], _ limit: Int, total: Int, _ one: JSONFields,
    _ other: JSONFields
  ) -> [UInt8] {
    let hasMore = [one, other].contains {
      $0["more"].map { $0.utf8.elementsEqual("true".utf8) } ?? false
    }
    var body: [UInt8] = []
    JSONWriter.object(&body) { object, body in
      object.key(named: name, &body)
      JSONWriter.array(items.prefix(limit), &body) { $1 += $0.json }
      object.field("total", total, &body)
      object.field("more", hasMore || items.count > limit, &body)
    }
    return body
  }
}
