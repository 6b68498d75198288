import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Connections and rooms in the JSON for operators.
enum ConnectionJSON {
  /// A connection, and its current load.
  struct Item {
    let connection: Connection
    let queuedBytes: Int
    let isLagging: Bool
  }

  /// A room to which the client is subscribed.
  struct RoomItem {
    let room: RoomName
    let subscribers: Int
    let present: Int
  }

  /// `{"connections": [ … ], "total": 57, "more": true}`
  static func list(_ items: [Item], total: Int, hasMore: Bool) -> [UInt8] {
    page("connections", items, total: total, hasMore: hasMore) { item, object, body in
      let connection = item.connection
      let user = connection.identity?.user
      object.field("id", "\(connection.id.rawValue)", &body)
      object.field("dialect", connection.dialect.traits.listing.rawValue, &body)
      object.field("user", user?.isEmpty ?? true ? nil : user, &body)
      object.field("isGuest", connection.identity?.isGuest ?? false, &body)
      object.field("name", connection.name.isEmpty ? nil : connection.name, &body)
      object.field("clientId", connection.client.isEmpty ? nil : connection.client, &body)
      object.field("address", connection.address, &body)
      object.field("since", Int(connection.openedAt), &body)
      object.field("documents", connection.subscriptions.count, &body)
      object.field("rooms", connection.rooms.count, &body)
      object.field("queuedBytes", item.queuedBytes, &body)
      object.field("isLagging", item.isLagging, &body)
    }
  }

  /// `{"rooms": [ … ], "total": 2, "more": false}`
  static func list(_ items: [RoomItem], total: Int, hasMore: Bool) -> [UInt8] {
    page("rooms", items, total: total, hasMore: hasMore) { item, object, body in
      object.field("room", item.room, &body)
      object.field("subscribers", item.subscribers, &body)
      object.field("present", item.present, &body)
    }
  }

  private static func page<Item>(
    _ name: StaticString, _ items: [Item], total: Int, hasMore: Bool,
    _ write: (Item, inout JSONWriter.Object, inout [UInt8]) -> Void
  ) -> [UInt8] {
    JSONWriter.object { object, body in
      object.key(name, &body)
      JSONWriter.array(items, &body) { item, body in
        JSONWriter.object(&body) { write(item, &$0, &$1) }
      }
      object.field("total", total, &body)
      object.field("more", hasMore, &body)
    }
  }
}
