package import ParleyGatewayPorts

/// The JSON form of comments: one object per line, both in a store and in an export.
package enum CommentCoding {
  /// Encodes a comment as a JSON object followed by a newline.
  package static func line(_ comment: Comment) -> [UInt8] {
    var line = JSONLine()
    line.add("comment", comment.id)
    if let thread = comment.thread { line.add("thread", thread) }
    line.add("author", comment.author)
    if let person = comment.person { line.add("person", person) }
    line.add("text", comment.text)
    line.add("time", Int(comment.createdAt))
    if let time = comment.editedAt { line.add("editedAt", Int(time)) }
    if let resolution = comment.resolution {
      line.add("resolvedBy", resolution.author)
      line.add("resolvedAt", Int(resolution.time))
    }
    if comment.isWithdrawn { line.add("withdrawn", 1) }
    if let origin = comment.origin {
      line.add("epoch", origin.epoch)
      line.add("madeRevision", origin.anchor.revision)
      line.add("madeFrom", origin.anchor.start)
      line.add("madeTo", origin.anchor.end)
      line.add("quote", origin.quote)
    }
    if let anchor = comment.anchor {
      line.add("revision", anchor.revision)
      line.add("from", anchor.start)
      line.add("to", anchor.end)
    }
    line.end()
    return line.bytes
  }

  /// Decodes a comment from the output of ``line(_:)``; `nil` for anything else.
  package static func comment(_ bytes: [UInt8]) -> Comment? {
    JSONFields(bytes[...]).flatMap(comment)
  }

  /// Decodes a comment from the fields of a line; `nil` if they do not describe a comment.
  package static func comment(_ fields: JSONFields) -> Comment? {
    guard let id = fields.string("comment"), !id.isEmpty, let author = fields.string("author"),
      let text = fields.string("text"), let time = fields.integer("time")
    else { return nil }
    var comment = Comment(
      id: id, thread: fields.string("thread"), author: author,
      person: fields.string("person").map { PersonID($0) },
      text: text, createdAt: Timestamp(time))
    comment.editedAt = fields.integer("editedAt").map { Timestamp($0) }
    if let author = fields.string("resolvedBy"), let time = fields.integer("resolvedAt") {
      comment.resolution = Comment.Resolution(author: author, time: Timestamp(time))
    }
    comment.isWithdrawn = fields.has("withdrawn")
    guard comment.thread == nil else { return comment }
    guard let epoch = fields.string("epoch"), let quote = fields.string("quote"),
      let made = anchor(fields, "madeRevision", "madeFrom", "madeTo"),
      let anchor = anchor(fields, "revision", "from", "to")
    else { return nil }
    comment.origin = Comment.Origin(epoch: Epoch(epoch), anchor: made, quote: quote)
    comment.anchor = anchor
    return comment
  }

  private static func anchor(
    _ fields: JSONFields, _ revision: String, _ start: String, _ end: String
  ) -> CommentAnchor? {
    guard let revision = fields.integer(revision), let start = fields.integer(start),
      let end = fields.integer(end), revision >= 0, 0 <= start, start <= end
    else { return nil }
    return CommentAnchor(revision: revision, start: start, end: end)
  }
}

extension RecordHasher {
  /// Returns the checksum of a stored comment.
  package mutating func checksum(ofComment bytes: [UInt8], document: DocumentID) -> RecordChecksum {
    begin(.comment)
    add(document)
    add(bytes)
    return checksum()
  }
}
