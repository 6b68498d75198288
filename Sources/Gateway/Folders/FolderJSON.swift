import ParleyGatewayPorts
import ParleyJSON

/// The JSON of folders in the HTTP API.
enum FolderJSON {
  /// The fields of a request's body.
  struct Fields {
    var from: String?
    var to: String?
  }

  /// Decodes the fields of a body; `nil` if it is not a JSON object, or a field has the wrong type.
  static func fields(in body: [UInt8]) -> Fields? {
    JSONBody.fields(in: body, Fields()) { fields, key, reader throws(JSONError) in
      switch key {
      case "from": fields.from = try reader.string()
      case "to": fields.to = try reader.string()
      default: try reader.skipValue()
      }
    }
  }

  /// `{"folders": [ … ], "granted": [ … ]}`: the folders with notes, each with the reader's rights
  /// to all of these, and the folders to which the reader has rights, with or without notes.
  static func list(
    _ folders: [FolderCount], for identity: Identity, next: FolderPath?
  ) -> [UInt8] {
    JSONWriter.object { object, body in
      object.key("folders", &body)
      JSONWriter.array(folders, &body) { found, body in
        JSONWriter.object(&body) { object, body in
          object.field("folder", found.folder.text, &body)
          object.field("notes", found.notes, &body)
          append(identity.verbs(onAllIn: found.folder), to: &object, &body)
        }
      }
      object.key("granted", &body)
      let granted = identity.grants.filter { $0.kind == .folders }
      JSONWriter.array(granted, &body) { grant, body in
        JSONWriter.object(&body) { object, body in
          object.field("match", grant.pattern.text, &body)
          append(grant.verbs, to: &object, &body)
        }
      }
      object.field("next", next?.text, &body)
    }
  }

  /// `{"moved": …, "more": …, "next": {"from": …, "to": …}}`: the number of moved notes, whether
  /// the same request moves more, and the request that moves the rest afterwards, if any.
  static func moved(_ count: Int, hasMore: Bool, next: FolderMove?) -> [UInt8] {
    JSONWriter.object { object, body in
      object.field("moved", count, &body)
      object.field("more", hasMore, &body)
      guard let next else { return }
      object.key("next", &body)
      JSONWriter.object(&body) { object, body in
        object.field("from", next.old.text, &body)
        object.field("to", next.new.text, &body)
      }
    }
  }

  private static func append(
    _ verbs: Verbs, to object: inout JSONWriter.Object, _ body: inout [UInt8]
  ) {
    object.key("may", &body)
    // Notes cannot be published to.
    let granted = Verbs.words.filter {
      Verbs.ofRoomsAlone.isDisjoint(with: $0.verbs) && verbs.isSuperset(of: $0.verbs)
    }
    JSONWriter.array(granted, &body) { JSONWriter.string($0.word, &$1) }
  }
}
