import ParleyGatewayPorts
import SocketMessages

/// Searching the notes that a caller may read.
///
/// The index of words knows no rights. So its first reply has only ids; the places are read only of the
/// notes that the caller may read.
///
///     GET /api/search ─▶ find ─▶ ids, best first ─▶ may they read? ─▶ places ─▶ answer
///                          ▲─────── more, if few ────────┘
final class Search: Part {
  let board: Switchboard
  let access: Access

  /// Notes of an answer unless a number is asked for, and at most.
  private static let limitDefault = 20
  private static let limitMax = 50
  /// Notes that are looked at for one answer: first so many, then all of the rest.
  private static let firstScan = 200
  private static let scanMax = 10_000
  /// Searches that may be under way: of all, of one person, and of callers that cannot be told apart, such
  /// as the guests of one link.
  private static let workMax = 64
  private static let workMaxOfPerson = 2
  private static let workMaxOfGuests = 16

  /// A search under way.
  struct Work {
    let query: SearchQuery
    /// The tag that is asked for, in place of words.
    var tag: String?
    var identity: Identity
    let right: StoreRight
    let limit: Int
    /// Notes that the step under way has asked for.
    var asked: Int
    var scanned = 0
    /// The notes that may be read, best first; one more than the limit at most.
    var found: [DocumentID] = []
    /// Whether more notes have the words than were looked at.
    var isCut = false
    /// The reader of a list of tags.
    var reader = ListReader()

    /// The next step: rights to folders are checked with the folders.
    var step: SearchRequest {
      let withFolders = identity.grants.contains { $0.kind == .folders }
      if let tag {
        return .tagged(tag, skipping: scanned, limit: asked, withFolders: withFolders)
      }
      return .find(query, skipping: scanned, limit: asked, withFolders: withFolders)
    }
  }

  /// The searches under way.
  var work: [RequestID: Work] = [:]

  init(_ board: Switchboard, _ access: Access) {
    self.board = board
    self.access = access
  }

  /// Answers a request for notes with some words, when the index has replied.
  func find(_ call: Call) throws(Response) {
    guard let words = try call.query.text("q") else {
      throw .problem(400, .badMessage, "expected q, the words to look for")
    }
    let limit = try call.query.limit(Self.limitDefault, max: Self.limitMax)
    let query: SearchQuery
    do throws(SearchQueryError) {
      query = try SearchQuery(words)
    } catch {
      throw .problem(413, .tooLarge, error.words)
    }
    guard !query.terms.isEmpty else {
      respond(call.request, .json(200, SearchJSON.answer([], isCut: false)))
      return
    }
    try begin(
      call.request,
      Work(
        query: query, identity: call.identity, right: call.right, limit: limit,
        asked: Self.firstScan))
  }

  /// Answers a request for the notes with a tag.
  func listNotes(_ call: Call, tagged text: String, limit: Int) throws(Response) {
    guard let tag = NoteTags.tag(text), let query = try? SearchQuery("#" + tag) else {
      throw .problem(400, .badMessage, "expected tag as letters, digits, -, _ and /, such as plan")
    }
    try begin(
      call.request,
      Work(
        query: query, tag: tag, identity: call.identity, right: call.right, limit: limit,
        asked: Self.firstScan))
  }

  /// Answers a request for the tags of the notes that may be read.
  func listTags(_ call: Call) throws(Response) {
    guard let nothing = try? SearchQuery("") else { throw Self.crowded }
    try begin(
      call.request,
      Work(
        query: nothing, identity: call.identity, right: call.right, limit: 0, asked: 0,
        reader: call.reader),
      with: .tags(FolderCounting(of: call.identity)))
  }

  private func begin(
    _ request: RequestID, _ begun: Work, with step: SearchRequest? = nil
  ) throws(Response) {
    let identity = begun.identity
    let own = work.values.count { identity.isSamePerson(as: $0.identity) }
    guard work.count < Self.workMax,
      own < (identity.person == nil ? Self.workMaxOfGuests : Self.workMaxOfPerson)
    else { throw Self.crowded }
    work[request] = begun
    board.search(request, step ?? begun.step, under: begun.right)
  }

  private static var crowded: Response {
    .busy("too many searches are under way; send it again later")
  }

  /// The index has done a step of a search.
  func replied(_ request: RequestID, _ reply: SearchReply) {
    guard var work = work.removeValue(forKey: request) else { return }
    do throws(AuthenticationError) {
      // The token may have ended while the index worked.
      work.identity = try access.current(work.identity)
    } catch {
      respond(request, .refusal(error))
      return
    }
    switch reply {
    case .ids(let ids, let folders): proceed(request, work, ids, folders)
    case .hits(let all):
      // Only now it is known when each note was made.
      let hits = all.filter { work.identity.may(.read, $0.note) }
      answer(request, work, hits, isCut: work.isCut)
    case .tags(let tags, let isCut):
      respond(
        request, work.reader.answer(SearchJSON.tags(tags, isCut: isCut), packing: .letters))
    case .busy: respond(request, .busy("too many searches wait; send it again later"))
    case .failed(let error):
      dependencies.log.write(.error, "search failed", [("error", error.logName)])
      respond(
        request, .problem(503, .unavailable, "the notes cannot be searched now; try again later"))
    }
  }

  private func proceed(
    _ request: RequestID, _ work: Work, _ ids: [DocumentID], _ folders: [FolderPath?]
  ) {
    var work = work
    for (index, id) in ids.enumerated() {
      let folder = folders.indices.contains(index) ? folders[index] : nil
      guard work.identity.may(.read, .document(id, in: folder)) else { continue }
      guard work.found.count < work.limit else {
        work.isCut = true
        break
      }
      work.found.append(id)
    }
    work.scanned += ids.count
    let hasMore = ids.count == work.asked
    if hasMore, work.found.count < work.limit, work.scanned < Self.scanMax {
      work.asked = Self.scanMax - work.scanned
      self.work[request] = work
      board.search(request, work.step, under: work.right)
      return
    }
    // Of notes that were not looked at, it is not known whether they may be read.
    guard !work.found.isEmpty else { return answer(request, work, [], isCut: false) }
    self.work[request] = work
    board.search(request, .places(work.query, work.found), under: work.right)
  }

  /// Answers with the notes found: places of words, or notes as in other lists.
  private func answer(_ request: RequestID, _ work: Work, _ hits: [SearchHit], isCut: Bool) {
    guard work.tag != nil else {
      respond(request, .json(200, SearchJSON.answer(hits, isCut: isCut)))
      return
    }
    let mayCreate = work.identity.may(
      .manage, .document(DocumentID(dependencies.names.next()), in: FolderPath.none))
    respond(
      request,
      .json(
        200,
        NoteJSON.list(
          hits.map(\.note), for: work.identity, mayCreate: mayCreate,
          deletedAgeMax: settings.deletedMilliseconds, isCut: isCut)))
  }

  /// Forgets a search whose answer is no longer wanted.
  func abandoned(_ request: RequestID) { work[request] = nil }
}

extension SearchQueryError {
  /// The error for people.
  fileprivate var words: String {
    switch self {
    case .tooLong(let bytes):
      "q may have \(SearchQuery.bytesMax) bytes; this one has \(bytes)"
    case .tooMany(let words):
      "q may have \(SearchQuery.wordsMax) words; this one has \(words)"
    }
  }
}
