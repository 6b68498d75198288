import ParleyGatewayPorts

/// The notices of people, in memory.
struct MemoryNotices {
  private struct Entry {
    var notice: Notice
    let person: PersonID
    /// Counts the person's notices.
    let place: Int
    /// The note, which another one with the same id may follow.
    let owner: ObjectIdentifier
  }

  /// Oldest first.
  private var entries: [Entry] = []
  private var lastNumber = 0

  /// A note that is not deleted.
  typealias LiveNote = (owner: ObjectIdentifier, summary: NoteSummary)

  /// Performs a request other than ``NoticeRequest/audience(note:thread:)``.
  mutating func reply(
    to request: NoticeRequest, _ note: (DocumentID) -> LiveNote?
  ) -> NoticeReply {
    switch request {
    case .add(let draft):
      add(draft, note)
      return .added
    case .list(let person, let before, let limit):
      let limit = max(limit, 1)
      let all = entries.reversed().compactMap { entry -> ListedNotice? in
        guard entry.person == person, entry.notice.number < before ?? .max,
          let live = note(entry.notice.note), live.owner == entry.owner
        else { return nil }
        return ListedNotice(
          entry.notice, title: live.summary.title, folder: live.summary.folder,
          createdAt: live.summary.createdAt)
      }
      let page = Array(all.prefix(limit))
      return .list(page, next: page.count < limit ? nil : page.last?.notice.number)
    case .unread(let person):
      var counts: [DocumentID: UnreadNotices] = [:]
      for entry in entries where entry.person == person && !entry.notice.isRead {
        guard let live = note(entry.notice.note), live.owner == entry.owner else { continue }
        counts[
          entry.notice.note,
          default: UnreadNotices(
            note: entry.notice.note, folder: live.summary.folder,
            createdAt: live.summary.createdAt, count: 0)
        ].count += 1
      }
      return .unread(Array(counts.values))
    case .read(let person, let choice): return .marked(markRead(choice, of: person, note))
    case .audience: preconditionFailure("the store reads the comments of a note")
    case .remove(let person, let limit):
      return .removed(hasMore: remove(limit) { $0.person == person } >= limit)
    case .trim(let rule, let now, let limit):
      let old = remove(limit) { $0.notice.time <= now - rule.milliseconds }
      let newest = entries.last?.notice.number ?? 0
      let beyond = remove(limit) { $0.notice.number <= newest - rule.countMax }
      return .removed(hasMore: max(old, beyond) >= limit)
    }
  }

  /// Adds notices about work with this reply.
  mutating func add(
    _ drafts: [NoticeDraft], of reply: StoreReply, _ note: (DocumentID) -> LiveNote?
  ) {
    guard reply.causesNotices else { return }
    for draft in drafts { add(draft, note) }
  }

  /// Removes all notices about a note that is removed permanently.
  mutating func remove(_ owner: ObjectIdentifier) { entries.removeAll { $0.owner == owner } }

  private mutating func add(_ draft: NoticeDraft, _ note: (DocumentID) -> LiveNote?) {
    guard let owner = note(draft.notice.note)?.owner else { return }
    for person in draft.people {
      let own = entries.filter { $0.person == person }
      let isSuperfluous = own.contains { entry in
        entry.owner == owner && entry.notice.comment == draft.notice.comment
          && entry.notice.kind == draft.notice.kind
          && (draft.notice.kind.isOncePerComment || !entry.notice.isRead)
      }
      guard !isSuperfluous else { continue }
      lastNumber += 1
      var notice = draft.notice
      notice.number = lastNumber
      let place = (own.last?.place ?? 0) + 1
      entries.append(Entry(notice: notice, person: person, place: place, owner: owner))
      guard place > Notice.countMax else { continue }
      entries.removeAll { $0.person == person && $0.place <= place - Notice.countMax }
    }
  }

  private mutating func markRead(
    _ choice: NoticeChoice, of person: PersonID, _ note: (DocumentID) -> LiveNote?
  ) -> Int {
    var count = 0
    for index in entries.indices {
      let entry = entries[index]
      guard entry.person == person, !entry.notice.isRead else { continue }
      let isMeant =
        switch choice {
        case .one(let number): entry.notice.number == number
        case .ofNote(let id, let number):
          entry.notice.number <= number && note(id)?.owner == entry.owner
        case .all(let number): entry.notice.number <= number
        }
      guard isMeant else { continue }
      entries[index].notice.isRead = true
      count += 1
    }
    return count
  }

  /// Removes the oldest notices of a kind, at most `limit`. Returns their number.
  private mutating func remove(_ limit: Int, where isMeant: (Entry) -> Bool) -> Int {
    var count = 0
    entries.removeAll { entry in
      guard count < limit, isMeant(entry) else { return false }
      count += 1
      return true
    }
    return count
  }
}
