public import GatewayPorts
import SocketMessages

/// The HTTP surface for notes: list, make, rename, delete.
///
///     GET    /api/notes           all notes, the newest change first
///     POST   /api/notes           {"title": "…"} makes one
///     PATCH  /api/notes/{id}      {"title": "…"} renames it
///     DELETE /api/notes/{id}      removes it with its history
extension Gateway {
  /// What a request for notes is to be answered with.
  enum NotesRequest {
    case list
    case create
    case rename
    case delete(DocumentID)
  }

  /// Answers an HTTP request, now or when the store has replied.
  ///
  /// - Returns: Whether the path is the gateway's at all.
  public func request(_ request: RequestID, head: RequestHead, body: [UInt8]) -> Bool {
    let parts = head.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    guard parts.count >= 2, parts[parts.startIndex] == "api",
      parts[parts.startIndex + 1] == "notes"
    else { return false }
    guard settings.isDemo else {
      respond(
        request, .problem(401, .unauthorised, "notes over HTTP need a token; none is configured"))
      return true
    }
    switch (head.method, parts.count) {
    case ("GET", 2): store(.list, for: .notes(request, .list))
    case ("POST", 2): create(request, body)
    case ("PATCH", 3): rename(request, id: parts[parts.startIndex + 2], body)
    case ("DELETE", 3): delete(request, id: parts[parts.startIndex + 2])
    case (_, 2): respond(request, .methodNotAllowed("GET, POST"))
    case (_, 3): respond(request, .methodNotAllowed("PATCH, DELETE"))
    default: respond(request, .problem(404, .unknownDocument, "no such path below /api/notes"))
    }
    return true
  }

  private func create(_ request: RequestID, _ body: [UInt8]) {
    guard let title = title(from: body, request) else { return }
    store(
      .create(
        id: surroundings.names.next(), epoch: surroundings.names.next(), title: title,
        time: surroundings.clock.now), for: .notes(request, .create))
  }

  private func rename(_ request: RequestID, id: Substring, _ body: [UInt8]) {
    guard let id = Self.percentDecoded(id) else {
      respond(request, .problem(400, .badMessage, "the note's id is not valid percent-encoding"))
      return
    }
    guard let title = title(from: body, request) else { return }
    store(
      .rename(id: id, title: title, time: surroundings.clock.now), for: .notes(request, .rename))
  }

  private func delete(_ request: RequestID, id: Substring) {
    guard let id = Self.percentDecoded(id) else {
      respond(request, .problem(400, .badMessage, "the note's id is not valid percent-encoding"))
      return
    }
    store(.delete(id: id), for: .notes(request, .delete(id)))
  }

  private func title(from body: [UInt8], _ request: RequestID) -> String? {
    guard let title = NoteJSON.title(in: body) else {
      respond(
        request, .problem(400, .badMessage, "expected a JSON object with a string \"title\""))
      return nil
    }
    guard title.utf8.count <= settings.limits.titleBytesMax else {
      respond(
        request,
        .problem(
          413, .tooLarge,
          "a title may have \(settings.limits.titleBytesMax) bytes; this one has "
            + "\(title.utf8.count)"))
      return nil
    }
    return title
  }

  func answer(_ request: RequestID, _ kind: NotesRequest, _ reply: StoreReply) {
    switch reply {
    case .notes(let notes): respond(request, .json(200, NoteJSON.list(notes)))
    case .note(let note):
      if case .create = kind {
        respond(request, .json(201, NoteJSON.note(note)))
      } else {
        respond(request, .json(200, NoteJSON.note(note)))
        if let room = documents[note.id] {
          room.live?.title = note.title
          tell(room, .renamed(note.title))
        }
      }
      publishNoteList()
    case .done:
      respond(request, Response(status: 204))
      if case .delete(let id) = kind, let room = documents.removeValue(forKey: id) {
        tell(room, .deleted)
        for subscription in room.subscriptions {
          subscription.connection.subscriptions[id] = nil
        }
      }
      publishNoteList()
    case .failed(.unknownDocument):
      respond(request, .problem(404, .unknownDocument, "no note has this id"))
    case .failed(let error):
      surroundings.log.write(.error, "notes request failed", [("error", error.logName)])
      respond(
        request, .problem(503, .unavailable, "the store cannot do this now; try again later"))
    case .document, .entries, .text, .history, .versions:
      preconditionFailure("a store answers a request for notes with notes")
    }
  }

  private enum DocumentNews {
    case renamed(String)
    case deleted
  }

  private func tell(_ room: DocumentRoom, _ news: DocumentNews) {
    let message: ServerMessage
    switch news {
    case .renamed(let title):
      message = .documentChanged(.init(documentID: room.id, title: title, deleted: false))
    case .deleted:
      message = .documentChanged(.init(documentID: room.id, title: nil, deleted: true))
    }
    let frame = nativeFrame(message, ref: pushID())
    for subscription in room.subscriptions where subscription.connection.dialect == .native {
      send(frame, to: subscription.connection)
    }
  }

  /// Decodes `%41` and the like; `nil` if an escape is broken or the result is not UTF-8.
  static func percentDecoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst(), let low = rest.popFirst(),
        let high = Character(Unicode.Scalar(high)).hexDigitValue,
        let low = Character(Unicode.Scalar(low)).hexDigitValue
      else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

extension Response {
  /// A JSON response.
  static func json(_ status: Int, _ body: [UInt8]) -> Response {
    Response(
      status: status,
      headers: [("content-type", "application/json"), ("cache-control", "no-store")], body: body)
  }

  /// An error for programs and people.
  static func problem(_ status: Int, _ code: ErrorCode, _ message: String) -> Response {
    var body: [UInt8] = []
    JSONWriter.object(&body) { object, body in
      object.field("code", code.rawValue, &body)
      object.field("message", message, &body)
    }
    return json(status, body)
  }

  static func methodNotAllowed(_ allowed: String) -> Response {
    var response = problem(405, .badMessage, "this path takes \(allowed)")
    response.headers.append(("allow", allowed))
    return response
  }
}
