import GatewayPorts
import SocketMessages

/// A note's past over HTTP: texts, authors, versions, and bringing an old text back.
extension HTTP {
  /// Entries of one author with no longer pause between them are shown as one.
  private static let pauseMilliseconds: Timestamp = 60_000
  /// Groups of one answer, at most.
  private static let groupsMax = 1_000

  func readText(_ call: Call) {
    let query = call.query
    let point: HistoryPoint
    guard let format = NotesRequest.Format(of: call) else {
      respond(
        call.request, .problem(400, .badMessage, "expected format to be json, text or markdown"))
      return
    }
    var asked: Int?
    switch (query.number("revision"), query.number("time")) {
    case (.value(let revision), .absent):
      asked = revision
      point = .revision(revision)
    case (.absent, .value(let time)): point = .time(Timestamp(time))
    case (.absent, .absent): point = .revision(.max)
    default:
      respond(
        call.request,
        .problem(400, .badMessage, "expected revision or time as a number, or neither"))
      return
    }
    store(
      .text(id: call.name, at: point),
      for: .notes(call.request, .text(format, of: asked, known: call.known)))
  }

  func readHistory(_ call: Call) {
    let after = call.query.number("after").or(0)
    let limit = call.query.number("limit").or(Self.groupsMax)
    guard let after, let limit, limit > 0 else {
      respond(call.request, .problem(400, .badMessage, "expected after and limit as numbers"))
      return
    }
    store(
      .history(
        id: call.name, after: after, limit: min(limit, Self.groupsMax),
        pause: Self.pauseMilliseconds),
      for: .notes(call.request, .history))
  }

  func listVersions(_ call: Call) {
    store(.versions(id: call.name), for: .notes(call.request, .versions))
  }

  func deleteVersion(_ call: Call) {
    guard let revision = call.item.flatMap(QueryFields.wholeNumber) else {
      respond(call.request, .problem(400, .badMessage, "expected a revision's number"))
      return
    }
    store(
      keeping(.deleteVersion(id: call.name, revision: revision), for: call.request) { _ in
        Response(status: 204)
      }, for: .notes(call.request, .deleteVersion))
  }

  func saveVersion(_ call: Call) {
    let request = call.request
    guard let fields = NoteJSON.fields(in: call.body), let name = fields.name, !name.isEmpty,
      let revision = fields.revision
    else {
      respond(
        request,
        .problem(400, .badMessage, "expected a JSON object with \"name\" and \"revision\""))
      return
    }
    guard let author = author(fields.author, call.identity, request), checkedName(name, request),
      isOneLine(name, "a version's name", request)
    else { return }
    documents.save(
      NamedVersion(
        revision: revision, name: name, author: author, time: surroundings.clock.now),
      of: call.name, for: request)
  }

  /// Has the store name a revision.
  func save(
    _ version: NamedVersion, epoch: String, of id: DocumentID, for request: RequestID
  ) {
    store(
      keeping(.saveVersion(id: id, epoch: epoch, version: version), for: request) { _ in
        .json(201, NoteJSON.version(version))
      }, for: .notes(request, .saveVersion(version)))
  }

  func restore(_ call: Call) {
    let request = call.request
    guard let fields = NoteJSON.fields(in: call.body), let revision = fields.revision, revision >= 0
    else {
      respond(request, .problem(400, .badMessage, "expected a JSON object with \"revision\""))
      return
    }
    guard let author = author(fields.author, call.identity, request) else { return }
    store(
      .text(id: call.name, at: .revision(revision)),
      for: .notes(request, .restore(call.name, revision: revision, author: author)))
  }

  /// The name under which the edit or version is kept.
  func author(
    _ given: String?, _ identity: Identity, _ request: RequestID
  ) -> String? {
    let author = access.name(of: identity, claimed: given ?? "")
    return checkedName(given ?? "", request) && checkedName(author, request) ? author : nil
  }

  /// Whether a name is within its limit; answers the request if not.
  func checkedName(_ name: String, _ request: RequestID) -> Bool {
    let bytesMax = settings.limits.nameBytesMax
    guard name.utf8.count <= bytesMax else {
      respond(
        request,
        .problem(413, .tooLarge, "a name may have \(bytesMax) bytes, not \(name.utf8.count)"))
      return false
    }
    return true
  }

  /// Whether a title or a name is one line; answers the request if not.
  func isOneLine(_ text: String, _ subject: String, _ request: RequestID) -> Bool {
    guard OneLine.isMet(by: text) else {
      respond(request, .problem(400, .badMessage, OneLine.problem(of: subject)))
      return false
    }
    return true
  }
}
