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
    var values: [ValueOperation]?
    var offsets: ValueOffsets?
    var position: RoomPosition?

    /// Whether there is something to publish.
    var hasContent: Bool { data != nil || !(values ?? []).isEmpty }
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
      case "key": item.key = try reader.skipNull() ? nil : try reader.string()
      case "senderId": item.senderID = try reader.skipNull() ? nil : try reader.string()
      case "push": item.pushes = try reader.skipNull() ? false : try reader.boolean()
      case "values":
        guard try !reader.skipNull() else { break }
        item.values = try ValueOperation.list(&reader, countMax: ValueLimits.operationsMax)
      case "ifOffsets":
        guard try !reader.skipNull() else { break }
        let start = reader.offset
        guard let offsets = try ValueOffsets(&reader) else {
          throw .wrongType(expected: "an offset for each name", offset: start)
        }
        item.offsets = offsets
      case "ifPosition":
        item.position = try reader.skipNull() ? nil : try position(&reader)
      default: try reader.skipValue()
      }
    }
    return item
  }

  private static func position(_ reader: inout JSONReader) throws(JSONError) -> RoomPosition {
    var epoch: Epoch?
    var offset: Int?
    let start = reader.offset
    try reader.object { key, reader throws(JSONError) in
      switch key {
      case "epoch": epoch = Epoch(try reader.string())
      case "offset": offset = try reader.integer()
      default: try reader.skipValue()
      }
    }
    guard let epoch, let offset else {
      throw .wrongType(expected: "epoch and offset", offset: start)
    }
    return RoomPosition(epoch: epoch, offset: offset)
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
      case .unmet(let condition): condition.write(&object, &body)
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

extension PublishRequest {
  /// Creates the request of a body's publication.
  init(_ item: RoomJSON.Item, in room: RoomName, by identity: Identity) {
    self.init(
      room: room, data: item.data, key: item.key, senderID: item.senderID, person: identity.person,
      pushes: item.pushes)
    ifPosition = item.position
    if item.values != nil || item.offsets != nil {
      change = ValueChange(item.values ?? [], ifOffsets: item.offsets?.all ?? [:])
    }
  }
}

extension UnmetCondition {
  /// Encodes the condition that does not hold: with the head, or with the current values.
  func write(_ object: inout JSONWriter.Object, _ body: inout [UInt8]) {
    object.field("code", code.rawValue, &body)
    object.field("message", message, &body)
    switch self {
    case .position(let head):
      object.key("position", &body)
      JSONWriter.object(&body) { $0.fields(head, &$1) }
    case .values(let values, _):
      object.key("values", &body)
      values.write(&body)
    }
  }
}

extension Response {
  /// The error for a condition of a publication that does not hold.
  static func unmet(_ condition: UnmetCondition) -> Response {
    .json(condition.code.status, JSONWriter.object { condition.write(&$0, &$1) })
  }
}
