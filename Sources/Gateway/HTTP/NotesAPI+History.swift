import ParleyGatewayPorts
import SocketMessages

/// A note's history over HTTP: texts, authors, versions, and restoring an old text.
extension NotesAPI {
  /// Maximum pause between entries of one author that are shown as one.
  private static let pauseMilliseconds: Timestamp = 60_000
  /// Maximum pause between changes of one session.
  private static let reservedMilliseconds: Timestamp = 300_000
  /// Maximum sessions of one response.
  private static let sessionsMax = 100
  /// Maximum groups of one response.
  private static let groupsMax = 1_000

  func readText(_ call: Call) throws(Response) {
    let query = call.query
    let point: HistoryPoint
    guard let format = try NotesRequest.Format(of: call) else {
      throw .problem(400, .badMessage, "expected format to be json, text, markdown, html or delta")
    }
    var asked: Int?
    switch (query.number("revision"), query.number("time")) {
    case (.value(let revision), .absent):
      asked = revision
      point = .revision(revision)
    case (.absent, .value(let time)): point = .time(Timestamp(time))
    case (.absent, .absent): point = .revision(.max)
    default:
      throw .problem(400, .badMessage, "expected revision or time as a number, or neither")
    }
    try store(
      .text(id: call.note, at: point), for: call,
      .text(format, of: asked, known: call.known))
  }

  func readHistory(_ call: Call) throws(Response) {
    let after = call.query.number("after").or(0)
    let limit = call.query.number("limit").or(Self.groupsMax)
    guard let after, let limit, limit > 0 else {
      throw .problem(400, .badMessage, "expected after and limit as numbers")
    }
    try store(
      .history(
        id: call.note, after: after, limit: min(limit, Self.groupsMax),
        pause: Self.pauseMilliseconds),
      for: call, .history)
  }

  /// Reads the editing sessions of all users, newest first.
  func readSessions(_ call: Call) throws(Response) {
    let before = call.query.number("before").or(.max)
    let limit = call.query.number("limit").or(Self.sessionsMax)
    guard let before, let limit, limit > 0 else {
      throw .problem(400, .badMessage, "expected before and limit as numbers")
    }
    try store(
      .past(
        id: call.note,
        .sessions(
          before: before, limit: min(limit, Self.sessionsMax), pause: Self.reservedMilliseconds)),
      for: call, .sessions)
  }

  /// Reads the words that changed between two revisions.
  func readDifference(_ call: Call) throws(Response) {
    guard case .value(let from) = call.query.number("from"),
      case .value(let to) = call.query.number("to"), from <= to
    else {
      throw .problem(
        400, .badMessage, "expected from and to as revisions, with from <= to")
    }
    try store(.past(id: call.note, .difference(from: from, to: to)), for: call, .difference)
  }

  func listVersions(_ call: Call) throws(Response) {
    try store(.versions(id: call.note), for: call, .versions)
  }

  func deleteVersion(_ call: Call) throws(Response) {
    guard let revision = call.item.flatMap(QueryFields.wholeNumber) else {
      throw .problem(400, .badMessage, "expected a revision's number")
    }
    try store(
      .deleteVersion(id: call.note, revision: revision), for: call, .unnameVersion)
  }

  func nameVersion(_ call: Call) throws(Response) {
    guard let fields = NoteJSON.fields(in: call.body), let name = fields.name, !name.isEmpty,
      let revision = fields.revision
    else {
      throw .problem(400, .badMessage, "expected a JSON object with \"name\" and \"revision\"")
    }
    let author = try access.author(fields.author, call.identity)
    try access.checkName(name)
    try OneLine.check(name, "a version's name")
    let version = NamedVersion(
      revision: revision, name: name, author: author, time: dependencies.clock.now)
    documents.save(
      VersionNaming(request: call.request, version: version, right: try call.right),
      of: call.note)
  }

  /// Asks the store to name a revision.
  func save(_ naming: VersionNaming, epoch: Epoch, of id: DocumentID) {
    store(
      .saveVersion(id: id, epoch: epoch, version: naming.version), for: naming.request,
      under: naming.right, .nameVersion(naming.version))
  }

  func restore(_ call: Call) throws(Response) {
    guard let fields = NoteJSON.fields(in: call.body), let revision = fields.revision, revision >= 0
    else { throw .problem(400, .badMessage, "expected a JSON object with \"revision\"") }
    let author = try access.author(fields.author, call.identity)
    try store(
      .text(id: call.note, at: .revision(revision)), for: call,
      .restore(call.note, revision: revision, author: author, call.right))
  }
}
