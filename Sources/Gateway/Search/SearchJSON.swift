import ParleyGatewayPorts
import ParleyJSON

/// Search results in the JSON of the HTTP API.
enum SearchJSON {
  /// `{"notes": [ … ], "more": true}`, each with a matching passage.
  ///
  /// - Parameter isCut: Whether further notes match, which the response leaves out.
  static func answer(_ hits: [SearchHit], isCut: Bool) -> [UInt8] {
    JSONWriter.object { object, body in
      object.key("notes", &body)
      JSONWriter.array(hits, &body) { append($0, &$1) }
      if isCut { object.field("more", true, &body) }
    }
  }

  /// `{"tags": [{"tag": "plan", "notes": 12}, … ], "more": true}`
  ///
  /// - Parameter isCut: Whether there may be further tags.
  static func tags(_ tags: [TagCount], isCut: Bool) -> [UInt8] {
    JSONWriter.object { object, body in
      object.key("tags", &body)
      JSONWriter.array(tags, &body) { found, body in
        JSONWriter.object(&body) { object, body in
          object.field("tag", found.tag, &body)
          object.field("notes", found.notes, &body)
        }
      }
      if isCut { object.field("more", true, &body) }
    }
  }

  private static func append(_ hit: SearchHit, _ body: inout [UInt8]) {
    JSONWriter.object(&body) { object, body in
      object.field("id", hit.note.id.text, &body)
      object.field("title", hit.note.title, &body)
      object.field("revision", hit.note.revision, &body)
      object.field("createdAt", Int(hit.note.createdAt), &body)
      object.field("updatedAt", Int(hit.note.updatedAt), &body)
      if !hit.note.folder.isNone { object.field("folder", hit.note.folder.text, &body) }
      object.key("titleMarks", &body)
      append(hit.titleMarks, &body)
      object.key("place", &body)
      JSONWriter.object(&body) { object, body in
        object.field("text", hit.place.text, &body)
        object.field("start", hit.place.start, &body)
        object.key("marks", &body)
        append(hit.place.marks, &body)
      }
    }
  }

  private static func append(_ marks: [Range<Int>], _ body: inout [UInt8]) {
    JSONWriter.array(marks, &body) { mark, body in
      JSONWriter.object(&body) { object, body in
        object.field("from", mark.lowerBound, &body)
        object.field("to", mark.upperBound, &body)
      }
    }
  }
}
