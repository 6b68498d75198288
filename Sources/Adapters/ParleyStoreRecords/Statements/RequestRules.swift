package import ParleyGatewayPorts

/// All requests to a store, each within the current transaction.
package struct RequestRules<Store: SQLStore> {
  let store: Store
  private var notes: NoteRules<Store> { NoteRules(store: store) }
  private var texts: TextRules<Store> { TextRules(store: store) }
  private var histories: HistoryRules<Store> { HistoryRules(store: store) }
  private var versions: VersionRules<Store> { VersionRules(store: store) }

  package init(store: Store) { self.store = store }

  package func reply(to request: StoreRequest) -> StoreReply {
    do throws(StoreError) {
      switch request {
      case .create(let id, let epoch, let title, let time, let folder, let kind):
        store.context.noteTime(time)
        return .note(
          try notes.create(id, epoch: epoch, title: title, time: time, folder: folder, kind: kind))
      case .rename(let id, let title, let time):
        return .note(try notes.rename(id, title: title, time: time))
      case .delete(let id, let deletion):
        try notes.delete(id, keeping: deletion)
        return .done
      case .deleted(let request):
        return try DeletionRules(store: store).reply(to: request)
      case .note(let id):
        return .note(try store.existingRow(id).summary)
      case .list:
        return .notes(try notes.list())
      case .notes(let place, let limit):
        return .notes(try notes.notes(after: place, limit: limit))
      case .load(let id, let recentMax):
        return .document(try texts.load(id, recentMax: recentMax))
      case .entries(let id, let after, let through, let bytesMax):
        return .entries(
          try LogRules(store: store).entries(
            of: store.existingRow(id), after: after, through: through, bytesMax: bytesMax))
      case .snapshot(let id, let epoch, let revision, let text):
        try texts.offerSnapshot(id, epoch: epoch, revision: revision, text: text)
        return .done
      case .text(let id, let point):
        return .text(try texts.text(id, at: point))
      case .history(let id, let after, let limit, let pause):
        return .history(try histories.history(id, after: after, limit: limit, pause: pause))
      case .past(let id, .sessions(let before, let limit, let pause)):
        return .editingSessions(
          try histories.editingSessions(id, before: before, limit: limit, pause: pause))
      case .past(let id, .difference(let from, let to)):
        return .difference(try histories.difference(id, from: from, to: to))
      case .versions(let id):
        return .versions(try versions.versions(id))
      case .saveVersion(let id, let epoch, let version):
        try versions.save(version, of: id, epoch: epoch)
        return .done
      case .deleteVersion(let id, let revision):
        try versions.deleteVersion(id, revision: revision)
        return .done
      case .renewEpoch(let id, let from, let to):
        try notes.renewEpoch(id, from: from, to: to)
        return .done
      case .compact(let id, let through):
        try CompactionRules(store: store).compact(id, through: through)
        return .done
      case .room(let request):
        return .room(try RoomRules(store: store).reply(to: request))
      case .people(let request):
        return .people(try PeopleRules(store: store).reply(to: request))
      case .groups(let request):
        return .groups(try GroupRules(store: store).reply(to: request))
      case .files(let request):
        return .files(try FileRules(store: store).reply(to: request))
      case .comments(let request):
        return .comments(try CommentRules(store: store).reply(to: request))
      case .logins(let request):
        return .logins(try LoginRules(store: store).reply(to: request))
      case .links(let request):
        return .links(try LinkRules(store: store).reply(to: request))
      case .folders(let request):
        return .folders(try FolderRules(store: store).reply(to: request))
      case .notices(let request):
        return .notices(try NoticeRules(store: store).reply(to: request))
      case .notifying(let drafts, let work):
        let reply = reply(to: work)
        try NoticeRules(store: store).add(drafts, of: reply)
        return reply
      case .audit(let request):
        return .audit(try AuditRules(store: store).reply(to: request))
      case .audited(let record, let work):
        let reply = reply(to: work)
        try AuditRules(store: store).record(record, of: reply)
        return reply
      case .within(let condition, let work):
        guard try FolderRules(store: store).holds(condition) else { throw .outOfReach }
        return reply(to: work)
      case .once(.answer(let asked, _)):
        return try OnceRules(store: store).answer(asked)
      case .once(.perform(let work, let drafts, let memory)):
        return try OnceRules(store: store).kept(reply(to: work), drafts, memory)
      case .once(.create(let draft, let epoch, let restMax)):
        return .once(try OnceRules(store: store).create(draft, epoch: epoch, restMax: restMax))
      case .tell(let drafts):
        let queues = QueueRules(store: store)
        for draft in drafts { try queues.add(draft) }
        return .done
      case .append(_, _, let entries, _):
        if let last = entries.last { store.context.noteTime(last.time) }
        return try store.ownReply(to: request)
      case .news, .heads, .fence, .rollBackFailedCommits, .probe:
        return try store.ownReply(to: request)
      }
    } catch {
      return .failed(error)
    }
  }
}
