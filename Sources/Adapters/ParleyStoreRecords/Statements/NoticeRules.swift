import ParleyGatewayPorts

/// The notices of people, one row for each person.
///
/// A row counts its person's notices (`place`), so that the oldest can be removed without counting.
struct NoticeRules<Store: LogTable> {
  let store: Store

  /// Maximum old notices of a person that are removed when one is added.
  private static var trimMax: Int { 8 }

  func reply(to request: NoticeRequest) throws(StoreError) -> NoticeReply {
    switch request {
    case .add(let draft):
      try add(draft)
      return .added
    case .list(let person, let before, let limit):
      let limit = max(limit, 1)
      let notices = try list(person, before: before ?? .max, limit: limit)
      return .list(notices, next: notices.count < limit ? nil : notices.last?.notice.number)
    case .unread(let person): return .unread(try unread(person))
    case .read(let person, let choice): return .marked(try markRead(choice, of: person))
    case .audience(let note, let thread):
      let row = try store.existingRow(note)
      let writers = try thread.map { id throws(StoreError) in
        try CommentRules(store: store).rows(of: row).writers(of: id)
      }
      return .audience(folder: row.folder, createdAt: row.createdAt, writers: writers ?? [])
    case .remove(let person, let limit):
      let count = try store.changedRows(
        """
        DELETE FROM notices WHERE number IN
          (SELECT number FROM notices WHERE person = $1 ORDER BY number LIMIT $2)
        """, person.text, limit)
      return .removed(hasMore: count >= limit)
    case .trim(let rule, let now, let limit):
      return .removed(hasMore: try trim(rule, now: now, limit: limit))
    }
  }

  /// Adds notices about work in the same transaction, if the work has changed the store.
  func add(_ drafts: [NoticeDraft], of reply: StoreReply) throws(StoreError) {
    guard reply.causesNotices else { return }
    for draft in drafts { try add(draft) }
  }

  // MARK: Adding

  private func add(_ draft: NoticeDraft) throws(StoreError) {
    let notice = draft.notice
    guard let row = try store.row(notice.note) else { return }
    store.context.noteTime(notice.time)
    for person in draft.people where try !hasNotice(like: notice, person, document: row.number) {
      let last = try store.first(
        "SELECT place FROM notices WHERE person = $1 ORDER BY number DESC LIMIT 1", person.text
      ) { $0.integer(0) }
      let place = (last ?? 0) + 1
      try store.change(
        """
        INSERT INTO notices
          (person, place, document, kind, comment, thread, author, time, seen, checksum)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, $9)
        """, person.text, place, row.number, notice.kind.rawValue, notice.comment ?? "",
        notice.thread ?? "", notice.author, notice.time,
        checksum(of: notice, person.text, document: row.number))
      guard place > Notice.countMax else { continue }
      try store.change(
        """
        DELETE FROM notices WHERE number IN (SELECT number FROM
          (SELECT number, place FROM notices WHERE person = $1 ORDER BY number LIMIT $2) AS first
          WHERE place <= $3)
        """, person.text, Self.trimMax, place - Notice.countMax)
    }
  }

  /// Whether a person already has a notice that makes this one superfluous.
  private func hasNotice(
    like notice: Notice, _ person: PersonID, document: Int
  ) throws(StoreError) -> Bool {
    let state = notice.kind.isOncePerComment ? "" : " AND seen = 0"
    return try store.first(
      """
      SELECT 1 FROM notices
      WHERE document = $1 AND comment = $2 AND person = $3 AND kind = $4\(state) LIMIT 1
      """, document, notice.comment ?? "", person.text, notice.kind.rawValue
    ) { _ in true } ?? false
  }

  private func checksum(of notice: Notice, _ person: String, document: Int) -> RecordChecksum {
    store.context.hasher.begin(.notice)
    store.context.hasher.add(document)
    store.context.hasher.add(notice.kind.rawValue)
    store.context.hasher.add(Int(notice.time))
    for text in [person, notice.comment ?? "", notice.thread ?? "", notice.author] {
      store.context.hasher.add(text)
    }
    return store.context.hasher.checksum()
  }

  // MARK: Reading

  private func list(
    _ person: PersonID, before number: Int, limit: Int
  ) throws(StoreError) -> [ListedNotice] {
    try store.rows(
      """
      SELECT n.number, n.document, n.kind, n.comment, n.thread, n.author, n.time, n.seen,
        n.checksum, n.person, d.id, d.title, d.folder, d.created
      FROM notices n JOIN documents d ON d.number = n.document
      WHERE n.person = $1 AND n.number < $2 ORDER BY n.number DESC LIMIT $3
      """, person.text, number, limit
    ) { row throws(StoreError) in
      guard let notice = notice(in: row, of: row.name(10)) else {
        throw .damaged("the notice \(row.integer(0)) differs from its checksum; \(damageAdvice)")
      }
      return ListedNotice(
        notice, title: row.text(11), folder: FolderPath(stored: row.text(12)),
        createdAt: Timestamp(row.integer(13)))
    }
  }

  /// Returns the notice in a row; `nil` if it differs from its checksum.
  private func notice(in row: Store.Row, of note: DocumentID) -> Notice? {
    guard let kind = NoticeKind(rawValue: row.integer(2)) else { return nil }
    let (comment, thread) = (row.text(3), row.text(4))
    let notice = Notice(
      number: row.integer(0), kind: kind, note: note, comment: comment.isEmpty ? nil : comment,
      thread: thread.isEmpty ? nil : thread, author: row.text(5), time: Timestamp(row.integer(6)),
      isRead: row.integer(7) != 0)
    let expected = checksum(of: notice, row.text(9), document: row.integer(1))
    return row.withBytes(8, { RecordChecksum($0) }) == expected ? notice : nil
  }

  private func unread(_ person: PersonID) throws(StoreError) -> [UnreadNotices] {
    try store.rows(
      """
      SELECT d.id, d.folder, d.created, n.count FROM
        (SELECT document, count(*) AS count FROM notices WHERE person = $1 AND seen = 0
          GROUP BY document) AS n
      JOIN documents d ON d.number = n.document
      """, person.text
    ) { row in
      UnreadNotices(
        note: row.name(0), folder: FolderPath(stored: row.text(1)),
        createdAt: Timestamp(row.integer(2)), count: row.integer(3))
    }
  }

  /// Verifies all notices.
  func check(_ findings: inout StoreFindings) throws(StoreError) {
    var (place, pageCount) = (Int.max, 1_000)
    while pageCount == 1_000 {
      let rows = try store.rows(
        """
        SELECT number, document, kind, comment, thread, author, time, seen, checksum, person
        FROM notices WHERE number < $1 ORDER BY number DESC LIMIT 1000
        """, place
      ) { row in (number: row.integer(0), isSound: notice(in: row, of: "") != nil) }
      for row in rows where !row.isSound {
        findings.add(
          nil, "the notice \(row.number) differs from its checksum; \(damageAdvice)")
      }
      place = rows.last?.number ?? place
      pageCount = rows.count
    }
  }

  // MARK: Marking as read

  private func markRead(
    _ choice: NoticeChoice, of person: PersonID
  ) throws(StoreError) -> Int {
    switch choice {
    case .one(let number):
      try store.changedRows(
        "UPDATE notices SET seen = 1 WHERE number = $1 AND person = $2 AND seen = 0", number,
        person.text)
    case .ofNote(let note, let number):
      try store.changedRows(
        """
        UPDATE notices SET seen = 1 WHERE person = $1 AND seen = 0 AND number <= $3
          AND document = (SELECT number FROM documents WHERE id = $2)
        """, person.text, note, number)
    case .all(let number):
      try store.changedRows(
        "UPDATE notices SET seen = 1 WHERE person = $1 AND seen = 0 AND number <= $2",
        person.text, number)
    }
  }

  // MARK: Bounds

  /// Removes notices beyond the bounds. Returns whether more may remain.
  private func trim(_ rule: NoticeRule, now: Timestamp, limit: Int) throws(StoreError) -> Bool {
    let old = try store.changedRows(
      """
      DELETE FROM notices WHERE number IN (SELECT number FROM
        (SELECT number, time FROM notices ORDER BY number LIMIT $1) AS first WHERE time <= $2)
      """, limit, now - rule.milliseconds)
    let newest = try store.first("SELECT max(number) FROM notices") { $0.integer(0) } ?? 0
    let beyond = try store.changedRows(
      """
      DELETE FROM notices WHERE number IN
        (SELECT number FROM notices WHERE number <= $1 ORDER BY number LIMIT $2)
      """, newest - rule.countMax, limit)
    return max(old, beyond) >= limit
  }
}
