import OTCore
import SocketMessages

// The stored state of a note, and the times of storing it.

/// The stored state of a note, as far as this client knows.
struct Keeping: Sendable {
  /// The time at which unconfirmed edits are stored.
  var at: Int64?
  /// Whether a state is stored, or is being stored.
  private(set) var isThere = false
  /// Whether the next change contains more than the stored state. A process restored from that
  /// state would send edits twice.
  private(set) var isOutdated = false
  /// Whether the last write has failed.
  private(set) var isFailing = false
  /// Whether the last write has succeeded.
  private(set) var isDone = false
  /// The last write: whether it was required, and whether it replaced an outdated state.
  private var wasRequired = false
  private var wasOutdated = false
  private var delay: Int64?

  /// Continues from a restored state.
  mutating func restored() {
    isThere = true
    isOutdated = true
  }

  /// The unconfirmed edits differ from the stored state from now on.
  mutating func goBeyond() { isOutdated = isThere }

  /// A write was requested.
  mutating func asked(isRequired: Bool) {
    at = nil
    isDone = false
    wasRequired = isRequired
    wasOutdated = isOutdated
    isThere = true
    isOutdated = false
  }

  /// A write has succeeded.
  mutating func done(took: Int64, _ timing: ClientTiming) {
    isFailing = false
    isDone = true
    // The delay grows with the duration of the write, so that writing takes a small share of the
    // time. With these bounds, wrapping arithmetic is exact; checked arithmetic would need a
    // library on 32 bits.
    let share = min(max(took, 0), 3_600_000) &* timing.keepShare
    delay = min(max(timing.keepAfter, share), timing.keepWithin)
  }

  /// A write has failed and is retried at `again`.
  mutating func failed(again: Int64?) {
    isFailing = again != nil
    at = again
    // After a required write, the former state has been deleted, see
    // ``NoteAction/keep(_:isRequired:)``; otherwise it is still stored.
    if wasRequired { isThere = false } else { isOutdated = wasOutdated && isThere }
  }

  /// The client has no storage.
  mutating func came(toNothing timing: ClientTiming) {
    forgotten()
    delay = timing.keepWithin
  }

  /// There is nothing to store.
  mutating func forgotten() {
    at = nil
    isThere = false
    isOutdated = false
    isFailing = false
  }

  /// Schedules a write of the unconfirmed edits.
  mutating func schedule(_ turn: Turn, _ timing: ClientTiming) {
    if at == nil { at = turn.after(delay ?? timing.keepAfter) }
  }
}

extension NoteMachine {
  /// Updates storage after a change of the unconfirmed edits: schedules a write, or deletes the
  /// stored state.
  mutating func unconfirmedMoved(_ turn: inout Turn) {
    if unconfirmed == 0 {
      forget(&turn)
      if selectionIsUnsent { scheduleSelection(&turn) }
    } else {
      keeping.schedule(turn, timing)
    }
  }

  /// Stores the unconfirmed edits. If there are none, deletes the stored state.
  ///
  /// - Parameter isRequired: Whether the next `send` contains more than the stored state.
  mutating func keepNow(isRequired: Bool = false, _ turn: inout Turn) {
    guard unconfirmed > 0, let kept else { return forget(&turn) }
    keeping.asked(isRequired: isRequired)
    tell(.keep(kept, isRequired: isRequired), &turn)
  }

  /// Stores the edits before a send that contains more than the stored state: under a new client id
  /// or number, or with other edits. If nothing is stored, nothing is outdated.
  mutating func keepBeforeSending(_ turn: inout Turn) {
    if keeping.isOutdated { keepNow(isRequired: true, &turn) }
  }

  mutating func keepFailed(_ turn: inout Turn) {
    keeping.failed(again: unconfirmed > 0 ? turn.after(timing.keepAgain) : nil)
  }

  mutating func forget(_ turn: inout Turn) {
    let isThere = keeping.isThere
    keeping.forgotten()
    if isThere { tell(.forget, &turn) }
  }

  /// A copy of the server's text, for opening the note later without a connection. It contains no
  /// edits, which are stored separately, and belongs to no client: edits on it are sent by the
  /// client that opens it.
  var copy: KeptNote? {
    guard let replica else { return nil }
    let synchronizer = replica.synchronizer
    return KeptNote(
      documentID: documentID, clientID: KeptNote.noClientID, title: title, change: replica.change,
      synchronizer: .init(
        epoch: synchronizer.epoch, revision: synchronizer.revision, nextSequence: 1),
      server: replica.server, local: replica.server, kind: serverKind,
      hasFormats: replica.hasFormats)
  }

  /// The state to store.
  private var kept: KeptNote? {
    guard let replica, let clientID else { return nil }
    return KeptNote(
      documentID: documentID, clientID: clientID, title: title, change: replica.change,
      synchronizer: replica.synchronizer.kept, server: replica.server, local: replica.local,
      kind: serverKind, hasFormats: replica.hasFormats)
  }
}
