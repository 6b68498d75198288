package import ParleyGatewayPorts

/// Updates a word index from its store, in small steps, and searches in it.
///
/// It has no thread and does not wait: the caller passes the time, and asks when work is due.
package struct IndexKeeper {
  private let store: any DocumentStore
  private let open: () throws -> any SearchIndex
  private let log: any LogSink
  private var index: (any SearchIndex)?

  /// The number of notes that were added to the index or updated in it.
  package private(set) var indexed = 0
  /// Whether the tags of a note in the index have changed since ``takeTagNews()``.
  package private(set) var hasTagNews = false
  /// Notes that the index has rejected once; a note that it rejects again is left out of the index.
  private var refused: Set<DocumentID> = []
  /// The failure that was logged last.
  private var reported = ""
  /// The error of the last step; `nil` if it succeeded.
  package private(set) var failure: StoreError?

  private var resting = UnindexedNotes()
  /// Notes that are indexed without a delay, oldest change first.
  private var urgent: [DocumentID] = []
  /// The number of notes at the beginning of `urgent` that are done.
  private var urgentDone = 0
  private var comparison: Comparison? = .notes(after: nil)
  /// Notes whose state in the index differs from the store, as found by the comparison.
  private var differing: [DocumentID] = []
  private var nextComparison: Int64?
  /// The uptime in milliseconds of the next attempt after a failure.
  private var nextTry: Int64 = 0
  /// The uptime in milliseconds of the next step of the comparison. The pause between steps leaves
  /// processor time to other work.
  private var nextPiece: Int64 = 0

  /// The position of a comparison. First all notes of the store are looked up in the index, then
  /// all notes of the index in the store.
  private enum Comparison {
    case notes(after: NoteSortKey?)
    case index(after: DocumentID?)
  }

  /// The number of notes in one step of the comparison.
  private static let pageSize = 200
  /// Milliseconds between comparisons if several nodes write to the store.
  private static let comparisonPause: Int64 = 600_000
  /// Milliseconds from a failure to the next attempt.
  private static let failurePause: Int64 = 30_000
  /// Maximum notes in `urgent`; beyond it, a comparison finds the changes.
  private static let urgentMax = 10_000
  /// Maximum notes remembered as rejected; beyond it, all are discarded.
  private static let refusedMax = 1_000
  /// Maximum scalars of one text, and of all texts of a reply, that are searched for passages.
  private static let scanMax = 200_000
  private static let scanMaxOfAll = 1_000_000

  /// Creates a keeper that begins with a comparison.
  ///
  /// - Parameter open: Opens the index; called again after a failure.
  package init(
    store: any DocumentStore, open: @escaping () throws -> any SearchIndex, log: any LogSink
  ) {
    self.store = store
    self.open = open
    self.log = log
  }

  /// Returns the milliseconds until the next work is due.
  package func pause(at now: Int64) -> Int64 {
    guard now >= nextTry else { return nextTry - now }
    if urgentDone < urgent.count { return 0 }
    var next = now + 60_000
    if let look = resting.nextCheck { next = min(next, look) }
    if comparison != nil || !differing.isEmpty { next = min(next, nextPiece) }
    if let nextComparison { next = min(next, nextComparison) }
    return max(0, next - now)
  }

  /// Whether all known changes are indexed and no comparison is running.
  package var isSettled: Bool {
    comparison == nil && differing.isEmpty && urgentDone == urgent.count && resting.count == 0
  }

  /// Records changed notes, to be indexed later.
  package mutating func note(_ changes: [SearchedChange], at now: Int64) {
    for change in changes {
      switch change {
      case .edited(let id): resting.edited(id, at: now)
      case .removed(let id), .broughtBack(let id):
        resting.forget(id)
        guard urgent.count - urgentDone < Self.urgentMax else {
          compareSoon()
          continue
        }
        urgent.append(id)
      }
    }
    if resting.isOverfull {
      resting.settleOverfull()
      compareSoon()
    }
  }

  /// Returns whether tags have changed since the last call.
  package mutating func takeTagNews() -> Bool {
    defer { hasTagNews = false }
    return hasTagNews
  }

  /// Starts a comparison of the whole store.
  package mutating func compareSoon() { comparison = .notes(after: nil) }

  // MARK: Indexing

  /// Performs one step: indexes one note, or compares some.
  package mutating func work(at now: Int64) {
    guard now >= nextTry else { return }
    failure = nil
    do throws(StoreError) {
      let index = try opened()
      try index.checkRoom()
      if let id = takeUrgent() {
        try bringUp(id, in: index)
      } else if let id = resting.takeDue(at: now) {
        try bringUp(id, in: index)
      } else if now >= nextPiece {
        let begin = SystemClock().uptime
        try compare(in: index, at: now)
        let end = SystemClock().uptime
        // The comparison pauses for as long as its step took, but at most a second.
        nextPiece = now + (end - begin) + min(end - begin, 1_000)
      }
      index.upkeep()
      reported = ""
    } catch {
      recover(from: error, at: now)
    }
  }

  /// Removes and returns the note with the oldest urgent change.
  ///
  /// - Complexity: O(1), amortised over the changes.
  private mutating func takeUrgent() -> DocumentID? {
    guard urgentDone < urgent.count else { return nil }
    let id = urgent[urgentDone]
    urgentDone += 1
    if urgentDone > 64, urgentDone * 2 > urgent.count {
      urgent.removeFirst(urgentDone)
      urgentDone = 0
    }
    return id
  }

  private mutating func opened() throws(StoreError) -> any SearchIndex {
    if let index { return index }
    do {
      let index = try open()
      self.index = index
      return index
    } catch {
      throw .unavailable("the index of words cannot be opened: \(error)")
    }
  }

  private mutating func recover(from error: StoreError, at now: Int64) {
    failure = error
    // The comparison finds the pending changes again.
    compareSoon()
    differing = []
    (urgent, urgentDone) = ([], 0)
    nextTry = now + Self.failurePause
    if case .damaged = error {
      log.write(.warning, "index of words rebuilt", [("reason", "it is damaged")])
      try? index?.clear()
    } else if reported != Self.words(of: error) {
      reported = Self.words(of: error)
      log.write(.warning, "word index not updated", [("reason", reported)])
    }
    // The next step opens the index again.
    index = nil
  }

  private static func words(of error: StoreError) -> String {
    if case .unavailable(let words) = error { words } else { "\(error)" }
  }

  /// Indexes a note as it is in the store, or removes it from the index if the store lacks it.
  private mutating func bringUp(_ id: DocumentID, in index: any SearchIndex) throws(StoreError) {
    let replies = store.perform([.note(id: id), .text(id: id, at: .revision(.max))])
    switch (replies[0], replies[1]) {
    case (.note(let note), .text(let text)):
      let state = IndexedState(
        revision: text.revision, updatedAt: note.updatedAt, createdAt: note.createdAt)
      do throws(StoreError) {
        let hasOtherTags = try index.put(
          IndexedNote(id: id, title: note.title, text: text.text, state: state))
        if hasOtherTags { hasTagNews = true }
        refused.remove(id)
        indexed += 1
      } catch {
        try leaveOut(id, of: index, for: error)
      }
    case (.failed(.unknownDocument), _): try index.remove([id])
    // `parley check` reports a damaged note; other notes can still be found.
    case (.failed(.damaged), _), (_, .failed(.damaged)): try index.remove([id])
    case (.failed(let error), _), (_, .failed(let error)): throw Self.ofStore(error)
    default: break
    }
  }

  /// Leaves out a note that the index rejects repeatedly, so that it does not block other notes.
  ///
  /// - Throws: The error, if the note is rejected for the first time.
  private mutating func leaveOut(
    _ id: DocumentID, of index: any SearchIndex, for error: StoreError
  ) throws(StoreError) {
    if case .damaged = error { throw error }
    guard refused.contains(id) else {
      if refused.count >= Self.refusedMax { refused.removeAll() }
      refused.insert(id)
      throw error
    }
    try index.remove([id])
    log.write(
      .warning, "note left out of the index of words",
      [("document", id.text), ("reason", Self.words(of: error))])
  }

  /// Returns an error of the store so that it does not cause a rebuild of the index.
  private static func ofStore(_ error: StoreError) -> StoreError {
    if case .damaged = error {
      .unavailable("the store is damaged; run parley check")
    } else {
      error
    }
  }

  private mutating func compare(in index: any SearchIndex, at now: Int64) throws(StoreError) {
    if let id = differing.popLast() { return try bringUp(id, in: index) }
    switch comparison {
    case .notes(let place):
      let notes = try page(after: place)
      let states = try index.states(of: notes.map(\.id))
      differing = zip(notes, states).filter { IndexedState($0) != $1 }.map(\.0.id).reversed()
      comparison =
        notes.count < Self.pageSize
        ? .index(after: nil) : .notes(after: notes.last.map(NoteSortKey.init))
    case .index(let id):
      let ids = try index.ids(after: id, limit: Self.pageSize)
      try index.remove(try gone(ids))
      comparison = ids.count < Self.pageSize ? nil : .index(after: ids.last)
      if comparison == nil, index.isShared { nextComparison = now + Self.comparisonPause }
    case nil:
      guard let next = nextComparison, next <= now else { return }
      nextComparison = nil
      compareSoon()
    }
  }

  private func page(after place: NoteSortKey?) throws(StoreError) -> [NoteSummary] {
    switch store.perform([.notes(after: place, limit: Self.pageSize)])[0] {
    case .notes(let notes): return notes
    case .failed(let error): throw Self.ofStore(error)
    default: return []
    }
  }

  /// Returns the ids of notes that the store no longer contains.
  private func gone(_ ids: [DocumentID]) throws(StoreError) -> [DocumentID] {
    var gone: [DocumentID] = []
    for (id, reply) in zip(ids, store.perform(ids.map { .note(id: $0) })) {
      switch reply {
      case .failed(.unknownDocument): gone.append(id)
      case .failed(.damaged): break
      case .failed(let error): throw error
      default: break
      }
    }
    return gone
  }

  // MARK: Searching

  /// Performs one step of a search.
  package mutating func reply(to search: SearchRequest) -> SearchReply {
    do throws(StoreError) {
      let index = try opened()
      switch search {
      case .find(let query, let count, let limit, let withFolders):
        let ids = try index.find(query, skipping: count, limit: limit)
        return .ids(ids, folders: withFolders ? try folders(of: ids) : [])
      case .tagged(let tag, let count, let limit, let withFolders):
        let ids = try index.find(tag: tag, skipping: count, limit: limit)
        return .ids(ids, folders: withFolders ? try folders(of: ids) : [])
      case .tags(let counting): return try tags(counting, in: index)
      case .places(let query, let ids): return .hits(try hits(query, ids, in: index))
      }
    } catch {
      if case .damaged = error { recover(from: error, at: SystemClock().uptime) }
      return .failed(error)
    }
  }

  /// Maximum tags in a reply, and approximate maximum of entries (a note with a tag) read for it.
  private static let tagsMax = 1_000
  private static let taggedMax = 100_000
  /// The number of entries read at a time.
  private static let taggedAtOnce = 10_000

  /// Counts the notes of each tag that exist and that `counting` includes.
  private func tags(
    _ counting: FolderCounting, in index: any SearchIndex
  ) throws(StoreError) -> SearchReply {
    var counts: [ExactName: Int] = [:]
    var scanned = 0
    if let names = counting.names {
      let notes = try notes(names).filter { counting.includes($0.id, madeAt: $0.createdAt) }
      // The index may still contain tags of an earlier note with the same id.
      for (note, state) in zip(notes, try index.states(of: notes.map(\.id)))
      where state?.createdAt == note.createdAt {
        for tag in try index.tags(of: note.id) { counts[ExactName(tag), default: 0] += 1 }
      }
    } else {
      var place: TaggedNote?
      while scanned < Self.taggedMax {
        let page = try index.tags(after: place, limit: Self.taggedAtOnce)
        for (found, folder) in zip(page, try folders(of: page.map(\.id))) {
          guard let folder,
            counting.includesAll(of: folder) || counting.includes(found.id, madeAt: nil)
          else { continue }
          counts[ExactName(found.tag), default: 0] += 1
        }
        scanned += page.count
        place = page.last
        if page.count < Self.taggedAtOnce { break }
      }
    }
    let sorted = counts.map { TagCount(tag: $0.text, notes: $1) }.sorted {
      $0.notes == $1.notes
        ? $0.tag.utf8.lexicographicallyPrecedes($1.tag.utf8) : $0.notes > $1.notes
    }
    return .tags(
      Array(sorted.prefix(Self.tagsMax)),
      isCut: scanned >= Self.taggedMax || sorted.count > Self.tagsMax)
  }

  /// Returns the current folders of notes from the store; the index does not contain folders.
  private func folders(of ids: [DocumentID]) throws(StoreError) -> [FolderPath?] {
    switch store.perform([.folders(.of(ids))])[0] {
    case .folders(.of(let folders)): return folders
    case .failed(let error): throw Self.ofStore(error)
    default: return []
    }
  }

  /// Returns the notes that still exist.
  private func notes(_ ids: [DocumentID]) throws(StoreError) -> [NoteSummary] {
    var notes: [NoteSummary] = []
    for reply in store.perform(ids.map { .note(id: $0) }) {
      switch reply {
      case .note(let note): notes.append(note)
      case .failed(.unavailable(let words)): throw .unavailable(words)
      default: break
      }
    }
    return notes
  }

  /// Returns the notes that still exist, each with its matching passage.
  private func hits(
    _ query: SearchQuery, _ ids: [DocumentID], in index: any SearchIndex
  ) throws(StoreError) -> [SearchHit] {
    let notes = try notes(ids)
    let states = try index.states(of: notes.map(\.id))
    var hits: [SearchHit] = []
    var left = Self.scanMaxOfAll
    // The index may still contain the text of an earlier note with the same id.
    for (note, state) in zip(notes, states) where state?.createdAt == note.createdAt {
      guard let text = try index.text(of: note.id) else { continue }
      // If a text is not searched, its beginning is shown.
      let scanned = text.unicodeScalars.prefix(
        max(SearchPassage.scalarsMax, min(left, Self.scanMax)))
      left -= min(left, scanned.count)
      hits.append(
        SearchHit(
          note: note, titleMarks: SearchPassage.marks(of: query, in: note.title),
          place: SearchPassage(of: query, in: String(scanned))))
    }
    return hits
  }
}
