import GatewayPorts
import SocketMessages

/// Notes as the HTTP surface writes and reads them.
enum NoteJSON {
  /// `{"notes": [ … ]}`
  static func list(_ notes: [NoteSummary]) -> [UInt8] {
    var body: [UInt8] = []
    JSONWriter.object(&body) { object, body in
      object.key("notes", &body)
      JSONWriter.array(notes, &body) { append($0, &$1) }
    }
    return body
  }

  /// One note.
  static func note(_ note: NoteSummary) -> [UInt8] {
    var body: [UInt8] = []
    append(note, &body)
    return body
  }

  private static func append(_ note: NoteSummary, _ body: inout [UInt8]) {
    JSONWriter.object(&body) { object, body in
      object.field("id", note.id, &body)
      object.field("title", note.title, &body)
      object.field("revision", note.revision, &body)
      object.field("createdAt", Int(note.createdAt), &body)
      object.field("updatedAt", Int(note.updatedAt), &body)
    }
  }

  /// The title in `{"title": "…"}`; `nil` if the body is something else.
  static func title(in body: [UInt8]) -> String? {
    body.withUnsafeBufferPointer { bytes in
      var reader = JSONReader(bytes)
      var title: String?
      do throws(JSONError) {
        try reader.object { key, reader throws(JSONError) in
          if key == "title" { title = try reader.string() } else { try reader.skipValue() }
        }
        try reader.finish()
      } catch {
        return nil
      }
      return title
    }
  }
}
