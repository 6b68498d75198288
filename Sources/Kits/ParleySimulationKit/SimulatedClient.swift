import ParleyJSON
package import OTCore
import ParleyClientCore
import SocketMessages

/// A `parley.v1` client in a simulation: the released client, ``ClientMachine``, with a socket, a
/// disk and a clock that the simulation controls.
///
/// It also records the revisions that it received, and counts events.
package final class SimulatedClient {
  /// A revision that this client has received.
  package struct Sighting: Sendable {
    package let revision: Int
    package let client: String
    package let sequence: Int
    /// The entry's operation; `nil` for an acknowledgement, which contains only the revision.
    package let operation: TextOperation?
  }

  /// Every revision that was received or acknowledged.
  package private(set) var sightings: [Sighting] = []
  /// The counts of events.
  package private(set) var tally = Tally()
  /// The time at which the machine wants to be woken, in milliseconds of the simulation's uptime.
  package private(set) var wakeAt: Int64?
  /// Whether the machine waits for a token.
  package private(set) var wantsToken = false
  /// Whether the client has closed the connection.
  package private(set) var hasHungUp = false
  /// Whether the process has died in the middle of its actions.
  package private(set) var isDead = false
  /// Whether the disk is full, so that it stores nothing.
  package var isDiskFull = false
  /// The number of actions after which the process dies.
  package var actionsToDeath: Int?

  private var machine: ClientMachine
  /// The last status of the note that the machine has reported.
  private var status: NoteStatus?
  /// The note's revision after the last message.
  private var place: (epoch: String, revision: Int64)?
  private let settings: ClientSettings
  private let documentID: String
  /// Whether the client shows formatting.
  package let formats: Bool
  /// The note on the disk.
  private var disk: KeptNote?
  private var claim: ClientClaim?
  private var wantsConnection = false
  private var generation: UInt64 = 0
  /// The id of a note that the client asks to create on each connection.
  package let ownNote: String?
  /// Counts of replies that its note was created, and that it existed already.
  package private(set) var notesMade = (created: 0, again: 0)
  /// The authors of the received numbers, recorded independently of the machine.
  private var authors: [Int: String] = [:]
  /// Messages to be sent.
  private var outgoing: [[UInt8]] = []
  /// The first error, which must never occur.
  private var mistake: SimulatedClientError?

  package init(
    name: String, documentID: String, usesTokens: Bool = false, takesNumbers: Bool = true,
    ownNote: String? = nil, formats: Bool = false
  ) {
    self.ownNote = ownNote
    self.formats = formats
    settings = {
      var settings = ClientSettings(name: name, usesTokens: usesTokens)
      settings.takesNumbers = takesNumbers
      return settings
    }()
    self.documentID = documentID
    machine = ClientMachine(settings: settings, seed: 0)
    handle(.note(documentID, .open(nil, formats: formats)), now: 0)
    outgoing = []
  }

  /// The client's id, after the server has assigned one.
  package var clientID: String? { machine.claim?.id }

  /// The local text; `nil` before the first join.
  package var document: Document? { machine.document(of: documentID) }

  /// The local text with its attributes; `nil` before the first join.
  package var content: RichDocument? { machine.content(of: documentID) }

  /// The kind of the note as a client shows it that knows formatting; `nil` for other clients.
  var shownKind: NoteKind? { formats ? machine.kind(of: documentID) : nil }

  /// The newest received or acknowledged revision.
  package var revision: Int { Int(place?.revision ?? 0) }

  /// Whether the note is joined, and all changes are acknowledged.
  package var isSettled: Bool {
    guard let status else { return false }
    return status.phase == .live && status.unconfirmed == 0
  }

  // MARK: Connection

  /// Allows the client to connect now, without waiting for its delay.
  ///
  /// - Parameter token: Returns a token if the client needs one.
  /// - Returns: Whether the client opens a connection.
  package func connects(now: Int64, token: () -> String) -> Bool {
    switch machine.state {
    case .stopped: handle(.start, now: now)
    case .waiting: handle(.reachable, now: now)
    case .authorising, .connecting, .greeting, .online: break
    }
    if wantsToken { answer(token(), now: now) }
    defer { wantsConnection = false }
    return wantsConnection
  }

  /// Handles an opened connection, and returns the first messages.
  package func connected(now: Int64) -> [[UInt8]] {
    hasHungUp = false
    handle(.opened, now: now)
    return takeOutgoing() + (ownNote.map { [Self.create($0)] } ?? [])
  }

  private static let nameOfCreate = "own note"

  /// Returns a message that is independent of the machine: it creates a note with a chosen id.
  private static func create(_ id: String) -> [UInt8] {
    var bytes: [UInt8] = []
    ClientMessage.create(.init(documentID: id, title: id))
      .encode(messageID: nameOfCreate, into: &bytes)
    return bytes
  }

  /// Handles the reply to the message that creates the note.
  private func takeAnswerAboutOwnNote(_ message: ServerMessage) throws {
    switch message {
    case .created(let made):
      guard made.documentID == ownNote, made.title == ownNote else {
        throw SimulatedClientError.error("another note was made")
      }
      if made.isRepeated { notesMade.again += 1 } else { notesMade.created += 1 }
      tally[made.isRepeated ? .notesMadeAgain : .notesMade] += 1
    case .error(let error) where error.retryable || error.code == .notAllowed:
      // The request can be retried, or the preceding hello was rejected.
      tally[.notesRefused] += 1
    default: throw SimulatedClientError.error("no answer to create: \(message)")
    }
  }

  /// Handles the end of the connection.
  package func disconnected(_ code: UInt16 = 1006, now: Int64) {
    hasHungUp = false
    if code == CloseReason.tokenExpired.rawValue { tally[.tokensExpired] += 1 }
    handle(.closed(code: code), now: now)
    outgoing = []
  }

  /// Passes a token, or its absence, to the machine.
  package func answer(_ token: String?, now: Int64) {
    wantsToken = false
    handle(.token(token), now: now)
  }

  /// Wakes the machine at the time it has asked for.
  package func wake(now: Int64) throws -> [[UInt8]] {
    wakeAt = nil
    handle(.wake, now: now)
    return try finish()
  }

  // MARK: Process

  /// Ends the process, and starts another one from the contents of the disk.
  ///
  /// - Parameters:
  ///   - keepsFirst: Whether the process can first store the unconfirmed edits.
  ///   - forgetsClaim: Whether the new process does not know its client id.
  /// - Returns: The unconfirmed edits that may be lost, and the server's text before them.
  package func restart(
    keepsFirst: Bool, forgetsClaim: Bool = false, now: Int64
  ) -> (lost: TextOperation, text: Document)? {
    // If everything can be stored, nothing is lost.
    let keepsAll = keepsFirst && !isDead && !isDiskFull && actionsToDeath == nil
    let unconfirmed = keepsAll ? nil : unconfirmedText
    if keepsFirst { handle(.suspending, now: now) }
    generation += 1
    isDead = false
    actionsToDeath = nil
    wakeAt = nil
    wantsToken = false
    wantsConnection = false
    outgoing = []
    if forgetsClaim { claim = nil }
    // A real disk contains the encoded form.
    let kept = disk.flatMap { try? KeptNote(edits: $0.encodedEdits(), text: $0.encodedText()) }
    if disk != nil, kept == nil { mistake = .unreadable }
    machine = ClientMachine(settings: settings, claim: claim, seed: generation)
    status = nil
    handle(.note(documentID, .open(kept, formats: formats)), now: now)
    place = machine.revision(of: documentID)
    outgoing = []
    return unconfirmed
  }

  /// The unconfirmed edits as one operation on the server's text; `nil` if there are none.
  private var unconfirmedText: (lost: TextOperation, text: Document)? {
    guard machine.status(of: documentID)?.unconfirmed ?? 0 > 0 else { return nil }
    // Suspend a copy, since this machine continues. The stored note contains both texts.
    var probe = machine
    for action in probe.handle(.suspending, now: .min) {
      guard case .note(_, .keep(let kept, _)) = action else { continue }
      return (TextOperation(changing: kept.server, into: kept.local), kept.server)
    }
    return nil
  }

  // MARK: Editing

  /// Edits the text at once. Returns a message if no change is in flight.
  package func edit(_ operation: RichOperation, now: Int64) throws -> [[UInt8]] {
    tally[.edits] += 1
    if operation.format != nil { tally[.editsWithFormats] += 1 }
    if operation.makesRich { tally[.notesMadeRich] += 1 }
    if status?.phase != .live { tally[.editsWhileAway] += 1 }
    handle(.note(documentID, .edit(operation)), now: now)
    return try finish()
  }

  /// Resends the change in flight, as after a timeout.
  package func sendAgain(now: Int64) throws -> [[UInt8]] {
    handle(.note(documentID, .sendAgain), now: now)
    let messages = try finish()
    tally[.changesSentAgain] += messages.count
    return messages
  }

  // MARK: Messages

  /// Handles a message, and returns the messages to be sent.
  package func receive(_ bytes: UnsafeRawBufferPointer, now: Int64) throws -> [[UInt8]] {
    let (name, message) = try ServerMessage.decode(bytes)
    if name == Self.nameOfCreate {
      try takeAnswerAboutOwnNote(message)
      return try finish()
    }
    let before = place
    let statusBefore = status
    // Pass the decoded message to the machine, as it would decode the bytes itself.
    guard !isDead else { return try finish() }
    take(machine.receive(message, named: name, now: now), now: now)
    let after = machine.revision(of: documentID)
    place = after
    if let before, let after, before.epoch.isExactly(after.epoch), after.revision < before.revision
    {
      // Within an epoch, revisions must never descend.
      throw SimulatedClientError.wentBack(from: Int(before.revision), to: Int(after.revision))
    }
    let from = Int(before?.revision ?? 0)
    let step = Step(
      from: from, through: Int(after?.revision ?? 0), hadText: before != nil,
      isLive: statusBefore?.phase == .live, unconfirmedBefore: statusBefore?.unconfirmed ?? 0)
    switch message {
    case .joined(let joined): count(joined, step)
    case .changes, .numberedChanges, .acknowledged, .documentHistory: note(message, step)
    default: try count(message, step)
    }
    return try finish()
  }

  /// The effect of a received message.
  private struct Step {
    let from: Int
    let through: Int
    let hadText: Bool
    let isLive: Bool
    let unconfirmedBefore: Int
  }

  private func count(_ joined: ServerMessage.Joined, _ step: Step) {
    authors = [:]
    note(joined.numbers?.authors ?? [])
    switch joined.content {
    case .changes(let changes):
      tally[changes.isEmpty ? .resumesWithNothingMissed : .resumesByReplay] += 1
      note(
        changes, after: step.from, through: step.through, first: joined.revision - changes.count + 1
      )
      if sendsChange { tally[.changesSentAgain] += 1 }
    case .text:
      if step.hadText { tally[.resumesBySnapshot] += 1 }
      if let settled = joined.settled, settled.clientID != clientID {
        tally[.textsUnderNewIds] += 1
        if step.unconfirmedBefore > status?.unconfirmed ?? 0 {
          tally[.changesFoundUnderFormerIds] += 1
        }
      }
      if step.unconfirmedBefore > 0 { tally[.mergesOfPendingEdits] += 1 }
    }
  }

  /// Records the changes in a message.
  private func note(_ message: ServerMessage, _ step: Step) {
    let (from, through) = (step.from, step.through)
    switch message {
    case .documentHistory(let page):
      tally[.pagesOfChanges] += 1
      if step.unconfirmedBefore > 0 { tally[.pagesUnderPendingEdits] += 1 }
      note(page.changes, after: from, through: through, first: page.revision)
    case .changes(let changes) where step.isLive:
      note(changes.changes, after: from, through: through, first: changes.revision)
    case .numberedChanges(let numbered):
      note(numbered.authors)
      guard step.isLive else { break }
      tally[.numberedChanges] += 1
      let changes = numbered.run.changes.map {
        ServerMessage.Change(
          clientID: authors[$0.author] ?? "nobody", sequence: $0.sequence, operation: $0.operation)
      }
      note(changes, after: from, through: through, first: numbered.run.revision)
    case .acknowledged(let answer) where step.isLive:
      tally[answer.revision > from ? .acknowledgements : .dedupeHits] += 1
      if answer.revision > from, answer.revision <= through {
        sightings.append(
          Sighting(
            revision: answer.revision, client: clientID ?? "", sequence: answer.sequence,
            operation: nil))
      }
    default: break
    }
  }

  /// Counts a message without changes.
  private func count(_ message: ServerMessage, _ step: Step) throws {
    switch message {
    case .behind: tally[.joinsBehind] += 1
    case .refused(let refusal): count(refusal.code)
    case .resync(let resync) where step.isLive:
      tally[resync.reason == .epochChanged ? .epochResyncs : .lagSnapshots] += 1
      if step.unconfirmedBefore > 0 { tally[.mergesOfPendingEdits] += 1 }
    case .error(let error):
      if error.code == .tooFast {
        tally[.refusalsTooFast] += 1
      } else if error.retryable {
        tally[.joinsTurnedAway] += 1
      } else if Self.endsPaging(error.code) {
        tally[.pagesWithoutHistory] += 1
      } else if error.code == .unauthorised {
        tally[.tokensRefused] += 1
      } else {
        throw SimulatedClientError.error(error.code.rawValue)
      }
    case .refreshed: tally[.tokensRefreshed] += 1
    default: break
    }
  }

  private func note(_ authors: [ServerMessage.Author]) {
    tally[.authorsNumbered] += authors.count
    for author in authors { self.authors[author.number] = author.clientID }
  }

  private func note(
    _ changes: [ServerMessage.Change], after from: Int, through: Int, first: Int
  ) {
    for (offset, change) in changes.enumerated()
    where first + offset > from && first + offset <= through {
      if change.clientID == clientID { tally[.ownChangesInRanges] += 1 }
      sightings.append(
        Sighting(
          revision: first + offset, client: change.clientID, sequence: change.sequence,
          operation: change.operation))
    }
  }

  private static func endsPaging(_ code: ErrorCode) -> Bool {
    code == .historyGone || code == .epochChanged || code == .futureRevision
  }

  private func count(_ code: ErrorCode) {
    switch code {
    case .unavailable: tally[.refusalsUnavailable] += 1
    case .busy: tally[.refusalsBusy] += 1
    case .tooFast: tally[.refusalsTooFast] += 1
    case .historyGone: tally[.refusalsHistoryGone] += 1
    case .epochChanged: tally[.refusalsEpochChanged] += 1
    default: break
    }
  }

  private var sendsChange: Bool {
    outgoing.contains { bytes in
      let message = bytes.withUnsafeBytes { try? ClientMessage.decode($0).message }
      if case .change = message { return true }
      return false
    }
  }

  // MARK: Actions of the machine

  /// Returns the messages to be sent; throws the first error.
  package func finish() throws -> [[UInt8]] {
    if let mistake { throw mistake }
    return takeOutgoing()
  }

  private func takeOutgoing() -> [[UInt8]] {
    defer { outgoing = [] }
    return outgoing
  }

  private func handle(_ event: ClientEvent, now: Int64) {
    guard !isDead else { return }
    take(machine.handle(event, now: now), now: now)
  }

  private func take(_ actions: [ClientAction], now: Int64) {
    var hasKeepFailed = false
    for action in actions {
      if let left = actionsToDeath {
        guard left > 0 else {
          // Messages that were already sent arrive nevertheless.
          isDead = true
          return
        }
        actionsToDeath = left - 1
      }
      switch action {
      case .connect: wantsConnection = true
      case .disconnect: hasHungUp = true
      case .send(let bytes): outgoing.append(bytes)
      case .wake(let at): wakeAt = at
      case .needToken: wantsToken = true
      case .claim(let claim): self.claim = claim
      case .line(.stopped(.refused(let code))):
        if code != .unauthorised { mistake = .error(code.rawValue) }
      case .line, .welcome, .tokenEnds, .refreshed, .resource, .answer, .room: break
      case .note(_, let action): take(action, &hasKeepFailed)
      }
    }
    if hasKeepFailed { handle(.note(documentID, .keepFailed), now: now) }
  }

  private func take(_ action: NoteAction, _ hasKeepFailed: inout Bool) {
    switch action {
    case .keep(let kept, let isRequired):
      tally[.keeps] += 1
      if isRequired, kept.isInParts { tally[.changesInParts] += 1 }
      guard isDiskFull else {
        disk = kept
        return
      }
      tally[isRequired ? .requiredKeepsFailed : .keepsFailed] += 1
      if isRequired { disk = nil }
      hasKeepFailed = true
    case .forget: disk = nil
    case .status(let status):
      self.status = status
      if let refusal = status.refusal { mistake = .refusedForGood(refusal.rawValue) }
      switch status.phase {
      case .failed, .deleted, .leaving, .left: mistake = .error("\(status.phase)")
      case .joining, .live, .away: break
      }
    case .outOfStep: mistake = .outOfStep
    case .misfit: mistake = .misfit
    case .reset, .apply, .step, .kind, .people, .carets, .title, .rebased: break
    }
  }
}

/// An event that must never occur in a simulated client.
package enum SimulatedClientError: Error {
  case refusedForGood(String)
  case error(String)
  /// An older revision of the same epoch.
  case wentBack(from: Int, to: Int)
  /// The server's messages do not match the client's state.
  case outOfStep
  /// An edit does not match the client's text.
  case misfit
  /// The stored note is unreadable.
  case unreadable
}
