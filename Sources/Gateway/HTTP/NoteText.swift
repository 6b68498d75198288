import GatewayPorts
import OTCore
import SocketMessages

/// A note's text as a whole, read and written over HTTP.
enum NoteText {
  /// How a text is written.
  enum Format {
    /// With revision, time and authors.
    case json
    /// The text alone.
    case plain
    /// The text alone, called Markdown.
    case markdown

    /// What a request asks for: `?format=`, else the first type in `Accept` that there is.
    init?(of head: RequestHead) {
      if let name = Gateway.text("format", in: head.query) {
        switch name {
        case "json": self = .json
        case "text": self = .plain
        case "markdown": self = .markdown
        default: return nil
        }
        return
      }
      self = .json
      for type in (head.headers["accept"] ?? "").split(separator: ",") {
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

  /// A text with its revision as entity tag, by which `If-Match` knows it again.
  static func response(_ text: HistoricText, as format: Format) -> Response {
    var response: Response
    switch format {
    case .json: response = .json(200, NoteJSON.text(text))
    case .plain, .markdown:
      let type = if case .markdown = format { "text/markdown" } else { "text/plain" }
      response = Response(
        status: 200,
        headers: [("content-type", type + "; charset=utf-8"), ("cache-control", "no-store")],
        body: Array(text.text.utf8))
    }
    response.setRevision(text.revision)
    response.headers.append(("vary", "accept"))
    return response
  }

  /// A note, with an entity tag that begins with its revision. What follows tells notes apart that
  /// have another title; `If-Match` passes over it.
  static func response(_ note: NoteSummary) -> Response {
    let body = NoteJSON.note(note)
    var hash: UInt32 = 0x811c_9dc5
    for byte in body { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
    var response = Response.json(200, body)
    response.headers.append(("etag", "\"\(note.revision).\(String(hash, radix: 36))\""))
    return response
  }

  /// A new text for a note, made from an older one.
  struct Edit {
    var text: String
    var author: String
    var expected: Int?

    /// The edit as a change of the text it was made from: what both begin and end with stays.
    func onto(_ base: HistoricText, for request: RequestID) -> DocumentRoom.ServerEdit {
      let operation = TextOperation(replacing: Document(base.text), by: Document(text))
      return DocumentRoom.ServerEdit(
        request: request, content: .change(operation, revision: base.revision), author: author,
        expected: expected)
    }
  }

  /// What `If-Match` asks for; a header without a value asks for nothing.
  enum Condition {
    case any
    case revision(Int)
    case broken

    init(_ header: String?) {
      guard let header, !header.isEmpty, header != "*" else {
        self = .any
        return
      }
      // The quotes are easily lost on the way through a shell.
      let parts = header.split(separator: "\"", omittingEmptySubsequences: false)
      let isQuoted = parts.count == 3 && parts[0].isEmpty && parts[2].isEmpty
      // The tag of a note itself has a mark of its title behind the revision.
      let tag = parts[isQuoted ? 1 : 0].split(
        separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
      guard isQuoted || parts.count == 1, tag.count == 1 || isQuoted && Self.isMark(tag[1]),
        let number = Gateway.wholeNumber(tag[0])
      else {
        self = .broken
        return
      }
      self = .revision(number)
    }

    /// Whether a text is a hash as `response` of a note writes it.
    private static func isMark(_ text: Substring) -> Bool {
      (1...7).contains(text.utf8.count)
        && text.utf8.allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x7a ~= $0 }
    }
  }
}

extension Gateway {
  /// Replaces the whole text. With `base`, what others changed since that revision is kept, and
  /// merged as if the writer had been connected; with `If-Match`, the note must not have changed.
  func replaceText(
    _ request: RequestID, id: DocumentID, _ head: RequestHead, _ body: [UInt8],
    _ identity: Identity
  ) {
    guard let text = String(validating: body, as: UTF8.self) else {
      respond(request, .problem(400, .badMessage, "expected the text in UTF-8 as the body"))
      return
    }
    guard let expected = expectedRevision(head, request),
      let author = author(Self.text("author", in: head.query), identity, request)
    else { return }
    switch Self.number("base", in: head.query) {
    case .broken:
      respond(request, .problem(400, .badMessage, "expected base as a revision's number"))
    case .absent:
      documents.edit(
        id,
        DocumentRoom.ServerEdit(
          request: request, content: .text(text), author: author, expected: expected.revision))
    case .value(let base):
      store(
        .text(id: id, at: .revision(base)),
        for: .notes(
          request,
          .base(id, NoteText.Edit(text: text, author: author, expected: expected.revision))))
    }
  }

  /// Changes the text by an operation on one of its revisions.
  func change(
    _ request: RequestID, id: DocumentID, _ head: RequestHead, _ body: [UInt8],
    _ identity: Identity
  ) {
    let componentsMax = settings.limits.operationComponentsMax
    let fields = NoteJSON.fields(in: body, operationComponentsMax: componentsMax)
    if let fields, fields.hasTooManyComponents {
      let refusal = LiveDocument.Refusal.tooManyComponents(componentsMax: componentsMax)
      let (code, message) = refusal.words(sequence: 1)
      respond(request, .problem(413, code, message))
      return
    }
    guard let fields, let operation = fields.operation, let revision = fields.revision else {
      respond(
        request,
        .problem(
          400, .badOperation, "expected a JSON object with \"revision\" and \"operation\""))
      return
    }
    guard let expected = expectedRevision(head, request),
      let author = author(fields.author, identity, request)
    else { return }
    documents.edit(
      id,
      DocumentRoom.ServerEdit(
        request: request, content: .change(operation, revision: revision),
        author: author, expected: expected.revision))
  }

  /// The revision that `If-Match` wants, if any; `nil` when the header is none, which is answered.
  private func expectedRevision(
    _ head: RequestHead, _ request: RequestID
  ) -> (revision: Int?, Void)? {
    switch NoteText.Condition(head.headers["if-match"]) {
    case .any: return (nil, ())
    case .revision(let revision): return (revision, ())
    case .broken:
      respond(
        request,
        .problem(400, .badMessage, "expected If-Match as a revision in quotes, such as \"41\""))
      return nil
    }
  }

  /// The value of a query's parameter, decoded; `nil` if it is not there or broken.
  static func text(_ name: String, in query: String) -> String? {
    for pair in query.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, parts[0] == name else { continue }
      return PercentEncoding.decoded(inQuery: parts[1])
    }
    return nil
  }
}

extension Response {
  /// An edit that made a revision.
  static func edited(_ revision: Int) -> Response {
    var response = json(200, NoteJSON.revision(revision))
    response.setRevision(revision)
    return response
  }

  /// Names the note's revision as entity tag.
  mutating func setRevision(_ revision: Int) { headers.append(("etag", "\"\(revision)\"")) }
}
