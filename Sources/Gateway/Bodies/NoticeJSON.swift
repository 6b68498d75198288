import ParleyGatewayPorts
import ParleyJSON

/// Notices in the JSON of the HTTP API.
enum NoticeJSON {
  // MARK: Reading

  /// The optional fields of a body.
  struct Fields {
    var id: Int?
    var note: String?
    var through: Int?

    /// The notices that the fields choose; `nil` if they choose none, or in two ways.
    var choice: NoticeChoice? {
      guard id ?? 0 >= 0, through ?? 0 >= 0 else { return nil }
      return switch (id, note, through) {
      case (let id?, nil, nil): .one(id)
      case (nil, let note?, let through): .ofNote(DocumentID(note), through: through ?? .max)
      case (nil, nil, let through?): .all(through: through)
      default: nil
      }
    }
  }

  /// Returns the fields of a body; `nil` if it is not a JSON object, or a field has the wrong type.
  static func fields(in body: [UInt8]) -> Fields? {
    JSONBody.fields(in: body, Fields()) { fields, key, reader throws(JSONError) in
      switch key {
      case "id": fields.id = try reader.integer()
      case "note": fields.note = try reader.string()
      case "through": fields.through = try reader.integer()
      default: try reader.skipValue()
      }
    }
  }

  // MARK: Writing

  /// `{"notices": [ … ], "next": …}`, without `next` at the end.
  static func list(_ notices: [ListedNotice], next: Int?) -> [UInt8] {
    JSONWriter.object { object, body in
      object.key("notices", &body)
      JSONWriter.array(notices, &body) { append($0, &$1) }
      object.field("next", next, &body)
    }
  }

  private static func append(_ listed: ListedNotice, _ body: inout [UInt8]) {
    let notice = listed.notice
    JSONWriter.object(&body) { object, body in
      object.field("id", notice.number, &body)
      object.field("kind", notice.kind.word, &body)
      object.field("note", notice.note.text, &body)
      object.field("title", listed.title, &body)
      object.field("comment", notice.comment, &body)
      object.field("thread", notice.thread, &body)
      object.field("author", notice.author, &body)
      object.field("createdAt", Int(notice.time), &body)
      object.field("read", notice.isRead, &body)
    }
  }

  /// `{"unread": 3, "notes": [{"id": …, "unread": 2}, … ]}`.
  static func unread(_ notes: [UnreadNotices]) -> [UInt8] {
    JSONWriter.object { object, body in
      object.field("unread", notes.reduce(0) { $0 + $1.count }, &body)
      object.key("notes", &body)
      JSONWriter.array(notes, &body) { note, body in
        JSONWriter.object(&body) { object, body in
          object.field("id", note.note.text, &body)
          object.field("unread", note.count, &body)
        }
      }
    }
  }

  /// `{"marked": 2}`.
  static func marked(_ count: Int) -> [UInt8] {
    JSONWriter.object { $0.field("marked", count, &$1) }
  }
}
