import ParleyGatewayPorts
import ParleyJSON

/// The maximum expired links that one request deletes.
private let expiredMax = 100

/// Links to notes, stored with the hashes of their keys.
struct LinkRules<Store: NoteTable> {
  let store: Store
  private var names: NameRules<Store> { NameRules(store: store) }

  func reply(to request: LinkRequest) throws(StoreError) -> LinkReply {
    switch request {
    case .make(let link, let key, let countMax):
      // Lock the note's row, so that concurrent requests do not exceed the maximum.
      _ = try store.existingRow(link.note)
      store.context.noteTime(link.createdAt)
      try removeExpiredLinks(now: link.createdAt)
      let kept = try links(of: link.note)
      if kept.contains(where: { $0.id.isExactly(link.id) }) { return .made }
      // Some expired links may remain.
      let counting = kept.count { $0.expiresAt > link.createdAt }
      guard counting < countMax else { return .tooMany }
      try store.change(
        """
        INSERT INTO note_links (id, note, hash, access, maker, created, expires)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """, link.id, link.note, hash(ofKey: key), link.access.rawValue, link.maker,
        link.createdAt, link.expiresAt)
      return .made
    case .open(let key, let now):
      let link = try store.first(
        Self.selectLinks + " WHERE hash = $1", hash(ofKey: key)
      ) {
        Self.link($0)
      }
      guard let link, link.expiresAt > now else { return .unknown }
      let title = try store.first("SELECT title FROM documents WHERE id = $1", link.note) {
        $0.text(0)
      }
      return title.map { .link(link, title: $0) } ?? .unknown
    case .list(let note, let now):
      return .links(
        try links(of: note).filter { $0.expiresAt > now }, in: try store.row(note)?.folder)
    case .end(let note, let id):
      _ = try store.existingRow(note)
      let ended = try links(of: note).filter { link in
        id.map { link.id.isExactly($0) } ?? true
      }
      for link in ended { try store.change("DELETE FROM note_links WHERE id = $1", link.id) }
      return .ended(ended)
    case .names(let request): return .names(try names.reply(to: request))
    }
  }

  private func hash(ofKey key: String) -> Blob {
    Blob(store.context.hasher.hash(ofFile: Array(key.utf8)).bytes)
  }

  private static var selectLinks: String {
    "SELECT id, note, access, maker, created, expires FROM note_links"
  }

  private static func link(_ row: Store.Row) -> NoteLink {
    NoteLink(
      id: row.text(0), note: row.name(1),
      access: NoteLink.Access(rawValue: row.integer(2)) ?? .read, maker: row.text(3),
      createdAt: Timestamp(row.integer(4)), expiresAt: Timestamp(row.integer(5)))
  }

  private func links(of note: DocumentID) throws(StoreError) -> [NoteLink] {
    try store.rows(Self.selectLinks + " WHERE note = $1 ORDER BY created DESC, id", note) {
      Self.link($0)
    }
  }

  private func removeExpiredLinks(now: Timestamp) throws(StoreError) {
    try store.change(
      """
      DELETE FROM note_links WHERE id IN (SELECT id FROM note_links
        WHERE expires <= $1 ORDER BY expires LIMIT \(expiredMax)\(store.skippingLocked))
      """, now)
  }
}
