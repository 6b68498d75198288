import OTCore
import SocketMessages

// The other people in a note, and all carets.

extension NoteMachine {
  mutating func presence(_ presence: ServerMessage.Presence, _ turn: inout Turn) {
    guard phase == .live else { return }
    // The message contains no revision, so its carets may refer to another text.
    listPeople(
      joined: presence.joined, updated: presence.updated, left: presence.left,
      count: presence.people, hasSelections: false, &turn)
  }

  mutating func listPeople(
    joined: [ServerMessage.Participant], updated: [ServerMessage.Participant], left: [String],
    count: Int?, hasSelections: Bool, _ turn: inout Turn
  ) {
    let placing = hasSelections ? PositionMapper(replica) : nil
    people.take(
      joined: joined, updated: updated, left: left, count: count, except: turn.clientID,
      place: placing.map { placing in { placing.onScreen($0) } })
    tell(.people, &turn)
    tell(.carets, &turn)
  }

  mutating func selections(_ selections: ServerMessage.Selections, _ turn: inout Turn) {
    guard phase == .live, let replica, replica.synchronizer.revision == selections.revision else {
      return
    }
    let placed = PositionMapper(replica)?.onScreen(selections.selections) ?? []
    if people.set(placed, of: selections.clientID) { tell(.carets, &turn) }
  }

  /// Moves the carets of all people after a change of the text on the screen.
  mutating func movePeople(over operation: TextOperation, by author: String?, isOwn: Bool) {
    people.move(over: operation, by: author)
    for index in selections.indices {
      selections[index] = selections[index].transformed(over: operation, own: isOwn)
    }
  }

  // MARK: Carets of this person

  mutating func select(_ selections: [Selection], _ turn: inout Turn) {
    guard selections != self.selections else { return }
    self.selections = Array(selections.prefix(max(0, turn.limits.selectionsMax)))
    selectionIsUnsent = true
    scheduleSelection(&turn)
  }

  mutating func scheduleSelection(_ turn: inout Turn) {
    if selectAt == nil, phase == .live { selectAt = turn.after(timing.selectEvery) }
  }

  mutating func sendSelection(_ turn: inout Turn) {
    guard phase == .live, turn.isOnline, selectionIsUnsent, !selections.isEmpty, let replica,
      // Positions refer to the server's text, so the selection is sent once the last edit is
      // confirmed. Until then, other clients move this caret by the edits themselves.
      replica.synchronizer.unconfirmedCount == 0
    else { return }
    selectionIsUnsent = false
    let end = replica.local.text.scalarCount
    let inside = selections.map {
      Selection(anchor: min(max($0.anchor, 0), end), head: min(max($0.head, 0), end))
    }
    selectMessage = turn.send(
      .select(
        .init(
          documentID: documentID, revision: replica.synchronizer.revision, selections: inside)))
  }
}

/// Maps positions in the server's text to positions on the screen.
private struct PositionMapper {
  private let end: Int
  private let pending: TextOperation?

  init?(_ replica: NoteMachine.Replica?) {
    guard let replica else { return nil }
    end = replica.server.text.scalarCount
    pending = replica.synchronizer.pending?.text
  }

  func onScreen(_ selections: [Selection]) -> [Selection] {
    selections.map { selection in
      let inside = Selection(
        anchor: min(max(selection.anchor, 0), end), head: min(max(selection.head, 0), end))
      return pending.map { inside.transformed(over: $0, own: false) } ?? inside
    }
  }
}
