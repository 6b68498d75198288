package import ParleyGatewayPorts
package import OTCore
import ParleyJSON

/// A document's log in memory: the durable part, which all followers may see, and after it the
/// tentative part, which waits for its commit.
///
/// A change is rebased and appended to the tentative part at once, so that the next change can be
/// rebased over it. It becomes visible only after the store has synced it. If a commit fails, the
/// whole tentative part is withdrawn, since all of it is based on the failed entries.
///
///     revision   … 40   41   42 │ 43   44 │ 45
///                    durable    │ being   │ waiting for
///                               │ written │ the next commit
///
/// No I/O happens here: ``takeCommit()`` returns the entries to write, and ``commitSucceeded()`` or
/// ``commitFailed()`` handles the outcome. At most one commit is under way.
package struct LiveDocument {
  /// A change as a client sent it.
  package struct Submission {
    /// The author's client id, issued by the server.
    package var client: String
    /// The author's sequence number of the change in this document, from 1; ignored if the change
    /// is not resendable.
    package var sequence: Int
    /// The base: the newest revision that the author had seen.
    package var revision: Int
    /// The change, based on the document at `revision`.
    package var operation: TextOperation
    /// The formatting of the change, based on the same document.
    package var format: ChangeFormat?
    /// Whether the author's client states the attributes of all text that it inserts. Text of other
    /// clients takes the attributes of the text around it.
    package var knowsFormats: Bool
    /// The author's display name.
    package var author: String
    /// The arrival time.
    package var time: Timestamp
    /// Whether the author may resend the change after a lost connection, and therefore has only one
    /// change in flight. Clients without sequence numbers never resend.
    package var isResendable: Bool
    /// The author's session in a shared log; 0 before the first one.
    package var session = 0
    /// The rules of the author's client for operations.
    package var rules: FamilyRules
    /// Whether the author numbers its changes across all documents, so that the numbers in this
    /// document ascend with gaps. Such a client may rebase a change before it resends it.
    package var skipsNumbers: Bool
    /// Whether the change is refused unless its base is the newest revision.
    package var isExact = false

    package init(
      client: String, sequence: Int, revision: Int, operation: TextOperation,
      format: ChangeFormat? = nil, knowsFormats: Bool = false, author: String, time: Timestamp,
      isResendable: Bool = true, rules: FamilyRules = .native, skipsNumbers: Bool = false
    ) {
      self.client = client
      self.sequence = sequence
      self.revision = revision
      self.operation = operation
      self.format = format
      self.knowsFormats = knowsFormats
      self.author = author
      self.time = time
      self.isResendable = isResendable
      self.rules = rules
      self.skipsNumbers = skipsNumbers
    }

    /// The approximate work of applying the change, in bytes of text.
    package var work: Int { operation.work + (format?.work ?? 0) }
  }

  /// The outcome of a submission.
  package enum Outcome: Equatable {
    /// Appended as this revision; the acknowledgement follows the commit.
    case accepted(revision: Int)
    /// The durable log already contains the change as this revision: acknowledge it again.
    case duplicate(revision: Int)
    /// The change is already being committed; the acknowledgement follows.
    case duplicatePending
    /// The base precedes the entries in memory. Prepend the entries `after < revision <= through`,
    /// then retry.
    case needsHistory(after: Int, through: Int)
    /// The change was not appended. The changes since the base have more components than one
    /// change may be rebased over: the author has to rebase it.
    case tooMuchHistory
    /// The change was not appended: the end of the commit under way decides whether its base is the
    /// newest revision. Retry then.
    case undecided
    /// The change was not appended, for another reason.
    case refused(Refusal)
  }

  /// The reason why a submission was refused.
  package enum Refusal: Equatable {
    /// The base revision lies ahead of the durable head.
    case futureRevision(head: Int)
    /// The base revision is below zero.
    case negativeRevision
    /// The base of an exact change is not the newest revision.
    case outdated(head: Int)
    /// The operation's base length differs from the document's length at the base revision.
    case lengthMismatch(expected: Int, found: Int)
    /// The same sequence was used for another change.
    case sequenceReused(last: Int)
    /// A sequence number was skipped.
    case sequenceGap(expected: Int)
    /// The author's previous change is not yet acknowledged.
    case inFlight
    /// The operation exceeds the maximum components.
    case tooManyComponents(componentsMax: Int)
    /// The note is a plain one, and the change has formatting that does not make it a rich one.
    case plainNote
    /// The change has formatting, but its author did not request formatting when joining.
    case formatsUnknown
    /// The document would exceed its maximum size, in Unicode scalars.
    case documentFull(scalarsMax: Int)
    /// The operation could not be applied for another reason.
    case operation(OperationError)
  }

  /// The document's id.
  package let id: DocumentID
  /// The title shown to users.
  package var title: String
  /// The folder that the note is in.
  package var folder: FolderPath
  /// The time of the note's creation.
  package let createdAt: Timestamp
  /// Identifies this history; a new epoch means a new history.
  package private(set) var epoch: Epoch

  private var sequencer: ServerSequencer
  /// The window: consecutive entries up to the tentative head.
  private var window: [LogEntry]
  /// The last change of each client, including tentative ones.
  private var marks: [String: ClientMark]
  /// For each tentative entry: the change as it was sent, for a resubmission; and the client's
  /// former mark, which the change replaced.
  private var tentative: [(submission: Submission, replaced: ClientMark?)] = []
  /// The last revision of the commit under way.
  private var committingThrough: Int?
  /// The chain at ``durableRevision``; `nil` in a log with one owner.
  package private(set) var chain: LogChain?
  /// The highest known session of clients without a session in the store.
  package private(set) var sessionFloor: Int
  /// The oldest known revision at which the note is a rich one; `nil` for a plain note.
  private var richRevision: Int?

  /// Creates a document from its stored state.
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
    richRevision = stored.summary.kind == .rich ? 0 : nil
    sequencer = ServerSequencer(
      content: stored.content.document, revision: stored.summary.revision,
      recent: stored.recent.map(\.operation), formats: Self.formats(of: stored.recent))
  }

  /// Returns the format of each entry; an empty array if none has one.
  private static func formats(of entries: [LogEntry]) -> [Format?] {
    guard entries.contains(where: { $0.format != nil }) else { return [] }
    return entries.map { $0.format?.format }
  }

  /// The newest revision that is synced to disk.
  package var durableRevision: Int { sequencer.durableRevision }

  /// The text at ``durableRevision``, which clients may see.
  package var durableDocument: Document { sequencer.durableDocument }

  /// The content at ``durableRevision``.
  package var durableContent: NoteContent { NoteContent(sequencer.durableContent) }

  /// The kind of the note at ``durableRevision``.
  package var durableKind: NoteKind {
    richRevision.map { $0 <= durableRevision } ?? false ? .rich : .plain
  }

  /// Whether the note is a rich one at ``headRevision``.
  package var isRich: Bool { richRevision != nil }

  /// The newest revision, including tentative ones.
  package var headRevision: Int { sequencer.revision }

  /// The oldest revision from which a change can be rebased with the entries in memory.
  package var oldestBase: Int { sequencer.oldestBase }

  /// Whether no entry waits for a commit.
  package var isSettled: Bool { durableRevision == headRevision }

  /// Whether other nodes may append to the log, too.
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

  /// Returns the sequence number of a client's last durable change; 0 without one.
  package func lastDurableSequence(of client: String) -> Int {
    // The client's first tentative entry contains the durable mark that it replaced.
    for (submission, replaced) in tentative
    where submission.isResendable && submission.client == client {
      return replaced?.sequence ?? 0
    }
    return marks[client]?.sequence ?? 0
  }

  /// Returns the number that a client's next change must have, after its tentative changes.
  package func nextSequence(of client: String) -> Int { (marks[client]?.sequence ?? 0) + 1 }

  /// Returns the entry of a durable revision; `nil` if it precedes the window.
  package func durableEntry(at revision: Int) -> LogEntry? {
    guard revision > oldestBase, revision <= durableRevision else { return nil }
    return window[window.count - 1 - (headRevision - revision)]
  }

  /// Replaces the epoch, since the log has lost revisions that a client has seen.
  package mutating func renew(epoch newEpoch: Epoch) { epoch = newEpoch }

  /// Returns the revision of a client's tentative change; `nil` without one.
  package func pendingRevision(of client: String) -> Int? {
    guard let mark = marks[client], mark.revision > durableRevision else { return nil }
    return mark.revision
  }

  /// Returns the durable entries after a revision, oldest first.
  ///
  /// - Precondition: `oldestBase <= revision <= durableRevision`.
  package func durableEntries(after revision: Int) -> ArraySlice<LogEntry> {
    precondition(revision >= oldestBase, "\(revision) is before the window at \(oldestBase)")
    let first = window.count - (headRevision - revision)
    return window[first..<(window.count - (headRevision - durableRevision))]
  }

  /// Rebases a change over the entries after its base, and appends it to the tentative part.
  ///
  /// - Parameters:
  ///   - scalarsMax: The maximum Unicode scalars of the document after a change that grows it.
  ///   - componentsMax: The maximum components of the operation.
  ///   - historyComponentsMax: The maximum components of all changes since the base together.
  /// - Complexity: O(components of the operation), plus a walk over some hundreds of components for
  ///   each component of the changes since the base.
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
    // A client has seen durable revisions only; a later one belongs to another history.
    guard submission.revision <= durableRevision else {
      return .refused(.futureRevision(head: durableRevision))
    }
    if let outcome = outcomeUnlessNewest(submission) { return outcome }
    guard submission.revision >= oldestBase else {
      return .needsHistory(after: submission.revision, through: oldestBase)
    }
    if let refusal = refusal(of: submission, componentsMax: componentsMax) {
      return .refused(refusal)
    }
    guard isNear(submission, historyComponentsMax: historyComponentsMax) else {
      return .tooMuchHistory
    }
    let growth = submission.operation.targetLength - submission.operation.baseLength
    guard growth <= 0 || sequencer.document.scalarCount + growth <= scalarsMax else {
      return .refused(.documentFull(scalarsMax: scalarsMax))
    }
    let stored: RichOperation
    do throws(SequencerError) {
      stored = try sequence(placed(submission))
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
    // Times ascend, so that a time identifies a revision; see `TimeOrder` for clocks set back.
    let time = window.last.map { TimeOrder.following($0.time, submission.time) } ?? submission.time
    window.append(
      LogEntry(
        revision: revision, client: submission.client,
        sequence: submission.isResendable ? submission.sequence : 0, digest: digest,
        operation: stored.text,
        format: ChangeFormat(
          stored.format, makesRich: submission.format?.makesRich ?? false),
        author: submission.author, time: time))
    tentative.append((submission, mark))
    // The author never resends the change, so no mark is stored.
    guard submission.isResendable else { return .accepted(revision: revision) }
    marks[submission.client] = ClientMark(
      sequence: submission.sequence, revision: revision, digest: digest)
    return .accepted(revision: revision)
  }

  /// Returns the outcome of an exact change whose base is not the newest revision; `nil` for others.
  ///
  /// Tentative entries may still fail, and their author may give up. An author who lost to them
  /// would wait for a revision that never comes.
  private func outcomeUnlessNewest(_ submission: Submission) -> Outcome? {
    guard submission.isExact, submission.revision != headRevision else { return nil }
    return submission.revision == durableRevision
      ? .undecided : .refused(.outdated(head: durableRevision))
  }

  /// Returns the reason why a change does not fit the document's kind or has too many components.
  private func refusal(of submission: Submission, componentsMax: Int) -> Refusal? {
    let components =
      submission.operation.componentCount + (submission.format?.componentCount ?? 0)
    if components > componentsMax { return .tooManyComponents(componentsMax: componentsMax) }
    guard let format = submission.format else { return nil }
    if !submission.knowsFormats { return .formatsUnknown }
    return isRich || format.makesRich ? nil : .plainNote
  }

  /// Whether a change can be rebased over all changes since its base.
  private func isNear(_ submission: Submission, historyComponentsMax: Int) -> Bool {
    let components = sequencer.components(
      after: submission.revision, atMost: historyComponentsMax)
    guard components <= historyComponentsMax else { return false }
    // Each change of the history may move all spans.
    let spans = submission.format?.componentCount ?? 0
    return spans == 0
      || spans * (headRevision - submission.revision) <= Self.spansMovedMax
  }

  /// Maximum spans that are moved over the changes since a base, counted for each change.
  private static let spansMovedMax = 2_000_000

  /// Rebases a change by the rule of its author's client, and appends it.
  private mutating func sequence(
    _ submission: Submission
  ) throws(SequencerError) -> RichOperation {
    let base = submission.revision
    guard isRich || submission.format != nil else {
      return RichOperation(try sequencer.submit(submission.operation, at: base))
    }
    guard submission.knowsFormats else {
      return try sequencer.submit(inheriting: submission.operation, at: base)
    }
    let stored = try sequencer.submit(
      RichOperation(submission.operation, submission.format), at: base)
    if submission.format?.makesRich ?? false { makeRich(at: sequencer.revision) }
    return stored
  }

  private mutating func makeRich(at revision: Int) { richRevision = richRevision ?? revision }

  /// Returns the approximate work of a change, in bytes of text inserted into the document.
  ///
  /// - Complexity: O(operations after the revision).
  package func work(
    on operation: TextOperation, _ format: ChangeFormat? = nil, from revision: Int
  ) -> Int {
    let isKnown = (oldestBase..<headRevision).contains(revision)
    let passed = isKnown ? sequencer.components(after: revision, atMost: 1 << 17) : 0
    return operation.work + (format?.work ?? 0) + 2 * passed
  }

  /// Returns a change in the form of the log. A change by a client with other rules is rebased to
  /// the head.
  private func placed(_ submission: Submission) throws(SequencerError) -> Submission {
    guard submission.rules != .native else { return submission }
    var placed = submission
    placed.operation = try sequencer.rebased(
      submission.operation, at: submission.revision, by: submission.rules)
    placed.revision = headRevision
    return placed
  }

  /// Returns the outcome of a change that is repeated, skips a number or arrives too early.
  private func repetition(
    _ submission: Submission, _ digest: UInt64, _ mark: ClientMark?
  ) -> Outcome? {
    let last = mark?.sequence ?? 0
    if submission.sequence <= last {
      guard let mark, submission.sequence == last,
        submission.skipsNumbers || mark.digest == digest
          || Self.isDigest(mark.digest, of: submission)
      else { return .refused(.sequenceReused(last: last)) }
      return mark.revision <= durableRevision
        ? .duplicate(revision: mark.revision) : .duplicatePending
    }
    guard submission.sequence == last + 1 || submission.skipsNumbers else {
      return .refused(.sequenceGap(expected: last + 1))
    }
    if let mark, mark.revision > durableRevision { return .refused(.inFlight) }
    return nil
  }

  /// Whether an entry waits for its commit.
  package func hasTentative(where isMeant: (LogEntry) -> Bool) -> Bool {
    window.suffix(headRevision - durableRevision).contains(where: isMeant)
  }

  /// Returns the durable entry that an operation without a number repeats; `nil` for a new one.
  ///
  /// - Parameter isOwn: Whether an entry may be of the operation's author.
  package func repetition(
    of operation: TextOperation, at base: Int, by rules: FamilyRules,
    isOwn: (LogEntry) -> Bool
  ) -> Int? {
    let known = try? sequencer.repetition(of: operation, at: base, by: rules) { revision in
      durableEntry(at: revision).map(isOwn) ?? false
    }
    return known ?? nil
  }

  /// Begins a commit, and returns the tentative entries for it; `nil` if there are none, or if a
  /// commit is under way.
  package mutating func takeCommit() -> [LogEntry]? {
    guard committingThrough == nil, !isSettled else { return nil }
    committingThrough = headRevision
    return Array(window.suffix(headRevision - durableRevision))
  }

  /// Ends the commit under way: its entries are durable from now on, and returned.
  ///
  /// - Parameter chain: The chain at the last of the entries, in a shared log.
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

  /// Ends a failed commit: withdraws the whole tentative part, and returns its entries.
  package mutating func commitFailed() -> [LogEntry] {
    committingThrough = nil
    let fallen = Array(window.suffix(headRevision - durableRevision))
    window.removeLast(fallen.count)
    sequencer.rollBack()
    if let rich = richRevision, rich > durableRevision { richRevision = nil }
    for (submission, replaced) in tentative.reversed() where submission.isResendable {
      marks[submission.client] = replaced
    }
    tentative.removeAll()
    return fallen
  }

  // MARK: Other writers

  /// Ends a commit of unknown outcome: its entries remain tentative until the log has been read.
  package mutating func commitUnsettled() { committingThrough = nil }

  /// Raises the known session of clients without a session in the store.
  package mutating func raise(sessionFloor floor: Int) { sessionFloor = max(sessionFloor, floor) }

  /// Moves a client's tentative changes to a session that the client has begun here.
  package mutating func raise(session: Int, of client: String) {
    for index in tentative.indices
    where tentative[index].submission.client.isExactly(client) {
      tentative[index].submission.session = session
    }
  }

  /// Withdraws the tentative part as if it had never been submitted, since another writer of the
  /// log was first.
  ///
  /// Tentative entries are never rebased again: rebasing them over the other writer's entries would
  /// yield other changes than those that were sent. So the changes are resubmitted as they were
  /// sent:
  ///
  ///     withdraw() ─▶ what was sent ─▶ adopt(their entries) ─▶ submit(what was sent) ─▶ next commit
  ///
  /// - Returns: The changes as they were sent, oldest first, with their withdrawn revisions.
  package mutating func withdraw() -> [(revision: Int, submission: Submission)] {
    let first = durableRevision + 1
    let sent = tentative.enumerated().map { (first + $0.offset, $0.element.submission) }
    _ = commitFailed()
    return sent
  }

  /// Whether entries directly follow the durable head.
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
  /// - Parameter chain: The chain at the last of the entries, if the log is shared.
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
        if let format = entry.format {
          _ = try sequencer.submit(
            RichOperation(entry.operation, format), at: entry.revision - 1, within: .unlimited)
          if format.makesRich { makeRich(at: entry.revision) }
        } else {
          _ = try sequencer.submit(entry.operation, at: entry.revision - 1)
        }
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

  /// Prepends older entries to the window; ignored unless they end where the window begins.
  package mutating func prepend(_ older: [LogEntry]) {
    guard let last = older.last, last.revision == oldestBase else { return }
    window.insert(contentsOf: older, at: 0)
    sequencer.prepend(older.map(\.operation), formats: Self.formats(of: older))
  }

  /// Removes all but the newest entries from the window, once it has twice as many.
  ///
  /// In a shared log, a tentative change may lose its race and be resubmitted. The entries since
  /// its base are retained, because otherwise it would be refused through no fault of its author.
  ///
  /// - Parameter basesMax: The maximum entries retained for resubmissions.
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
  /// The approximate work of applying the operation, in bytes of text.
  package var work: Int { insertedBytes + 16 * componentCount }
}

extension ChangeFormat {
  /// The approximate work of applying the formatting, in bytes of text.
  package var work: Int { byteCount + 16 * componentCount }
}
