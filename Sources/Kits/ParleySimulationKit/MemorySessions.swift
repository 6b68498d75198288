import ParleyGatewayPorts
import ParleyJSON

/// Sessions and links, in memory.
struct MemorySessions {
  private var sessions: [Session] = []
  private var links: [(link: NoteLink, key: String)] = []

  mutating func reply(to request: SessionRequest) -> SessionReply {
    switch request {
    case .begin(let session, let countMax):
      sessions.removeAll { $0.expiresAt <= session.begunAt }
      sessions.append(session)
      let others = list(session.user).filter { $0.id != session.id }
      return .begun(ended: remove(others.dropFirst(max(countMax - 1, 0)).map(\.id)))
    case .renew(let id, let user, let turn, let now, let rule):
      guard let place = sessions.firstIndex(where: { $0.id == id && $0.user == user }) else {
        return .unknown
      }
      let renewal = sessions[place].renew(turn: turn, now: now, rule)
      let session = sessions[place]
      switch renewal {
      case .renewed, .repeated, .reused: break
      case .expired: sessions.remove(at: place)
      }
      return .renewed(session, renewal)
    case .list(let user, let now): return .sessions(list(user).filter { $0.expiresAt > now })
    case .end(let user, let choice):
      return .ended(remove(list(user).map(\.id).filter(choice.includes)))
    }
  }

  private func list(_ user: String) -> [Session] {
    sessions.filter { $0.user.isExactly(user) }.sorted {
      $0.renewedAt == $1.renewedAt ? $0.id < $1.id : $0.renewedAt > $1.renewedAt
    }
  }

  private mutating func remove(_ ids: [String]) -> [Session] {
    let removed = ids.compactMap { id in sessions.first { $0.id == id } }
    sessions.removeAll { ids.contains($0.id) }
    return removed
  }

  /// - Parameter summary: Returns the summary of a note; `nil` if the note does not exist.
  mutating func reply(
    to request: LinkRequest, summary: (DocumentID) -> NoteSummary?
  ) throws(StoreError) -> LinkReply {
    switch request {
    case .make(let link, let key, let countMax):
      guard summary(link.note) != nil else { throw .unknownDocument }
      links.removeAll { $0.link.expiresAt <= link.createdAt }
      if links.contains(where: { $0.link.id == link.id }) { return .made }
      guard list(of: link.note).count < countMax else { return .tooMany }
      links.append((link, key))
      return .made
    case .open(let key, let now):
      guard let found = links.first(where: { $0.key == key })?.link, found.expiresAt > now,
        let title = summary(found.note)?.title
      else { return .unknown }
      return .link(found, title: title)
    case .list(let note, let now):
      return .links(list(of: note).filter { $0.expiresAt > now }, in: summary(note)?.folder)
    case .end(let note, let id):
      guard summary(note) != nil else { throw .unknownDocument }
      let ended = list(of: note).filter { link in id.map { link.id == $0 } ?? true }
      links.removeAll { ended.contains($0.link) }
      return .ended(ended)
    case .names: preconditionFailure("names are MemoryNames' work")
    }
  }

  /// Deletes the links of an earlier note with this id.
  mutating func endLinks(of note: DocumentID) {
    links.removeAll { $0.link.note == note }
  }

  private func list(of note: DocumentID) -> [NoteLink] {
    links.map(\.link).filter { $0.note == note }.sorted {
      $0.createdAt == $1.createdAt ? $0.id < $1.id : $0.createdAt > $1.createdAt
    }
  }
}
