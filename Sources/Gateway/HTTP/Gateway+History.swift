import GatewayPorts
import SocketMessages

/// A note's past over HTTP: texts, authors, versions, and bringing an old text back.
extension Gateway {
  /// Entries of one author with no longer pause between them are shown as one.
  private static let pauseMilliseconds: Timestamp = 60_000
  /// Groups of one answer, at most.
  private static let groupsMax = 1_000

  func text(_ request: RequestID, id: DocumentID, _ head: RequestHead) {
    let query = head.query
    let point: HistoryPoint
    guard let format = NoteText.Format(of: head) else {
      respond(
        request, .problem(400, .badMessage, "expected format to be json, text or markdown"))
      return
    }
    switch (Self.number("revision", in: query), Self.number("time", in: query)) {
    case (.value(let revision), .absent): point = .revision(revision)
    case (.absent, .value(let time)): point = .time(Timestamp(time))
    case (.absent, .absent): point = .revision(.max)
    default:
      respond(
        request,
        .problem(400, .badMessage, "expected revision or time as a number, or neither"))
      return
    }
    store(
      .text(id: id, at: point),
      for: .notes(
        request, .text(format, known: EntityTags(head.headers["if-none-match"]))))
  }

  func history(_ request: RequestID, id: DocumentID, _ query: String) {
    let after = Self.number("after", in: query).or(0)
    let limit = Self.number("limit", in: query).or(Self.groupsMax)
    guard let after, let limit, limit > 0 else {
      respond(request, .problem(400, .badMessage, "expected after and limit as numbers"))
      return
    }
    store(
      .history(
        id: id, after: after, limit: min(limit, Self.groupsMax), pause: Self.pauseMilliseconds),
      for: .notes(request, .history))
  }

  func saveVersion(
    _ request: RequestID, id: DocumentID, _ body: [UInt8], _ identity: Identity
  ) {
    guard let fields = NoteJSON.fields(in: body), let name = fields.name, !name.isEmpty,
      let revision = fields.revision
    else {
      respond(
        request,
        .problem(400, .badMessage, "expected a JSON object with \"name\" and \"revision\""))
      return
    }
    guard let author = author(fields.author, identity, request), checkedName(name, request) else {
      return
    }
    documents.save(
      NamedVersion(
        revision: revision, name: name, author: author, time: surroundings.clock.now),
      of: id, for: request)
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

  func restore(
    _ request: RequestID, id: DocumentID, _ body: [UInt8], _ identity: Identity
  ) {
    guard let fields = NoteJSON.fields(in: body), let revision = fields.revision, revision >= 0
    else {
      respond(request, .problem(400, .badMessage, "expected a JSON object with \"revision\""))
      return
    }
    guard let author = author(fields.author, identity, request) else { return }
    store(
      .text(id: id, at: .revision(revision)),
      for: .notes(request, .restore(id, author: author)))
  }

  /// The name under which the edit or version is kept.
  func author(
    _ given: String?, _ identity: Identity, _ request: RequestID
  ) -> String? {
    let author = name(of: identity, claimed: given ?? "")
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

  /// A number in a query, such as `after=12&limit=3`.
  enum QueryNumber {
    case absent
    case value(Int)
    case broken

    func or(_ other: Int) -> Int? {
      switch self {
      case .absent: other
      case .value(let value): value
      case .broken: nil
      }
    }
  }

  static func number(_ name: String, in query: String) -> QueryNumber {
    for pair in query.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.first.map(String.init) == name else { continue }
      guard parts.count == 2, let value = wholeNumber(parts[1]) else { return .broken }
      return .value(value)
    }
    return .absent
  }

  /// A number that is not negative, as large as those of messages may be; `nil` if it is none.
  static func wholeNumber(_ text: some StringProtocol) -> Int? {
    Int(text).flatMap { (0...(1 << 53)).contains($0) ? $0 : nil }
  }
}
