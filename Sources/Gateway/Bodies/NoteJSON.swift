import ParleyGatewayPorts
import ParleyJSON
import OTCore
import SocketMessages

/// Notes in the JSON of the HTTP API.
enum NoteJSON {
  /// `{"notes": [ … ], "mayCreate": true}`, each note with the caller's rights to it.
  ///
  /// - Parameters:
  ///   - deletedAgeMax: Milliseconds for which deleted notes are retained.
  ///   - next: The start of the next page; `nil` if missing.
  ///   - isCut: Whether there are further notes, which the response leaves out.
  static func list(
    _ notes: some Sequence<NoteSummary>, for identity: Identity, mayCreate: Bool,
    deletedAgeMax: Int64, next: String? = nil, isCut: Bool = false
  ) -> [UInt8] {
    JSONWriter.object { object, body in
      object.key("notes", &body)
      JSONWriter.array(notes, &body) {
        append($0, verbs: identity.verbs(on: $0), &$1)
      }
      object.field("deletedAgeMax", Int(deletedAgeMax), &body)
      object.field("mayCreate", mayCreate, &body)
      object.field("next", next, &body)
      if isCut { object.field("more", true, &body) }
    }
  }

  /// Encodes a note.
  static func note(_ note: NoteSummary) -> [UInt8] {
    JSONWriter.bytes { append(note, &$0) }
  }

  /// `{"notes": [ … ]}`, each note with its deletion and the time of its final removal.
  ///
  /// - Parameter rest: Milliseconds for which deleted notes are retained.
  static func deleted(
    _ notes: [DeletedNote], rest: Timestamp, next: String?
  ) -> [UInt8] {
    JSONWriter.object { object, body in
      object.key("notes", &body)
      JSONWriter.array(notes, &body) { deleted, body in
        JSONWriter.object(&body) { object, body in
          append(fieldsOf: deleted.note, to: &object, &body)
          object.field("deletedAt", Int(deleted.deletion.time), &body)
          object.field("deletedBy", deleted.deletion.author, &body)
          object.field("removedAt", Int(deleted.deletion.time + rest), &body)
        }
      }
      object.field("next", next, &body)
    }
  }

  /// Writes a note, with the caller's rights if `verbs` is not `nil`.
  private static func append(_ note: NoteSummary, verbs: Verbs? = nil, _ body: inout [UInt8]) {
    JSONWriter.object(&body) { object, body in
      append(fieldsOf: note, to: &object, &body)
      guard let verbs else { return }
      object.key("may", &body)
      words(of: verbs, &body)
    }
  }

  /// Writes the names of rights to a note, without `publish`, which applies to rooms alone.
  static func words(of verbs: Verbs, _ body: inout [UInt8]) {
    let granted = Verbs.words.filter {
      Verbs.ofRoomsAlone.isDisjoint(with: $0.verbs) && verbs.isSuperset(of: $0.verbs)
    }
    JSONWriter.array(granted, &body) { JSONWriter.string($0.word, &$1) }
  }

  private static func append(
    fieldsOf note: NoteSummary, to object: inout JSONWriter.Object, _ body: inout [UInt8]
  ) {
    object.field("id", note.id.text, &body)
    object.field("title", note.title, &body)
    object.field("revision", note.revision, &body)
    object.field("createdAt", Int(note.createdAt), &body)
    object.field("updatedAt", Int(note.updatedAt), &body)
    if !note.folder.isNone { object.field("folder", note.folder.text, &body) }
    if note.kind != .plain { object.field("kind", note.kind.rawValue, &body) }
  }

  /// Encodes a former text, with its attributes, if it has some, and the runs of its authors.
  static func text(_ text: HistoricText) -> [UInt8] {
    JSONWriter.object { object, body in
      object.field("revision", text.revision, &body)
      object.field("time", Int(text.time), &body)
      object.field("text", text.text, &body)
      if text.content.document.hasAttributes {
        object.key("format", &body)
        text.content.document.appendFormatJSON(to: &body)
      }
      object.key("authors", &body)
      JSONWriter.array(text.authors, &body) { run, body in
        JSONWriter.object(&body) { object, body in
          object.field("author", run.author, &body)
          object.field("count", run.count, &body)
        }
      }
    }
  }

  /// Encodes the groups of a log, and its newest revision.
  static func history(_ page: HistoryPage) -> [UInt8] {
    JSONWriter.object { object, body in
      object.field("head", page.head, &body)
      object.key("groups", &body)
      JSONWriter.array(page.groups, &body) { group, body in
        JSONWriter.object(&body) { object, body in
          object.field("firstRevision", group.firstRevision, &body)
          object.field("lastRevision", group.lastRevision, &body)
          object.field("author", group.author, &body)
          object.field("clientId", group.client, &body)
          object.field("firstTime", Int(group.firstTime), &body)
          object.field("lastTime", Int(group.lastTime), &body)
          object.field("inserted", group.inserted, &body)
          object.field("deleted", group.deleted, &body)
        }
      }
    }
  }

  /// Encodes the editing sessions of a log, newest first; `before` requests the next page, if any.
  static func sessions(_ page: EditingSessionPage) -> [UInt8] {
    JSONWriter.object { object, body in
      object.field("head", page.head, &body)
      object.field("oldest", page.oldest, &body)
      object.key("sessions", &body)
      let last = page.sessions.last?.firstRevision ?? 0
      JSONWriter.array(page.sessions, &body) { session, body in
        let isCut = page.isLastCut && session.firstRevision == last
        JSONWriter.object(&body) { append(fieldsOf: session, isCut: isCut, to: &$0, &$1) }
      }
      if page.hasMore { object.field("before", last, &body) }
    }
  }

  private static func append(
    fieldsOf session: EditingSession, isCut: Bool, to object: inout JSONWriter.Object,
    _ body: inout [UInt8]
  ) {
    object.field("firstRevision", session.firstRevision, &body)
    object.field("lastRevision", session.lastRevision, &body)
    object.field("firstTime", Int(session.firstTime), &body)
    object.field("lastTime", Int(session.lastTime), &body)
    object.key("authors", &body)
    JSONWriter.array(session.authors, &body) { author, body in
      JSONWriter.object(&body) { object, body in
        object.field("author", author.name, &body)
        object.field("lastRevision", author.lastRevision, &body)
        object.field("changes", author.changes, &body)
        object.field("inserted", author.inserted, &body)
        object.field("deleted", author.deleted, &body)
      }
    }
    if isCut { object.field("cut", true, &body) }
  }

  /// Encodes the parts of a difference: objects with `kept`, `deleted` or `inserted`.
  static func difference(_ difference: TextDifference) -> [UInt8] {
    JSONWriter.object { object, body in
      object.field("from", difference.from.revision, &body)
      object.field("fromTime", Int(difference.from.time), &body)
      object.field("to", difference.to.revision, &body)
      object.field("toTime", Int(difference.to.time), &body)
      object.key("parts", &body)
      JSONWriter.array(difference.parts, &body) { part, body in
        JSONWriter.object(&body) { object, body in
          switch part {
          case .kept(let count): object.field("kept", count, &body)
          case .deleted(let text): object.field("deleted", text, &body)
          case .inserted(let text, let author):
            object.field("inserted", text, &body)
            object.field("author", author, &body)
          }
        }
      }
    }
  }

  /// `{"versions": [ … ]}`
  static func versions(_ versions: [NamedVersion]) -> [UInt8] {
    JSONWriter.object { object, body in
      object.key("versions", &body)
      JSONWriter.array(versions, &body) { append($0, &$1) }
    }
  }

  /// Encodes a named version.
  static func version(_ version: NamedVersion) -> [UInt8] {
    JSONWriter.bytes { append(version, &$0) }
  }

  private static func append(_ version: NamedVersion, _ body: inout [UInt8]) {
    JSONWriter.object(&body) { object, body in
      object.field("revision", version.revision, &body)
      object.field("name", version.name, &body)
      object.field("author", version.author, &body)
      object.field("time", Int(version.time), &body)
    }
  }

  /// The optional fields of a body; each endpoint checks those that it requires.
  struct Fields {
    var title: String?
    var folder: String?
    var name: String?
    var author: String?
    var revision: Int?
    var operation: TextOperation?
    /// The formatting beside the operation.
    var format: JSONValue?
    /// The kind of a new note.
    var kind: String?
    /// The requested id of a new note; `nil` if the body contains none.
    var id: JSONValue?
    /// Whether the operation was discarded because it has too many components.
    var hasTooManyComponents = false
  }

  /// Returns the fields of a body; `nil` if it is not a JSON object, or a field has the wrong type.
  ///
  /// - Parameter operationComponentsMax: Maximum components of the operation. Reading stops at the
  ///   limit.
  static func fields(in body: [UInt8], operationComponentsMax: Int = 0) -> Fields? {
    var isTooLarge = false
    let found = JSONBody.fields(in: body, Fields()) { fields, key, reader throws(JSONError) in
      switch key {
      case "id": fields.id = try reader.value()
      case "title": fields.title = try reader.string()
      case "folder": fields.folder = try reader.string()
      case "kind": fields.kind = try reader.string()
      case "name": fields.name = try reader.string()
      case "author": fields.author = try reader.string()
      case "operation", "format":
        do throws(JSONError) {
          if key == "format" {
            fields.format = try reader.value()
          } else {
            fields.operation = try reader.operation(componentsMax: operationComponentsMax)
            fields.hasTooManyComponents = fields.operation == nil
          }
        } catch {
          // The field has so many values that the reader does not even skip the rest of it.
          if case .tooManyValues = error { isTooLarge = true }
          throw error
        }
      case "revision": fields.revision = try reader.integer()
      default: try reader.skipValue()
      }
    }
    guard isTooLarge else { return found }
    var fields = Fields()
    fields.hasTooManyComponents = true
    return fields
  }
}
