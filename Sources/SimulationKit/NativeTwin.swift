import GatewayPorts
package import OTCore
import SocketMessages

/// A `parley.v1` client: says hello, joins one document, types, resumes.
///
/// It is what a client author would write over `ClientSynchronizer`, and nothing more.
package struct NativeTwin {
  /// A revision as this client was shown it.
  package struct Sighting: Sendable {
    package let revision: Int
    package let client: String
    package let sequence: Int
    /// What it did; `nil` for an own change, of which only the number comes back.
    package let operation: TextOperation?
  }

  private struct Replica {
    /// The local text, own unconfirmed edits included.
    var document: Document
    /// The server's text at the synchroniser's revision.
    var server: Document
    /// The change that made the synchroniser's revision.
    var change: ChangeName?
    var synchronizer: ClientSynchronizer
  }

  /// The client's id, once the server has given one.
  package private(set) var clientID: String?
  /// Every revision that was shown or acknowledged to it.
  package private(set) var sightings: [Sighting] = []
  /// What it did and was told.
  package private(set) var tally = Tally()

  private var replica: Replica?
  private var isJoined = false
  /// Whether the change in flight cannot go in as it was sent.
  private var isRefused = false
  /// What was too much, and is sent again after its time.
  private enum PutOff {
    case change, join
  }
  private var putOff: PutOff?
  /// Milliseconds that the server wants it to wait; taken by whoever has a clock.
  package private(set) var pause: Int?
  private var resumeToken: String?
  private let documentID: String
  private let name: String
  private var messagesSent = 0

  package init(name: String, documentID: String) {
    self.name = name
    self.documentID = documentID
  }

  /// The local text; `nil` before the first join.
  package var document: Document? { replica?.document }

  /// The newest revision it was shown or promised.
  package var revision: Int { replica?.synchronizer.revision ?? 0 }

  /// Whether a change has gone out that has no answer yet.
  package var isAwaiting: Bool { replica?.synchronizer.unacknowledged != nil }

  /// Whether it is joined and nothing waits for the server.
  package var isSettled: Bool {
    isJoined && replica?.synchronizer.unconfirmedCount == 0
  }

  /// A connection has opened: what to send first.
  package mutating func connected() -> [[UInt8]] {
    var claim: ClientMessage.Hello.Claim?
    if let clientID, let resumeToken { claim = .init(id: clientID, resumeToken: resumeToken) }
    return [encode(.hello(.init(name: name, client: claim))), join()]
  }

  private mutating func join() -> [UInt8] {
    let resume = replica.map {
      ResumePoint(
        epoch: $0.synchronizer.epoch, revision: $0.synchronizer.revision, change: $0.change)
    }
    return encode(.join(.init(documentID: documentID, resume: resume)))
  }

  /// The connection is gone.
  package mutating func disconnected() {
    isJoined = false
    putOff = nil
    pause = nil
    replica?.synchronizer.disconnect()
  }

  /// Its process ends, and another goes on from what it kept.
  package mutating func restart() {
    guard let kept = replica?.synchronizer.kept else { return }
    isJoined = false
    replica?.synchronizer = ClientSynchronizer(kept)
  }

  /// Has waited too long for an answer, and sends its change again as it was.
  package mutating func sendAgain() -> [[UInt8]] {
    guard isJoined, let change = replica?.synchronizer.retry() else { return [] }
    tally[.changesSentAgain] += 1
    return encode(change)
  }

  /// Takes the time that it was told to wait; ``goOn()`` is to be called after it.
  package mutating func takePause() -> Int? {
    defer { pause = nil }
    return pause
  }

  /// The time is over.
  package mutating func goOn() -> [[UInt8]] {
    defer { putOff = nil }
    switch putOff {
    case .join: return [join()]
    case .change where isJoined && replica?.synchronizer.isOvertaken == true: return joinAgain()
    case .change where isJoined: return encode(replica?.synchronizer.retry())
    case .change, nil: return []
    }
  }

  /// The change in flight cannot go in as it is. Another copy of it may still be under way: what
  /// became of it, the join tells.
  private mutating func joinAgain() -> [[UInt8]] {
    replica?.synchronizer.disconnect()
    isJoined = false
    isRefused = true
    return [join()]
  }

  private mutating func putOff(_ what: PutOff, _ milliseconds: Int?) -> [[UInt8]] {
    putOff = what
    pause = milliseconds
    return []
  }

  /// Types: changes the text at once, and returns a message if none is in flight.
  package mutating func edit(_ operation: TextOperation) throws -> [[UInt8]] {
    tally[.edits] += 1
    if !isJoined { tally[.editsWhileAway] += 1 }
    try replica?.document.apply(operation)
    return encode(try replica?.synchronizer.edit(operation))
  }

  /// Takes a frame, and returns what to send.
  package mutating func receive(_ bytes: UnsafeRawBufferPointer) throws -> [[UInt8]] {
    let (_, message) = try ServerMessage.decode(bytes)
    switch message {
    case .welcome(let welcome):
      clientID = welcome.clientID
      resumeToken = welcome.resumeToken
      return []
    case .joined(let joined): return try receive(joined)
    case .changes(let changes):
      // Until the join is answered, the answer will hold all of this again.
      guard isJoined else { return [] }
      let messages = try receive(changes.changes, from: changes.revision)
      replica?.change?.time = changes.time
      return messages
    case .acknowledged(let answer):
      guard isJoined else { return [] }
      tally[answer.revision > revision ? .acknowledgements : .dedupeHits] += 1
      let isNews = answer.revision > revision
      let next = try acknowledge(answer.sequence, revision: answer.revision)
      if isNews { replica?.change?.time = answer.time }
      return encode(next)
    case .refused(let refusal):
      count(refusal.code)
      // One change sent twice may be refused twice.
      guard isJoined, refusal.sequence == replica?.synchronizer.changeInFlight?.sequence else {
        return []
      }
      let isOvertaken = replica?.synchronizer.isOvertaken ?? false
      if refusal.code == .tooFast { return putOff(.change, refusal.retryAfter) }
      if refusal.retryable, !isOvertaken { return encode(replica?.synchronizer.retry()) }
      guard isOvertaken || [.historyGone, .epochChanged, .futureRevision].contains(refusal.code)
      else {
        throw TwinError.refusedForGood(refusal.code.rawValue)
      }
      return joinAgain()
    case .resync(let resync):
      guard isJoined else { return [] }
      tally[resync.reason == .epochChanged ? .epochResyncs : .lagSnapshots] += 1
      return try restart(
        text: resync.text, epoch: resync.epoch, revision: resync.revision,
        lastSequence: resync.lastSequence, change: resync.change, isSameConnection: true)
    case .error(let error) where error.retryable:
      // The only request of its own that can be turned away is a join.
      if error.code == .tooFast {
        tally[.refusalsTooFast] += 1
        return putOff(.join, error.retryAfter)
      }
      tally[.joinsTurnedAway] += 1
      return [join()]
    case .error(let error): throw TwinError.error(error.code.rawValue)
    case .refreshed, .granted, .tokenExpiring, .accessChanged: return []
    case .selections, .presence, .left, .subscribed, .unsubscribed, .published, .publication,
      .roomHistory, .roomPresence, .typing, .receipt, .receipts, .lastOnline, .blocks, .flag,
      .flags, .following, .resourceUpdate,
      .documentChanged, .goodbye, .pong, .unknown:
      return []
    }
  }

  private mutating func receive(_ joined: ServerMessage.Joined) throws -> [[UInt8]] {
    isJoined = true
    switch joined.content {
    case .changes(let changes):
      // Nothing may be sent before all that was missed has been seen.
      tally[changes.isEmpty ? .resumesWithNothingMissed : .resumesByReplay] += 1
      let first = joined.revision - changes.count + 1
      var messages = try receive(changes, from: first)
      replica?.change = joined.change
      if isAwaiting {
        if isRefused {
          replica?.synchronizer.renumber(lastSequence: joined.lastSequence)
        } else {
          tally[.changesSentAgain] += 1
        }
      }
      isRefused = false
      messages += encode(replica?.synchronizer.reconnect())
      return messages
    case .text(let text):
      guard replica != nil else {
        replica = Replica(
          document: Document(text), server: Document(text), change: joined.change,
          synchronizer: ClientSynchronizer(
            epoch: joined.epoch, revision: joined.revision, nextSequence: joined.lastSequence + 1))
        return []
      }
      tally[.resumesBySnapshot] += 1
      isRefused = false
      return try restart(
        text: text, epoch: joined.epoch, revision: joined.revision,
        lastSequence: joined.lastSequence, change: joined.change, isSameConnection: false)
    }
  }

  private mutating func receive(
    _ changes: [ServerMessage.Change], from first: Int
  ) throws -> [[UInt8]] {
    var messages: [[UInt8]] = []
    for (offset, change) in changes.enumerated() {
      let revision = first + offset
      if change.clientID == clientID {
        tally[.ownChangesInRanges] += 1
        messages += encode(try acknowledge(change.sequence, revision: revision))
        continue
      }
      note(
        revision, client: change.clientID, sequence: change.sequence, operation: change.operation)
      try replica?.server.apply(change.operation)
      if let local = try replica?.synchronizer.receive(change.operation, revision: revision) {
        try replica?.document.apply(local)
      }
    }
    return messages
  }

  private mutating func acknowledge(
    _ sequence: Int, revision: Int
  ) throws -> ClientSynchronizer.Change? {
    guard let clientID, let known = replica?.synchronizer.revision, revision > known else {
      return nil
    }
    note(revision, client: clientID, sequence: sequence)
    if let committed = replica?.synchronizer.unacknowledged {
      try replica?.server.apply(committed)
    }
    return try replica?.synchronizer.acknowledge(sequence: sequence, revision: revision)
  }

  private mutating func restart(
    text: String, epoch: String, revision: Int, lastSequence: Int, change: ChangeName?,
    isSameConnection: Bool
  ) throws -> [[UInt8]] {
    guard var held = replica else { return [] }
    // Within an epoch revisions never go back.
    guard epoch != held.synchronizer.epoch || revision >= held.synchronizer.revision else {
      throw TwinError.wentBack(from: held.synchronizer.revision, to: revision)
    }
    if held.synchronizer.unconfirmedCount > 0 { tally[.mergesOfPendingEdits] += 1 }
    let new = Document(text)
    let (local, next) = try held.synchronizer.rebase(
      from: held.server, to: new, epoch: epoch, revision: revision, lastSequence: lastSequence,
      isSameConnection: isSameConnection)
    try held.document.apply(local)
    held.server = new
    held.change = change
    replica = held
    return encode(next)
  }

  private mutating func note(
    _ revision: Int, client: String, sequence: Int, operation: TextOperation? = nil
  ) {
    replica?.change = ChangeName(clientID: client, sequence: sequence)
    sightings.append(
      Sighting(revision: revision, client: client, sequence: sequence, operation: operation))
  }

  private mutating func count(_ code: ErrorCode) {
    switch code {
    case .unavailable: tally[.refusalsUnavailable] += 1
    case .busy: tally[.refusalsBusy] += 1
    case .tooFast: tally[.refusalsTooFast] += 1
    case .historyGone: tally[.refusalsHistoryGone] += 1
    case .epochChanged: tally[.refusalsEpochChanged] += 1
    default: break
    }
  }

  private mutating func encode(_ change: ClientSynchronizer.Change?) -> [[UInt8]] {
    guard let change, let epoch = replica?.synchronizer.epoch else { return [] }
    return [
      encode(
        .change(
          .init(
            documentID: documentID, epoch: epoch, revision: change.revision,
            sequence: change.sequence, operation: change.operation)))
    ]
  }

  private mutating func encode(_ message: ClientMessage) -> [UInt8] {
    messagesSent += 1
    var bytes: [UInt8] = []
    message.encode(messageID: "\(messagesSent)", into: &bytes)
    return bytes
  }
}

/// What a simulated client never expects to be told.
package enum TwinError: Error {
  case refusedForGood(String)
  case error(String)
  /// An older revision, and no other epoch.
  case wentBack(from: Int, to: Int)
}
