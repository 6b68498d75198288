import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// The JSON of links in the HTTP API.
enum LinkJSON {
  /// A new link, with its key and token.
  static func made(_ link: NoteLink, key: String, token: String, isProtected: Bool) -> [UInt8] {
    JSONWriter.object { object, body in
      object.field("id", link.id, &body)
      object.field("path", path(key), &body)
      object.field("token", token, &body)
      object.field("access", link.access.word, &body)
      object.field("expiresAt", Int(link.expiresAt), &body)
      object.field("isProtected", isProtected, &body)
    }
  }

  /// `{"links": [ … ]}`.
  static func list(_ links: [(link: NoteLink, key: String?)]) -> [UInt8] {
    JSONWriter.object { object, body in
      object.key("links", &body)
      JSONWriter.array(links, &body) { entry, body in
        JSONWriter.object(&body) { object, body in
          object.field("id", entry.link.id, &body)
          object.field("path", entry.key.map(path), &body)
          object.field("access", entry.link.access.word, &body)
          object.field("maker", entry.link.maker, &body)
          object.field("createdAt", Int(entry.link.createdAt), &body)
          object.field("expiresAt", Int(entry.link.expiresAt), &body)
        }
      }
    }
  }

  /// The response to a key: its note, a token for the note, the granted right, and the expiry.
  static func opened(_ opened: Links.Opened) -> [UInt8] {
    JSONWriter.object { object, body in
      object.field("note", opened.link.note.text, &body)
      object.field("token", opened.token, &body)
      object.field("access", opened.link.access.word, &body)
      object.field("expiresAt", Int(opened.link.expiresAt), &body)
    }
  }

  /// A note's name; an empty object if it has none.
  static func name(_ published: PublicName?, _ isDemo: Bool) -> [UInt8] {
    JSONWriter.object { object, body in
      guard let published else { return }
      object.field("name", published.name.text, &body)
      object.field("path", path(published.name), &body)
      object.field("maker", published.maker, &body)
      object.field("createdAt", Int(published.createdAt), &body)
      object.field("isProtected", !isDemo, &body)
    }
  }

  /// The error for a name that was recently withdrawn.
  static func resting(until time: Timestamp) -> [UInt8] {
    JSONWriter.object { object, body in
      object.field("code", ErrorCode.idTaken.rawValue, &body)
      object.field("message", "another note had this name until lately; choose another one", &body)
      object.field("until", Int(time), &body)
    }
  }

  /// The response to a name: its note, a token for the note, the granted right, and the expiry.
  static func opened(_ opened: Links.OpenedName) -> [UInt8] {
    JSONWriter.object { object, body in
      object.field("name", opened.published.name.text, &body)
      object.field("note", opened.published.note.text, &body)
      object.field("token", opened.token, &body)
      object.field("access", NoteLink.Access.read.word, &body)
      object.field("expiresAt", opened.reader.expiresAt.map(Int.init), &body)
    }
  }

  private static func path(_ name: ReadableName) -> String {
    "/p/\(PercentEncoding.encoded(name.text))"
  }

  private static func path(_ key: String) -> String { "/s/\(key)" }
}
