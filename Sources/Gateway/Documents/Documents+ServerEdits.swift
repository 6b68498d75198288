import ParleyGatewayPorts
import OTCore
import SocketMessages

/// Edits and versions over HTTP, ordered with the followers' changes.
extension Documents {
  /// Submits an HTTP edit to a document, or queues it. It is answered once it is durable.
  func edit(_ id: DocumentID, _ edit: ServerEdit) {
    guard !board.isDraining else {
      respond(edit.request, .problem(503, .unavailable, "the server is shutting down"))
      return
    }
    guard !backlog.isFull else { return refuseForBacklog(edit.request) }
    let room = room(of: id)
    guard mayBegin(.edit(edit), in: room) else {
      guard mayWait(in: room) else { return refusals.respondBusy(edit.request) }
      room.waiting.append(.edit(edit))
      return
    }
    submit(edit, to: room)
  }

  /// Converts an edit to an operation, and submits it.
  func submit(_ edit: ServerEdit, to room: DocumentRoom) {
    guard let live = room.live else { return }
    guard edit.isGranted(on: live, owner) else { return respond(edit.request, .notGranted) }
    if edit.needsNews(of: live) {
      guard room.waitingCount < settings.waitingMax else {
        return refusals.respondBusy(edit.request)
      }
      return ask(.edit(edit), in: room)
    }
    if let expected = edit.expected, expected != live.headRevision {
      return respond(edit.request, .outdated(expected: expected, head: live.headRevision))
    }
    let change: ServerEdit.Content.Change
    if case .change(let known) = edit.content {
      change = known
    } else {
      turn.spend(edit.work(in: live))
      change = edit.content.change(of: live)
    }
    if edit.skipsIdentity, change.isIdentity {
      // The edit changes nothing, and its base is durable already.
      respond(edit.request, .edited(max(change.revision, live.durableRevision)))
      return
    }
    if !edit.content.isChange {
      var later = edit
      later.content = .change(change)
      guard mayBegin(.edit(later), in: room) else { return room.waiting.append(.edit(later)) }
    }
    let submission = LiveDocument.Submission(
      client: dependencies.names.next(), sequence: 0, revision: change.revision,
      operation: change.operation, format: change.format, knowsFormats: change.knowsFormats,
      author: edit.author, time: dependencies.clock.now, isResendable: false)
    switch sequence(submission, in: room) {
    case .accepted(let revision):
      room.changes.expect(
        edit.request.map { .init(request: $0, expected: edit.expected) }, as: revision)
      room.changes.add(submission, at: dependencies.clock.microseconds, to: &backlog)
      commit(room)
    case .refused(let refusal):
      refusals.respond(edit.request, refusal)
    case .tooMuchHistory: respond(edit.request, .baseGone)
    case .needsHistory(let after, let through):
      guard live.durableRevision - after <= settings.lagRevisionsMax else {
        return respond(edit.request, .baseGone)
      }
      room.waiting.append(.edit(edit))
      readHistory(of: room, after: after, through: through)
    case .duplicate, .duplicatePending, .undecided, nil:
      preconditionFailure("a new client's first change is never known already, nor exact")
    }
  }

  /// Answers the HTTP edits that have become durable.
  func answerEdits(_ entries: ArraySlice<LogEntry>, in room: DocumentRoom) {
    for entry in entries {
      if let edit = room.changes.takeEdit(entry.revision) {
        respond(edit.request, .edited(entry.revision))
      }
    }
  }

  /// Saves a named version of a document, or queues the request while the document is busy.
  func save(_ naming: VersionNaming, of id: DocumentID) {
    let room = room(of: id)
    guard !room.isBusy else {
      guard room.waitingCount < settings.waitingMax else {
        return refusals.respondBusy(naming.request)
      }
      room.waiting.append(.version(naming))
      return
    }
    save(naming, of: room)
  }

  /// Saves a named version of a document that is in memory.
  func save(_ naming: VersionNaming, of room: DocumentRoom) {
    guard let epoch = room.live?.epoch else { return }
    owner?.save(naming, epoch: epoch, of: room.id)
  }
}

extension ServerEdit.Content {
  /// Returns the edit as a change: the difference to its base.
  fileprivate func change(of live: LiveDocument) -> Change {
    switch self {
    case .text(let text, let base):
      return Change(
        operation: (base?.content ?? live.durableContent).change(toText: text),
        revision: base?.revision ?? live.durableRevision)
    case .content(let content, let base, let makesRich):
      let difference = (base?.content ?? live.durableContent).change(to: content)
      return Change(
        operation: difference.text,
        format: ChangeFormat(difference.format, makesRich: makesRich && !live.isRich),
        knowsFormats: true, revision: base?.revision ?? live.durableRevision)
    case .change(let change): return change
    }
  }
}
