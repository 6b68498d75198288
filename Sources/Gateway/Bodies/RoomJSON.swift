import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Rooms in the JSON of the HTTP API.
enum RoomJSON {
  /// A publication in a request body.
  struct Item {
    var room: RoomName?
    var data: JSONValue?
    var key: String?
    var senderID: String?
    var pushes = false
  }

  /// The publication in a body; `nil` if the body is not a publication.
  static func publication(in body: [UInt8]) -> Item? {
    JSONBody.value(in: body) { reader throws(JSONError) in try item(&reader) }
  }

  /// Returns the list of publications in a body; `nil` if the body is not valid.
  ///
  /// - Parameter countMax: Maximum publications of a batch. Reading stops at the first publication
  ///   beyond it; the result then contains all that were read.
  static func publications(in body: [UInt8], countMax: Int) -> [Item]? {
    var items: [Item] = []
    // If the key occurs several times, all lists are read, and the last one is returned.
    var start = 0
    let isWhole: Void? = JSONBody.value(in: body) { reader throws(JSONError) in
      try reader.object { key, reader throws(JSONError) in
        switch key {
        case "publications":
          start = items.count
          try reader.array { reader throws(JSONError) in
            items.append(try item(&reader))
            guard items.count <= countMax else { throw .malformed(offset: reader.offset) }
          }
        default: try reader.skipValue()
        }
      }
    }
    if items.count > countMax { return items }
    return isWhole.map { Array(items[start...]) }
  }

  private static func item(_ reader: inout JSONReader) throws(JSONError) -> Item {
    var item = Item()
    try reader.object { key, reader throws(JSONError) in
      switch key {
      case "room": item.room = RoomName(try reader.string())
      case "data": item.data = try reader.value()
      case "key": item.key = try reader.isNull() ? nil : try reader.string()
      case "senderId": item.senderID = try reader.isNull() ? nil : try reader.string()
      case "push": item.pushes = try reader.isNull() ? false : try reader.boolean()
      default: try reader.skipValue()
      }
    }
    return item
  }

  // MARK: Writing

  /// Encodes the outcome of one publication.
  static func result(_ result: PublishResult, of room: RoomName) -> [UInt8] {
    JSONWriter.object { object, body in
      object.field("room", room, &body)
      switch result {
      case .published(let position, let isRepeated):
        object.fields(position, &body)
        object.field("repeated", isRepeated, &body)
      case .refused(let code, let message):
        object.field("code", code.rawValue, &body)
        object.field("message", message, &body)
      }
    }
  }

  /// `{"results": [ … ]}`
  static func results(_ results: [[UInt8]]) -> [UInt8] {
    JSONWriter.object { object, body in
      object.key("results", &body)
      JSONWriter.array(results, &body) { $1.append(contentsOf: $0) }
    }
  }

  /// Encodes a page of a room's history.
  static func page(_ page: RoomPage, of room: RoomName) -> [UInt8] {
    JSONWriter.object { object, body in
      object.field("room", room, &body)
      object.fields(page.head, &body)
      object.field(page.publications, &body)
      object.field("gap", page.hasGap, &body)
      object.field("more", page.hasMore, &body)
    }
  }

  /// Encodes the people in a room.
  static func present(_ people: [PersonProfile], in room: RoomName) -> [UInt8] {
    JSONWriter.object { object, body in
      object.field("room", room, &body)
      object.field("present", people, &body)
    }
  }
}
