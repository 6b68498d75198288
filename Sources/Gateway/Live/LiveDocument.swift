package import ParleyGatewayPorts
package import OTCore

/// A document's log in memory: the durable part, which all followers may see, and after it the
/// tentative part, which waits for its commit.
///
/// A change is rebased and appended to the tentative part at once, so that the next one can be
/// rebased over it; it becomes visible only when the store has synced it. If a commit fails, the
/// whole tentative part falls with it, for all of it was built on what failed.
///
///     revision   … 40   41   42 │ 43   44 │ 45
///                    durable    │ being   │ waiting for
///                               │ written │ the next commit
///
/// No I/O happens here: ``takeCommit()`` hands out what is to be written, ``commitSucceeded()`` or
/// ``commitFailed()`` reports the outcome. At most one commit is under way.
package struct LiveDocument {
  /// A change as a client sent it.
  package struct Submission {
    /// The author's id, minted by the server.
    package var client: String
    /// The author's number for this change, from 1, for this document; without meaning if it is not
    /// resendable.
    package var sequence: Int
    /// The revision the author had seen.
    package var revision: Int
    /// The change, on the document at that revision.
    package var operation: TextOperation
    /// The author's name as shown to people.
    package var author: String
    /// The time of its arrival.
    package var time: Timestamp
    /// Whether the author may send it again after a lost connection, and so must keep to one
    /// change in flight. Clients that number nothing never send a change twice.
    package var isResendable: Bool
    /// The author's session, in a log that several nodes share; 0 for one that has begun none.
    package var session = 0

    package init(
      client: String, sequence: Int, revision: Int, operation: TextOperation, author: String,
      time: Timestamp, isResendable: Bool = true
    ) {
      self.client = client
      self.sequence = sequence
      self.revision = revision
      self.operation = operation
      self.author = author
      self.time = time
      self.isResendable = isResendable
    }
  }

  /// The outcome of a submission.
  package enum Outcome: Equatable {
    /// Appended as this revision; its acknowledgement follows the commit.
    case accepted(revision: Int)
    /// The log holds it already, durably, as this revision: acknowledge again.
    case duplicate(revision: Int)
    /// It is being committed already: its acknowledgement follows.
    case duplicatePending
    /// It starts before the entries in memory: prepend `after < revision <= through`, try again.
    case needsHistory(after: Int, through: Int)
    /// Not taken; nothing has changed. The changes since its base have more components than one
    /// change is rebased over at once: its author rebases it.
    case tooMuchHistory
    /// Not taken; nothing has changed.
    case refused(Refusal)
  }

  /// Why a submission was not taken.
  package enum Refusal: Equatable {
    /// The base revision lies ahead of the durable head.
    case futureRevision(head: Int)
    /// The base revision is below zero.
    case negativeRevision
    /// The operation does not cover the document at its base revision.
    case lengthMismatch(expected: Int, found: Int)
    /// The same sequence was used for another change.
    case sequenceReused(last: Int)
    /// A number was left out.
    case sequenceGap(expected: Int)
    /// The author's previous change is not yet acknowledged.
    case inFlight
    /// The operation has more components than one may have.
    case tooManyComponents(componentsMax: Int)
    /// The document would pass its size limit, in Unicode scalars.
    case documentFull(scalarsMax: Int)
    /// The operation could not be applied for another reason.
    case operation(OperationError)
  }

  /// The document's name.
  package let id: DocumentID
  /// The title shown to people.
  package var title: String
  /// The folder that the note is in.
  package var folder: FolderPath
  /// The time of the note's creation.
  package let createdAt: Timestamp
  /// Names this history; another string means another history.
  package private(set) var epoch: String

  private var sequencer: ServerSequencer
  /// The window: a run of entries that ends at the tentative head.
  private var window: [LogEntry]
  /// The last change of each client, tentative ones included.
  private var marks: [String: ClientMark]
  /// For each tentative entry the change as it was sent, to be rebased again, and the mark of its client
  /// that it replaced.
  private var tentative: [(submission: Submission, replaced: ClientMark?)] = []
  /// The last revision of the commit under way.
  private var committingThrough: Int?
  /// The chain at ``durableRevision``; `nil` in a log with one owner.
  package private(set) var chain: LogChain?
  /// The session of clients without a session in the store, as far as it is known here.
  package private(set) var sessionFloor: Int

  /// Takes a document as it came out of the store.
  package init(_ stored: StoredDocument) {
    id = stored.summary.id
    title = stored.summary.title
    folder = stored.summary.folder
    createdAt = stored.summary.createdAt
    epoch = stored.epoch
    window = stored.recent
    marks = stored.marks
    chain = stored.chain
    sessionFloor = stored.sessionFloor
    sequencer = ServerSequencer(
      document: stored.content.text, revision: stored.summary.revision,
      recent: stored.recent.map(\.operation))
  }

  /// The newest revision that is synced to disk.
  package var durableRevision: Int { sequencer.durableRevision }

  /// The text at ``durableRevision``: what may be shown.
  package var durableDocument: Document { sequencer.durableDocument }

  /// The content at ``durableRevision``.
  package var durableContent: NoteContent { NoteContent(sequencer.durableDocument) }

  /// The newest revision, the tentative ones included.
  package var headRevision: Int { sequencer.revision }

  /// The oldest revision from which a change can be rebased with the entries in memory.
  package var oldestBase: Int { sequencer.oldestBase }

  /// Whether nothing waits for a commit.
  package var isSettled: Bool { durableRevision == headRevision }

  /// Whether other nodes append to the log, too.
  package var isShared: Bool { chain != nil }

  /// Whether a commit is under way.
  package var isCommitting: Bool { committingThrough != nil }

  /// The condition of the commit under way; `nil` in a log with one owner.
  package var commitCondition: AppendCondition? {
    guard let chain, let through = committingThrough else { return nil }
    var sessions: [String: Int] = [:]
    for (submission, _) in tentative.prefix(through - durableRevision)
    where submission.session > 0 {
      sessions[submission.client] = submission.session
    }
    return AppendCondition(chain: chain, sessions: sessions)
  }

  /// The last change of a client that the durable log holds; 0 if it holds none.
  package func lastDurableSequence(of client: String) -> Int {
    // A tentative mark's predecessor is the first undo record of that client.
    for (submission, replaced) in tentative
    where submission.isResendable && submission.client == client {
      return replaced?.sequence ?? 0
    }
    return marks[client]?.sequence ?? 0
  }

  /// The number that a client's next change must have, the tentative ones included.
  package func nextSequence(of client: String) -> Int { (marks[client]?.sequence ?? 0) + 1 }

  /// The entry that made a durable revision; `nil` if it lies before the window.
  package func durableEntry(at revision: Int) -> LogEntry? {
    guard revision > oldestBase, revision <= durableRevision else { return nil }
    return window[window.count - 1 - (headRevision - revision)]
  }

  /// Continues under another epoch: a part of the history was lost that a client has seen.
  package mutating func renew(epoch newEpoch: String) { epoch = newEpoch }

  /// The revision of a client's tentative change, if it has one.
  package func pendingRevision(of client: String) -> Int? {
    guard let mark = marks[client], mark.revision > durableRevision else { return nil }
    return mark.revision
  }

  /// The durable entries after a revision, oldest first.
  ///
  /// - Precondition: `oldestBase <= revision <= durableRevision`.
  package func durableEntries(after revision: Int) -> ArraySlice<LogEntry> {
    precondition(revision >= oldestBase, "\(revision) lies before the window at \(oldestBase)")
    let first = window.count - (headRevision - revision)
    return window[first..<(window.count - (headRevision - durableRevision))]
  }

  /// Rebases a change over the entries that it has not seen, and appends it to the tentative part.
  ///
  /// - Parameters:
  ///   - scalarsMax: Unicode scalars that the document may have afterwards, unless it shrinks.
  ///   - componentsMax: components that the operation may have.
  ///   - historyComponentsMax: components that all changes since its base may have together.
  /// - Complexity: O(components of the operation), and a walk over some hundreds of them for each
  ///   component of the changes since its base.
  package mutating func submit(
    _ submission: Submission, scalarsMax: Int, componentsMax: Int = .max,
    historyComponentsMax: Int = .max
  ) -> Outcome {
    let digest = Self.digest(of: submission)
    let mark = marks[submission.client]
    if submission.isResendable, let outcome = repetition(submission, digest, mark) {
      return outcome
    }
    guard submission.revision >= 0 else { return .refused(.negativeRevision) }
    // A client has seen durable revisions only; anything further is another history.
    guard submission.revision <= durableRevision else {
      return .refused(.futureRevision(head: durableRevision))
    }
    guard submission.revision >= oldestBase else {
      return .needsHistory(after: submission.revision, through: oldestBase)
    }
    guard submission.operation.componentCount <= componentsMax else {
      return .refused(.tooManyComponents(componentsMax: componentsMax))
    }
    guard
      sequencer.components(after: submission.revision, atMost: historyComponentsMax)
        <= historyComponentsMax
    else { return .tooMuchHistory }
    let growth = submission.operation.targetLength - submission.operation.baseLength
    guard growth <= 0 || sequencer.document.scalarCount + growth <= scalarsMax else {
      return .refused(.documentFull(scalarsMax: scalarsMax))
    }
    let stored: TextOperation
    do {
      stored = try sequencer.submit(submission.operation, at: submission.revision)
    } catch {
      switch error {
      case .futureRevision: return .refused(.futureRevision(head: durableRevision))
      case .negativeRevision: return .refused(.negativeRevision)
      case .historyGone(let oldest):
        return .needsHistory(after: submission.revision, through: oldest)
      case .operation(.lengthMismatch(let expected, let found)):
        return .refused(.lengthMismatch(expected: expected, found: found))
      case .operation(let other): return .refused(.operation(other))
      }
    }
    let revision = sequencer.revision
    // Times rise, so that a time names a revision; see `TimeOrder` for clocks that are set back.
    let time = window.last.map { TimeOrder.following($0.time, submission.time) } ?? submission.time
    window.append(
      LogEntry(
        revision: revision, client: submission.client,
        sequence: submission.isResendable ? submission.sequence : 0, digest: digest,
        operation: stored, author: submission.author, time: time))
    tentative.append((submission, mark))
    // Its author will not send it again, so nothing is kept to know it by.
    guard submission.isResendable else { return .accepted(revision: revision) }
    marks[submission.client] = ClientMark(
      sequence: submission.sequence, revision: revision, digest: digest)
    return .accepted(revision: revision)
  }

  /// About the work of a change, counted in bytes of text that are put into the document.
  ///
  /// - Complexity: O(operations after the revision).
  package func work(on operation: TextOperation, from revision: Int) -> Int {
    let isKnown = (oldestBase..<headRevision).contains(revision)
    let passed = isKnown ? sequencer.components(after: revision, atMost: 1 << 17) : 0
    return operation.work + 2 * passed
  }

  /// The outcome of a change whose number is not the next one, or that comes too soon.
  private func repetition(
    _ submission: Submission, _ digest: UInt64, _ mark: ClientMark?
  ) -> Outcome? {
    let last = mark?.sequence ?? 0
    if submission.sequence <= last {
      guard let mark, submission.sequence == last,
        mark.digest == digest || Self.isDigest(mark.digest, of: submission)
      else { return .refused(.sequenceReused(last: last)) }
      return mark.revision <= durableRevision
        ? .duplicate(revision: mark.revision) : .duplicatePending
    }
    guard submission.sequence == last + 1 else {
      return .refused(.sequenceGap(expected: last + 1))
    }
    if let mark, mark.revision > durableRevision { return .refused(.inFlight) }
    return nil
  }

  /// Hands out the tentative entries for one commit; `nil` when there are none, or when a commit
  /// is under way.
  package mutating func takeCommit() -> [LogEntry]? {
    guard committingThrough == nil, !isSettled else { return nil }
    committingThrough = headRevision
    return Array(window.suffix(headRevision - durableRevision))
  }

  /// The commit under way is on disk: its entries are durable from now on, and returned.
  ///
  /// - Parameter chain: The chain at the last of them, in a log that several nodes share.
  package mutating func commitSucceeded(chain newChain: LogChain? = nil) -> ArraySlice<LogEntry> {
    guard let through = committingThrough else {
      preconditionFailure("no commit of this document is under way")
    }
    let before = durableRevision
    committingThrough = nil
    chain = newChain
    sequencer.markDurable(through: through)
    tentative.removeFirst(through - before)
    return durableEntries(after: before)
  }

  /// The commit under way failed: takes back the whole tentative part, and returns its entries.
  package mutating func commitFailed() -> [LogEntry] {
    committingThrough = nil
    let fallen = Array(window.suffix(headRevision - durableRevision))
    window.removeLast(fallen.count)
    sequencer.rollBack()
    for (submission, replaced) in tentative.reversed() where submission.isResendable {
      marks[submission.client] = replaced
    }
    tentative.removeAll()
    return fallen
  }

  // MARK: Other writers

  /// Marks the commit under way as one of unknown outcome: its entries stay tentative until the log has been
  /// read.
  package mutating func commitUnsettled() { committingThrough = nil }

  /// Takes note of the session of clients without a session in the store.
  package mutating func raise(sessionFloor floor: Int) { sessionFloor = max(sessionFloor, floor) }

  /// A client's tentative changes count for a session that it has begun here.
  package mutating func raise(session: Int, of client: String) {
    for index in tentative.indices
    where tentative[index].submission.client.utf8.elementsEqual(client.utf8) {
      tentative[index].submission.session = session
    }
  }

  /// Takes the tentative part back, as if it had never been submitted, for another writer of the log
  /// was first.
  ///
  /// A tentative entry is never rebased further: transforming it over foreign entries, by way of the
  /// tentative ones before it, gives another change than the one that was sent. So what was sent is
  /// submitted again:
  ///
  ///     withdraw() ─▶ what was sent ─▶ adopt(their entries) ─▶ submit(what was sent) ─▶ next commit
  ///
  /// - Returns: What was sent, oldest first, with the revisions that it had.
  package mutating func withdraw() -> [(revision: Int, submission: Submission)] {
    let first = durableRevision + 1
    let sent = tentative.enumerated().map { (first + $0.offset, $0.element.submission) }
    _ = commitFailed()
    return sent
  }

  /// Whether entries are those that follow the durable head.
  package func isFollowed(by entries: [LogEntry]) -> Bool {
    var revision = durableRevision
    var length = durableDocument.scalarCount
    for entry in entries {
      guard entry.revision == revision + 1, entry.operation.baseLength == length else {
        return false
      }
      revision = entry.revision
      length = entry.operation.targetLength
    }
    return !entries.isEmpty
  }

  /// Appends entries that another writer has made durable, and returns them.
  ///
  /// - Parameter chain: The chain at the last of them, if the log is shared.
  /// - Precondition: ``isSettled``, and ``isFollowed(by:)`` them.
  package mutating func adopt(
    _ entries: [LogEntry], chain newChain: LogChain? = nil
  ) -> ArraySlice<LogEntry> {
    precondition(
      isSettled && isFollowed(by: entries),
      "entries from \(entries.first?.revision ?? 0) on do not follow \(durableRevision)")
    let before = durableRevision
    for entry in entries {
      do throws(SequencerError) {
        _ = try sequencer.submit(entry.operation, at: entry.revision - 1)
      } catch {
        preconditionFailure("the stored entry of revision \(entry.revision) does not apply")
      }
      window.append(entry)
      guard entry.sequence > 0 else { continue }
      marks[entry.client] = ClientMark(
        sequence: entry.sequence, revision: entry.revision, digest: entry.digest)
    }
    chain = newChain
    sequencer.markDurable(through: headRevision)
    return durableEntries(after: before)
  }

  /// Puts older entries, read from the store, before the window.
  package mutating func prepend(_ older: [LogEntry]) {
    guard let last = older.last, last.revision == oldestBase else { return }
    window.insert(contentsOf: older, at: 0)
    sequencer.prepend(older.map(\.operation))
  }

  /// Forgets all but the newest durable entries, once there are twice as many.
  ///
  /// In a shared log a change that waits may lose its race and be submitted again. The entries since its
  /// base are kept, or it would be refused without a fault of its author.
  ///
  /// - Parameter basesMax: The number of entries that are kept for that at most.
  package mutating func trim(keeping entriesMax: Int, forBases basesMax: Int = 0) {
    guard window.count > 2 * entriesMax else { return }
    var kept = max(entriesMax, headRevision - durableRevision)
    if isShared, let base = tentative.lazy.map(\.submission.revision).min() {
      kept = max(kept, min(headRevision - base, basesMax))
      guard window.count - kept > entriesMax else { return }
    }
    let excess = window.count - kept
    window.removeFirst(excess)
    sequencer.trim(keeping: window.count)
  }
}

extension TextOperation {
  /// The approximate work of applying it to a document, counted in bytes of text.
  package var work: Int { insertedBytes + 16 * componentCount }
}
