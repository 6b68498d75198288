import ParleyGatewayPorts
import ParleyJSON

extension NoteJSON {
  /// The parts of a list that the client does not have, as columns.
  ///
  /// `{"count": 256, "parts": [[17, "digest", 40], … ], "may": [["read", … ], … ],
  /// "rights": [0, … ], "revisions": [ … ], "createdAt": [ … ], "updatedAt": [ … ], "rich": [0, … ],
  /// "deletedAgeMax": 0, "mayCreate": true, "ids": [ … ], "folders": [ … ], "titles": [ … ]}`
  ///
  /// Columns take a third of the bytes of objects. Names come last because they are compressed
  /// separately. `rich` contains the indices of the rich notes, and is absent without one.
  ///
  /// - Returns: The body, a hash of the whole list's state, and how the body may be compressed.
  static func parts(
    _ parts: NoteParts, mayCreate: Bool, deletedAgeMax: Int64, isCut: Bool
  ) -> (body: [UInt8], state: UInt64, packing: Packing) {
    var repeatingCount = 0
    var meta: [UInt8] = []
    let body = JSONWriter.object { object, body in
      object.field("count", parts.count, &body)
      object.key("parts", &body)
      JSONWriter.array(parts.missing, &body) { part, body in
        JSONWriter.raw("[", &body)
        JSONWriter.integer(part.index, &body)
        JSONWriter.raw(",\"", &body)
        body += part.digest
        JSONWriter.raw("\",", &body)
        JSONWriter.integer(part.items.count, &body)
        JSONWriter.raw("]", &body)
      }
      let items = parts.missing.lazy.flatMap(\.items)
      append(rightsOf: items, to: &object, &body)
      object.key("revisions", &body)
      JSONWriter.array(items, &body) { JSONWriter.integer($0.note.revision, &$1) }
      object.key("createdAt", &body)
      JSONWriter.array(items, &body) { JSONWriter.integer(Int($0.note.createdAt), &$1) }
      object.key("updatedAt", &body)
      JSONWriter.array(items, &body) { JSONWriter.integer(Int($0.note.updatedAt), &$1) }
      let rich = items.enumerated().filter { $0.element.note.kind == .rich }
      if !rich.isEmpty {
        object.key("rich", &body)
        JSONWriter.array(rich, &body) { JSONWriter.integer($0.offset, &$1) }
      }
      let start = body.count
      object.field("deletedAgeMax", Int(deletedAgeMax), &body)
      object.field("mayCreate", mayCreate, &body)
      if isCut { object.field("more", true, &body) }
      meta = Array(body[start...])
      repeatingCount = body.count
      object.key("ids", &body)
      JSONWriter.array(items, &body) { JSONWriter.string($0.note.id.text, &$1) }
      object.key("folders", &body)
      JSONWriter.array(items, &body) { JSONWriter.string($0.note.folder.text, &$1) }
      object.key("titles", &body)
      JSONWriter.array(items, &body) { JSONWriter.string($0.note.title, &$1) }
    }
    let state = parts.state ^ StableHash.of(meta)
    return (body, state, Packing(repeatingCount: repeatingCount))
  }

  /// Writes the distinct sets of rights, and for each note the index of its set.
  private static func append(
    rightsOf items: some Sequence<NoteParts.Item>, to object: inout JSONWriter.Object,
    _ body: inout [UInt8]
  ) {
    var sets: [Verbs] = []
    var places: [Verbs: Int] = [:]
    for item in items where places[item.verbs] == nil {
      places[item.verbs] = sets.count
      sets.append(item.verbs)
    }
    object.key("may", &body)
    JSONWriter.array(sets, &body) { words(of: $0, &$1) }
    object.key("rights", &body)
    JSONWriter.array(items, &body) { JSONWriter.integer(places[$0.verbs] ?? 0, &$1) }
  }
}
