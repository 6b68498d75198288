import OTCore
import SocketMessages

// The state of a note that is kept on disk, and the time of keeping it.

/// The state of a note on disk, as far as this client knows.
struct Keeping: Sendable {
  /// The time at which the edits at hand are kept.
  var at: Int64?
  /// Whether there is anything on disk.
  private(set) var isThere = false
  /// Whether what is sent next goes beyond what is on disk: a process restored from that would send
  /// edits twice.
  private(set) var isOutdated = false
  /// Whether the last keep has failed.
  private(set) var isFailing = false
  /// Whether the last keep is on disk.
  private(set) var isDone = false
  /// The last keep: whether it was required, and whether it took the place of what was outdated.
  private var wasRequired = false
  private var wasOutdated = false
  private var delay: Int64?

  /// Continues from a restored state.
  mutating func restored() {
    isThere = true
    isOutdated = true
  }

  /// The edits at hand have become another change than what is on disk says.
  mutating func goBeyond() { isOutdated = isThere }

  /// A keep is asked for.
  mutating func asked(isRequired: Bool) {
    at = nil
    isDone = false
    wasRequired = isRequired
    wasOutdated = isOutdated
    isThere = true
    isOutdated = false
  }

  /// A keep is on disk.
  mutating func done(took: Int64, _ timing: ClientTiming) {
    isFailing = false
    isDone = true
    // However long the note: most of the time is the person's.
    // Without a check for overflow, which on 32 bits asks for a library: both are small.
    let share = min(max(took, 0), 3_600_000) &* timing.keepShare
    delay = min(max(timing.keepAfter, share), timing.keepWithin)
  }

  /// A keep has failed, and is to be tried again.
  mutating func failed(again: Int64?) {
    isFailing = again != nil
    at = again
    // The former state has been removed, see ``NoteAction/keep(_:isRequired:)``; or it is still
    // there.
    if wasRequired { isThere = false } else { isOutdated = wasOutdated && isThere }
  }

  /// There is nowhere to keep it.
  mutating func came(toNothing timing: ClientTiming) {
    forgotten()
    delay = timing.keepWithin
  }

  /// There is nothing to keep.
  mutating func forgotten() {
    at = nil
    isThere = false
    isOutdated = false
    isFailing = false
  }

  /// Has the edits at hand kept soon.
  mutating func schedule(_ turn: Turn, _ timing: ClientTiming) {
    if at == nil { at = turn.after(delay ?? timing.keepAfter) }
  }
}

extension NoteMachine {
  /// The number of unconfirmed edits may be another: keeps them soon, or forgets them.
  mutating func unconfirmedMoved(_ turn: inout Turn) {
    if unconfirmed == 0 {
      forget(&turn)
      if selectionIsNews { scheduleSelection(&turn) }
    } else {
      keeping.schedule(turn, timing)
    }
  }

  /// Keeps the edits at hand, if there are any.
  ///
  /// - Parameter isRequired: Whether something is sent behind it that goes beyond what is on disk.
  mutating func keepNow(isRequired: Bool = false, _ turn: inout Turn) {
    guard unconfirmed > 0, let kept else { return forget(&turn) }
    keeping.asked(isRequired: isRequired)
    tell(.keep(kept, isRequired: isRequired), &turn)
  }

  /// Keeps what is about to be sent where it goes beyond what is on disk: sent under a
  /// new id or number, or made of other edits. A note that was never kept has nothing to go beyond.
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

  /// A copy of the server's text, for opening the note later without a connection. It holds no
  /// edits, which are kept separately, and belongs to no client: edits on it are sent as those of
  /// the client that opens it.
  var copy: KeptNote? {
    guard let replica else { return nil }
    let synchronizer = replica.synchronizer
    return KeptNote(
      documentID: documentID, clientID: KeptNote.nobody, title: title, change: replica.change,
      synchronizer: .init(
        epoch: synchronizer.epoch, revision: synchronizer.revision, nextSequence: 1),
      server: replica.server, local: replica.server)
  }

  /// The state to keep.
  private var kept: KeptNote? {
    guard let replica, let clientID else { return nil }
    return KeptNote(
      documentID: documentID, clientID: clientID, title: title, change: replica.change,
      synchronizer: replica.synchronizer.kept, server: replica.server, local: replica.local)
  }
}
