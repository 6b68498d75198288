import ParleyGatewayPorts
import ParleyRichForms
import OTCore
import SocketMessages

/// Responses that contain a note or its whole text.
enum NoteText {
  /// A text with its revision as entity tag, for `If-Match`.
  static func response(_ text: HistoricText, as format: NotesRequest.Format) -> Response {
    let response: Response
    do throws(FormError) {
      switch format {
      case .json: response = .json(200, NoteJSON.text(text))
      case .plain: response = whole("text/plain; charset=utf-8", text.content.utf8)
      case .markdown: response = whole("text/markdown; charset=utf-8", try text.content.markdown())
      case .html:
        // Nothing in it runs, and neither would anything else.
        response = whole("text/html; charset=utf-8", try text.content.document.html())
          .with("content-security-policy", "default-src 'none'; img-src 'self'; sandbox")
          .with("x-content-type-options", "nosniff")
      case .delta: response = whole(BodyType.delta, try text.content.document.delta())
      }
    } catch {
      return .problem(413, .tooLarge, "\(error)")
    }
    return response.of(revision: text.revision).with("vary", "accept")
  }

  private static func whole(_ type: String, _ body: [UInt8]) -> Response {
    Response(
      status: 200, headers: [("content-type", type), ("cache-control", "no-store")], body: body)
  }

  /// Reads a whole text with its formatting.
  static func content(delta: [UInt8], scalarsMax: Int) throws(Response) -> NoteContent {
    do throws(DeltaError) {
      return NoteContent(
        try RichDocument(delta: delta, limits: DeltaLimits(scalarsMax: scalarsMax)))
    } catch {
      throw .problem(
        error.isLimit ? 413 : 400, error.isLimit ? .tooLarge : .badOperation, "\(error)")
    }
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
      case "html": self = .html
      case "delta": self = .delta
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
      case BodyType.delta: self = .delta
      default: continue
      }
      return
    }
  }
}

extension NotesRequest.Edit.Whole {
  /// Returns the content of an edit of a former text, or of the newest one without a `base`.
  func onto(_ base: HistoricText? = nil) -> ServerEdit.Content {
    switch self {
    case .text(let text): .text(text, base: base)
    case .content(let content): .content(content, base: base)
    }
  }
}

extension NotesRequest.Edit {
  /// Returns the edit as a change of its base text, without the common prefix and suffix.
  func onto(_ base: HistoricText, for request: RequestID) -> ServerEdit {
    ServerEdit(
      request: request, grant: .request(right), content: whole.onto(base), author: author,
      expected: expected,
      skipsIdentity: true)
  }
}

extension NotesAPI {
  /// Replaces the whole text, with line ends normalized to `\n`. A Delta also replaces the
  /// formatting; without it, text that remains keeps its own. With `base`, later changes by
  /// other users are retained: the text is merged with them like an edit made at that revision.
  /// With `If-Match`, the request fails if the note has changed.
  func replaceText(_ call: Call) throws(Response) {
    let request = call.request
    let whole = try whole(of: call)
    let expected = try expectedRevision(call)
    let author = try access.author(call.query.text("author"), call.identity)
    switch call.query.number("base") {
    case .broken: throw .problem(400, .badMessage, "expected base as a revision's number")
    case .absent:
      documents.edit(
        call.note,
        ServerEdit(
          request: request, grant: .request(try call.right), content: whole.onto(),
          author: author, expected: expected, skipsIdentity: true))
    case .value(let base):
      try store(
        .text(id: call.note, at: .revision(base)), for: call,
        .base(
          call.note,
          NotesRequest.Edit(
            whole: whole, base: base, author: author, expected: expected, right: call.right)))
    }
  }

  /// Returns the text in a request's body.
  private func whole(of call: Call) throws(Response) -> NotesRequest.Edit.Whole {
    if BodyType.isDelta(call.head) {
      return .content(
        try NoteText.content(
          delta: call.body, scalarsMax: settings.limits.documentScalarsMax))
    }
    guard let text = String(validating: WholeText.normalized(call.body), as: UTF8.self) else {
      throw .problem(400, .badMessage, "expected the text in UTF-8 as the body")
    }
    return .text(text)
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

extension NoteContent {
  /// Returns the content as Markdown. A text without formatting is Markdown already.
  fileprivate func markdown() throws(FormError) -> [UInt8] {
    document.hasAttributes ? try document.markdown() : utf8
  }
}
