import Gateway
package import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Merges the responses of several loops to one operator request.
package struct MergedResponse {
  /// The way in which responses are merged.
  package enum Kind: Sendable {
    /// Lists of connections, merged in order.
    case connections(limit: Int)
    /// Lists of rooms, merged so that each room occurs once.
    case rooms(limit: Int)
    /// Numbers of connections, which are added up.
    case numbers
    /// Numbers of connections closed by a revocation, which are added up.
    case revocation

    /// Selects the way for a request; `nil` if one loop answers it alone.
    package init?(_ head: RequestHead) {
      // A user id may contain a slash.
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

    /// Returns the requested number of items; the default is 100.
    private static func limit(_ head: RequestHead) -> Int {
      let name = "limit="
      let field = head.query.split(separator: "&").first { $0.hasPrefix(name) }
      return field.flatMap { Int($0.dropFirst(name.utf8.count)) } ?? 100
    }
  }

  private let kind: Kind
  /// The merged response so far.
  package private(set) var response: Response
  /// The rooms with subscribers on any loop, as the bytes of their names.
  private var rooms: Set<[UInt8]>

  /// Begins with the response of the loop that received the request.
  package init(_ kind: Kind, _ response: Response, rooms: Set<[UInt8]> = []) {
    self.kind = kind
    self.response = response
    self.rooms = rooms
  }

  /// The response if a loop has failed to answer.
  package static var unfinished: Response {
    .problem(503, .unavailable, "not every part of the server has answered; send the request again")
  }

  /// Returns a response with a number of connections.
  static func response(connections count: Int) -> Response {
    let body = JSONWriter.object { $0.field("connections", count, &$1) }
    return .json(200, body)
  }

  /// Merges the response of another loop into this one.
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

  /// Returns the rooms sorted by name, each room once.
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
        // Each loop's number includes the people who are present on other loops.
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
      $0["more"]?.boolean ?? false
    }
    return JSONWriter.object { object, body in
      object.key(named: name, &body)
      JSONWriter.array(items.prefix(limit), &body) { $1 += $0.json }
      object.field("total", total, &body)
      object.field("more", hasMore || items.count > limit, &body)
    }
  }
}
