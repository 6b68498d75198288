package import GatewayPorts

/// Requests, each within the transaction under way.
extension SQLStore {
  package func reply(to request: StoreRequest) -> StoreReply {
    do throws(StoreError) {
      switch request {
      case .create(let id, let epoch, let title, let time, let folder):
        noteTime(time)
        return .note(try create(id, epoch: epoch, title: title, time: time, folder: folder))
      case .rename(let id, let title, let time):
        return .note(try rename(id, title: title, time: time))
      case .delete(let id, let deletion):
        try delete(id, keeping: deletion)
        return .done
      case .deleted(let request):
        return try reply(to: request)
      case .note(let id):
        return .note(try existingRow(id).summary)
      case .list:
        return .notes(try list())
      case .notes(let place, let limit):
        return .notes(try notes(after: place, limit: limit))
      case .load(let id, let recentMax):
        return .document(try load(id, recentMax: recentMax))
      case .entries(let id, let after, let through, let bytesMax):
        return .entries(
          try entries(of: existingRow(id), after: after, through: through, bytesMax: bytesMax))
      case .snapshot(let id, let epoch, let revision, let text):
        try offerSnapshot(id, epoch: epoch, revision: revision, text: text)
        return .done
      case .text(let id, let point):
        return .text(try text(id, at: point))
      case .history(let id, let after, let limit, let pause):
        return .history(try history(id, after: after, limit: limit, pause: pause))
      case .past(let id, .sessions(let before, let limit, let pause)):
        return .editingSessions(
          try editingSessions(id, before: before, limit: limit, pause: pause))
      case .past(let id, .difference(let from, let to)):
        return .difference(try difference(id, from: from, to: to))
      case .versions(let id):
        return .versions(try versions(id))
      case .saveVersion(let id, let epoch, let version):
        try save(version, of: id, epoch: epoch)
        return .done
      case .deleteVersion(let id, let revision):
        try deleteVersion(id, revision: revision)
        return .done
      case .renewEpoch(let id, let from, let to):
        try renewEpoch(id, from: from, to: to)
        return .done
      case .compact(let id, let through):
        try compact(id, through: through)
        return .done
      case .room(let request):
        return .room(try reply(to: request))
      case .people(let request):
        return .people(try reply(to: request))
      case .groups(let request):
        return .groups(try reply(to: request))
      case .files(let request):
        return .files(try reply(to: request))
      case .comments(let request):
        return .comments(try reply(to: request))
      case .logins(let request):
        return .logins(try reply(to: request))
      case .links(let request):
        return .links(try reply(to: request))
      case .folders(let request):
        return .folders(try reply(to: request))
      case .within(let condition, let work):
        guard try holds(condition) else { throw .outOfReach }
        return reply(to: work)
      case .once(let request):
        return try reply(to: request)
      case .tell(let drafts):
        for draft in drafts { try add(draft) }
        return .done
      case .append(_, _, let entries, _):
        if let last = entries.last { noteTime(last.time) }
        return try ownReply(to: request)
      case .news, .heads, .fence, .wipeFailedCommits, .probe: return try ownReply(to: request)
      }
    } catch {
      return .failed(error)
    }
  }
}
