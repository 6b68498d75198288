import ParleyGatewayPorts
import SocketMessages

/// Responses that contain a note or its whole text.
enum NoteText {
  /// A text with its revision as entity tag, for `If-Match`.
  static func response(_ text: HistoricText, as format: NotesRequest.Format) -> Response {
    let response: Response
    switch format {
    case .json: response = .json(200, NoteJSON.text(text))
    case .plain, .markdown:
      let type = if case .markdown = format { "text/markdown" } else { "text/plain" }
      response = Response(
        status: 200,
        headers: [("content-type", type + "; charset=utf-8"), ("cache-control", "no-store")],
        body: text.content.utf8)
    }
    return response.of(revision: text.revision).with("vary", "accept")
  }

  /// Returns a note with an entity tag: its revision and a hash of the body, which changes with the
  /// title too. `If-Match` compares only the revision.
  static func response(_ note: NoteSummary) -> Response {
    let body = NoteJSON.note(note)
    var hash: UInt32 = 0x811c_9dc5
    for byte in body { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
    return .json(200, body).with("etag", "\"\(note.revision).\(String(hash, radix: 36))\"")
  }
}

extension NotesRequest.Format {
  /// The format that a request asks for: `?format=`, else the first known type in `Accept`.
  init?(of call: Call) throws(Response) {
    if let name = try call.query.text("format") {
      switch name {
      case "json": self = .json
      case "text": self = .plain
      case "markdown": self = .markdown
      default: return nil
      }
      return
    }
    self = .json
    for type in (call.head.headers["accept"] ?? "").split(separator: ",") {
      switch type.split(separator: ";").first?.filter({ $0 != " " }) {
      case "application/json": self = .json
      case "text/plain": self = .plain
      case "text/markdown": self = .markdown
      default: continue
      }
      return
    }
  }
}

extension NotesRequest.Edit {
  /// Returns the edit as a change of its base text, without the common prefix and suffix.
  func onto(_ base: HistoricText, for request: RequestID) -> ServerEdit {
    ServerEdit(
      request: request, grant: .request(right), content: .text(text, base: base), author: author,
      expected: expected,
      skipsIdentity: true)
  }
}

extension NotesAPI {
  /// Replaces the whole text, with line ends normalized to `\n`. With `base`, later changes by
  /// other users are retained: the text is merged with them like an edit made at that revision.
  /// With `If-Match`, the request fails if the note has changed.
  func replaceText(_ call: Call) throws(Response) {
    let request = call.request
    guard let text = String(validating: WholeText.normalized(call.body), as: UTF8.self) else {
      throw .problem(400, .badMessage, "expected the text in UTF-8 as the body")
    }
    let expected = try expectedRevision(call)
    let author = try access.author(call.query.text("author"), call.identity)
    switch call.query.number("base") {
    case .broken: throw .problem(400, .badMessage, "expected base as a revision's number")
    case .absent:
      documents.edit(
        call.note,
        ServerEdit(
          request: request, grant: .request(try call.right), content: .text(text),
          author: author, expected: expected, skipsIdentity: true))
    case .value(let base):
      try store(
        .text(id: call.note, at: .revision(base)), for: call,
        .base(
          call.note,
          NotesRequest.Edit(
            text: text, base: base, author: author, expected: expected, right: call.right)))
    }
  }

  /// Changes the text by an operation on one of its revisions. Inserted text takes the attributes
  /// of the text around it, unless the operation has a format, which states them.
  func changeText(_ call: Call) throws(Response) {
    let componentsMax = settings.limits.operationComponentsMax
    let fields = NoteJSON.fields(in: call.body, operationComponentsMax: componentsMax)
    if let fields, fields.hasTooManyComponents {
      let refusal = LiveDocument.Refusal.tooManyComponents(componentsMax: componentsMax)
      let (code, message) = refusal.words(sequence: 1)
      throw .problem(413, code, message)
    }
    guard let fields, let operation = fields.operation, let revision = fields.revision else {
      throw .problem(
        400, .badOperation, "expected a JSON object with \"revision\" and \"operation\"")
    }
    let format = try fields.changeFormat(of: operation)
    let expected = try expectedRevision(call)
    let author = try access.author(fields.author, call.identity)
    documents.edit(
      call.note,
      ServerEdit(
        request: call.request, grant: .request(try call.right),
        content: .change(
          .init(
            operation: operation, format: format, knowsFormats: fields.format != nil,
            revision: revision)),
        author: author, expected: expected))
  }

  /// Returns the revision that `If-Match` requires; `nil` for any.
  private func expectedRevision(_ call: Call) throws(Response) -> Int? {
    switch RevisionCondition(call.head.headers["if-match"]) {
    case .any: return nil
    case .revision(let revision): return revision
    case .broken:
      throw .problem(400, .badMessage, "expected If-Match as a revision in quotes, such as \"41\"")
    }
  }
}
