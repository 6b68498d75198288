import ParleyGatewayPorts
import SocketMessages

/// Searching the notes that a caller may read.
///
/// The word index does not check rights. Its first reply contains only ids. The matching passages
/// are then read only for notes that the caller may read.
///
///     GET /api/search ─▶ find ─▶ ids, best first ─▶ check rights ─▶ places ─▶ response
///                          ▲──── more, if few remain ─────┘
final class Search: Part {
  let board: Switchboard
  let access: Access

  /// The default and the maximum number of notes in a response.
  private static let limitDefault = 20
  private static let limitMax = 50
  /// Notes whose rights are checked for one response: in the first step, and in total.
  private static let firstScan = 200
  private static let scanMax = 10_000
  /// Maximum concurrent searches: in total, per user, and per group of anonymous callers, such as
  /// the guests of one link.
  private static let workMax = 64
  private static let workMaxOfPerson = 2
  private static let workMaxOfGuests = 16

  /// A search that waits for the index.
  struct Work {
    let query: SearchQuery
    /// The tag to search for, instead of words.
    var tag: String?
    var identity: Identity
    let right: StoreRight
    let limit: Int
    /// The number of notes requested in the current step.
    var asked: Int
    var scanned = 0
    /// The notes that the caller may read, best first; at most `limit`.
    var found: [DocumentID] = []
    /// Whether the caller may read further matching notes, among those that were checked.
    var isCut = false
    /// The caching and compression headers of a request for tags.
    var reader = ListReader()

    /// The next request to the index, with folders only if some rights are granted by folder.
    var step: SearchRequest {
      let withFolders = identity.grants.contains { $0.kind == .folders }
      if let tag {
        return .tagged(tag, skipping: scanned, limit: asked, withFolders: withFolders)
      }
      return .find(query, skipping: scanned, limit: asked, withFolders: withFolders)
    }
  }

  /// The searches that wait for the index, by the request to answer.
  var work: [RequestID: Work] = [:]

  init(_ board: Switchboard, _ access: Access) {
    self.board = board
    self.access = access
  }

  /// Starts a search for the words in `q`. The response is sent after the index has replied.
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

  /// Starts a search for the notes with a tag.
  func listNotes(_ call: Call, tagged text: String, limit: Int) throws(Response) {
    guard let tag = NoteTags.tag(text), let query = try? SearchQuery("#" + tag) else {
      throw .problem(400, .badMessage, "expected tag to contain only letters, digits, -, _ and /")
    }
    try begin(
      call.request,
      Work(
        query: query, tag: tag, identity: call.identity, right: call.right, limit: limit,
        asked: Self.firstScan))
  }

  /// Requests the tags of the notes that the caller may read.
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
    .busy("too many searches are running; retry later")
  }

  /// Handles the reply of the index to one step of a search.
  func replied(_ request: RequestID, _ reply: SearchReply) {
    guard var work = work.removeValue(forKey: request) else { return }
    do throws(AuthenticationError) {
      // The token may have expired or been revoked while the index was searched.
      work.identity = try access.current(work.identity)
    } catch {
      respond(request, .refusal(error))
      return
    }
    switch reply {
    case .ids(let ids, let folders): proceed(request, work, ids, folders)
    case .hits(let all):
      // Some rights depend on a note's creation time, which only this reply contains.
      let hits = all.filter { work.identity.may(.read, $0.note) }
      answer(request, work, hits, isCut: work.isCut)
    case .tags(let tags, let isCut):
      respond(
        request, work.reader.answer(SearchJSON.tags(tags, isCut: isCut), packing: .letters))
    case .busy: respond(request, .busy("too many searches are queued; retry later"))
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
    if hasMore, !work.isCut, work.scanned < Self.scanMax {
      work.asked = Self.scanMax - work.scanned
      self.work[request] = work
      board.search(request, work.step, under: work.right)
      return
    }
    // Report no further notes here: the caller may lack the right to read those not yet checked.
    guard !work.found.isEmpty else { return answer(request, work, [], isCut: false) }
    self.work[request] = work
    board.search(request, .places(work.query, work.found), under: work.right)
  }

  /// Sends the response: the passages for a search by words, a list of notes for one by tag.
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

  /// Discards a search whose client no longer waits for the response.
  func abandoned(_ request: RequestID) { work[request] = nil }
}

extension SearchQueryError {
  /// The error message for the response.
  fileprivate var words: String {
    switch self {
    case .tooLong(let bytes):
      "q may have at most \(SearchQuery.bytesMax) bytes; this one has \(bytes)"
    case .tooMany(let words):
      "q may have at most \(SearchQuery.wordsMax) words; this one has \(words)"
    }
  }
}
