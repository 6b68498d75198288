import ParleyGatewayPorts
import ParleyJSON

/// Comments in the JSON of the HTTP API and webhooks.
enum CommentJSON {
  // MARK: Reading

  /// The optional fields of a body; each endpoint checks those that it requires.
  struct Fields {
    var text: String?
    var author: String?
    var thread: String?
    var anchor: Anchor?
    var isResolved: Bool?
    /// The people whom the comment mentions; of more than ``mentionsMax``, the first ones.
    var mentions: [String]?
  }

  /// Maximum mentions that are read. More of them are too many under any setting.
  static let mentionsMax = 1_000

  /// A range in a request body.
  struct Anchor {
    var epoch: Epoch?
    var revision: Int?
    var from: Int?
    var to: Int?
  }

  /// Returns the fields of a body; `nil` if it is not a JSON object, or a field has the wrong type.
  static func fields(in body: [UInt8]) -> Fields? {
    JSONBody.fields(in: body, Fields()) { fields, key, reader throws(JSONError) in
      switch key {
      case "text": fields.text = try reader.string()
      case "author": fields.author = try reader.string()
      case "thread": fields.thread = try reader.string()
      case "resolved": fields.isResolved = try reader.boolean()
      case "anchor": fields.anchor = try anchor(&reader)
      case "mentions": fields.mentions = try mentions(&reader)
      default: try reader.skipValue()
      }
    }
  }

  private static func mentions(_ reader: inout JSONReader) throws(JSONError) -> [String] {
    var mentions: [String] = []
    try reader.array { reader throws(JSONError) in
      guard mentions.count < mentionsMax else {
        try reader.skipValue()
        return
      }
      mentions.append(try reader.string())
    }
    return mentions
  }

  private static func anchor(_ reader: inout JSONReader) throws(JSONError) -> Anchor {
    var anchor = Anchor()
    try reader.object { key, reader throws(JSONError) in
      switch key {
      case "epoch": anchor.epoch = Epoch(try reader.string())
      case "revision": anchor.revision = try reader.integer()
      case "from": anchor.from = try reader.integer()
      case "to": anchor.to = try reader.integer()
      default: try reader.skipValue()
      }
    }
    return anchor
  }

  // MARK: Writing

  /// `{"epoch": …, "revision": …, "mayComment": true, "limits": { … }, "comments": [ … ]}`.
  ///
  /// - Parameter person: The reader, whose own comments have `"mine": true`.
  static func list(
    _ list: CommentList, for person: PersonID?, mayComment: Bool, _ limits: CommentSettings
  ) -> [UInt8] {
    JSONWriter.object { object, body in
      object.field("epoch", list.epoch.text, &body)
      object.field("revision", list.revision, &body)
      object.field("mayComment", mayComment, &body)
      object.key("limits", &body)
      JSONWriter.object(&body) { object, body in
        object.field("textBytesMax", limits.textBytesMax, &body)
        object.field("commentsMax", limits.countMax, &body)
        object.field("mentionsMax", limits.mentionsMax, &body)
        object.field("perMinuteMax", limits.perMinuteMax, &body)
      }
      object.key("comments", &body)
      JSONWriter.array(list.comments, &body) { append($0, isOwn: $0.isOf(person), &$1) }
    }
  }

  /// Encodes a comment for a reader.
  static func comment(_ comment: Comment, for person: PersonID?) -> [UInt8] {
    JSONWriter.bytes { append(comment, isOwn: comment.isOf(person), &$0) }
  }

  /// Writes a comment, without `mine` if `isOwn` is `nil`.
  static func append(_ comment: Comment, isOwn: Bool? = nil, _ body: inout [UInt8]) {
    JSONWriter.object(&body) { object, body in
      object.field("id", comment.id, &body)
      object.field("thread", comment.thread, &body)
      object.field("author", comment.author, &body)
      if let isOwn { object.field("mine", isOwn, &body) }
      object.field("text", comment.text, &body)
      object.field("createdAt", Int(comment.createdAt), &body)
      if let time = comment.editedAt { object.field("editedAt", Int(time), &body) }
      if comment.isWithdrawn { object.field("withdrawn", true, &body) }
      if let resolution = comment.resolution {
        object.key("resolved", &body)
        JSONWriter.object(&body) { object, body in
          object.field("by", resolution.author, &body)
          object.field("at", Int(resolution.time), &body)
        }
      }
      guard let origin = comment.origin, let anchor = comment.anchor else { return }
      object.key("made", &body)
      JSONWriter.object(&body) { object, body in
        object.field("epoch", origin.epoch.text, &body)
        append(origin.anchor, to: &object, &body)
        object.field("quote", origin.quote, &body)
      }
      object.key("place", &body)
      guard !anchor.isDeleted else { return JSONWriter.raw("null", &body) }
      JSONWriter.object(&body) { append(anchor, to: &$0, &$1) }
    }
  }

  private static func append(
    _ anchor: CommentAnchor, to object: inout JSONWriter.Object, _ body: inout [UInt8]
  ) {
    object.field("revision", anchor.revision, &body)
    object.field("from", anchor.start, &body)
    object.field("to", anchor.end, &body)
  }
}
