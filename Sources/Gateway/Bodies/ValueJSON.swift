import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Values of rooms in the JSON of the HTTP API.
enum ValueJSON {
  /// Encodes a page of values.
  static func page(_ page: RoomValuesPage) -> [UInt8] {
    JSONWriter.object { object, body in
      write(page.head, &object, &body)
      object.key("values", &body)
      NamedValues(page).write(&body)
      object.field("more", page.hasMore, &body)
    }
  }

  /// Encodes one value.
  static func one(_ item: NamedValue, at head: RoomPosition) -> [UInt8] {
    JSONWriter.object { object, body in
      write(head, &object, &body)
      object.field("value", item.value.value, &body)
      object.field("offset", item.value.offset, &body)
    }
  }

  private static func write(
    _ head: RoomPosition, _ object: inout JSONWriter.Object, _ body: inout [UInt8]
  ) {
    object.key("position", &body)
    JSONWriter.object(&body) { $0.fields(head, &$1) }
  }

  /// The signal in a body; `nil` if the body has no signal.
  static func signal(in body: [UInt8]) -> (name: String, data: JSONValue)? {
    let fields = JSONBody.value(in: body) { reader throws(JSONError) in
      var fields: (name: String?, data: JSONValue?)
      try reader.object { key, reader throws(JSONError) in
        switch key {
        case "name": fields.name = try reader.string()
        case "data": fields.data = try reader.value()
        default: try reader.skipValue()
        }
      }
      return fields
    }
    guard let fields, let name = fields.name, let data = fields.data else { return nil }
    return (name, data)
  }
}
