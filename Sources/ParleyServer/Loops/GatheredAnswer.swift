import Gateway
package import GatewayPorts
import JSON
import SocketMessages

/// The answers of several loops to one request of an operator's, as one.
package struct GatheredAnswer {
  /// The way in which answers become one.
  package enum Kind: Sendable {
    /// Lists of connections, put together in order.
    case connections(limit: Int)
    /// Lists of rooms, each room once.
    case rooms(limit: Int)
    /// Numbers of connections, added.
    case numbers
    /// Numbers of connections whose tokens were revoked, added.
    case revocation

    /// The way for a request; `nil` if one loop answers it.
    package init?(_ head: RequestHead) {
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

    /// The number of items that a request asks for.
    private static func limit(_ head: RequestHead) -> Int {
      let name = "limit="
      let field = head.query.split(separator: "&").first { $0.hasPrefix(name) }
      return field.flatMap { Int($0.dropFirst(name.utf8.count)) } ?? 100
    }
  }

  private let kind: Kind
  /// The answer so far.
  package private(set) var response: Response
  /// The rooms with subscribers at any loop, by the bytes of their names.
  private var rooms: Set<[UInt8]>

  /// Begins with the answer of the loop that was asked.
  package init(_ kind: Kind, _ response: Response, rooms: Set<[UInt8]> = []) {
    self.kind = kind
    self.response = response
    self.rooms = rooms
  }

  /// The answer if a loop has not done its part.
  package static var unfinished: Response {
    .problem(503, .unavailable, "this was done in part; send it again")
  }

  /// The answer that counts connections.
  static func response(connections count: Int) -> Response {
    let body = JSONWriter.object { $0.field("connections", count, &$1) }
    return .json(200, body)
  }

  /// Merges the answer of another loop into this one.
  package mutating func add(_ other: Response, rooms others: Set<[UInt8]> = []) {
    rooms.formUnion(others)
    guard response.status == 200, other.status == 200, let mine = JSONValue(response.body)?.fields,
      let theirs = JSONValue(other.body)?.fields
    else {
      response = Self.unfinished
      return
    }
    switch kind {
    case .numbers, .revocation:
      let count = (mine["connections"]?.integer ?? 0) + (theirs["connections"]?.integer ?? 0)
      response.body = Self.response(connections: count).body
    case .connections(let limit):
      let items = Self.items("connections", mine) + Self.items("connections", theirs)
      let sorted = items.sorted { Self.number($0) < Self.number($1) }
      response.body = Self.page(
        "connections", sorted, limit, total: Self.sum("total", mine, theirs), mine, theirs)
    case .rooms(let limit):
      let items = Self.rooms(Self.items("rooms", mine) + Self.items("rooms", theirs))
      response.body = Self.page("rooms", items, limit, total: rooms.count, mine, theirs)
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
        // Each loop already knows the people present at all loops.
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
    return JSONWriter.object { object, body in
      object.key(named: name, &body)
      JSONWriter.array(items.prefix(limit), &body) { $1 += $0.json }
      object.field("total", total, &body)
      object.field("more", hasMore || items.count > limit, &body)
    }
  }
}
