import ParleyGatewayPorts
import ParleyJSON

/// The JSON of files in the HTTP API.
enum FileJSON {
  /// An uploaded file, with the reference for the note's text.
  static func file(_ file: NoteFile, _ kind: FileKind) -> [UInt8] {
    JSONWriter.object { object, body in
      append(file, to: &object, &body)
      object.field("type", kind.type, &body)
      object.field("picture", kind.isDisplayable, &body)
    }
  }

  /// `{"files": [ … ], "bytesMax": 10485760}`.
  static func list(_ files: [NoteFile], bytesMax: Int) -> [UInt8] {
    JSONWriter.object { object, body in
      object.key("files", &body)
      JSONWriter.array(files, &body) { file, body in
        JSONWriter.object(&body) { object, body in append(file, to: &object, &body) }
      }
      object.field("bytesMax", bytesMax, &body)
    }
  }

  private static func append(
    _ file: NoteFile, to object: inout JSONWriter.Object, _ body: inout [UInt8]
  ) {
    object.field("hash", file.hash.description, &body)
    object.field("name", file.name, &body)
    object.field("bytes", file.byteCount, &body)
    object.field("time", Int(file.time), &body)
    object.field("path", file.path, &body)
  }
}

extension NoteFile {
  /// The path relative to the note, as the note's text contains it.
  var path: String { "files/\(hash)/\(PercentEncoding.encoded(name))" }
}

extension Response {
  /// A file for browsers: never run, its type never guessed, and shown only if a picture.
  static func file(_ file: NoteFile, _ bytes: [UInt8]) -> Response {
    let kind = FileKind(of: bytes)
    let form = kind.isDisplayable ? "inline" : "attachment"
    return Response(
      status: 200,
      headers: headers(of: file) + [
        ("content-type", kind.type),
        (
          "content-disposition",
          "\(form); filename*=UTF-8''\(PercentEncoding.encoded(file.name))"
        ),
      ], body: bytes)
  }

  /// The headers of a file, for 200 and 304.
  ///
  /// The path contains the content's hash, so a browser never has to revalidate. The right to read
  /// the file depends on the token.
  static func headers(of file: NoteFile) -> [(name: String, value: String)] {
    [
      ("etag", "\"\(file.hash)\""),
      ("cache-control", "private, max-age=31536000, immutable"),
      ("vary", "authorization"),
      ("content-security-policy", "default-src 'none'; sandbox"),
      ("cross-origin-resource-policy", "same-origin"),
      ("x-content-type-options", "nosniff"),
    ]
  }
}
