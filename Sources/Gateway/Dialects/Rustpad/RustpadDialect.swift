import ParleyGatewayPorts
import ParleyJSON
import OTCore
import ParleyRustpad
import SocketMessages
import ParleyWebSocketFrames

/// The server side of Rustpad's protocol.
///
/// A client's revision outlives its connection, and is the note's revision: each connection is sent
/// the whole log. After its line broke, a client sends its unanswered edit again, without a name and
/// already moved over what it has received. The log shows whether it contains the edit.
final class RustpadDialect: NoteDialect {
  /// Milliseconds for which a new client may send an edit of its former connection again, from its
  /// first message.
  private static let settlingMilliseconds: Int64 = 2_000
  /// Milliseconds after which a client without a message counts as begun.
  private static let silenceMilliseconds: Int64 = 8_000
  private static let idBegin = "rustpad."

  let documents: Documents
  private let access: Access
  private var links: [ConnectionID: RustpadLink] = [:]
  /// The languages of notes that are open.
  private var languages: [DocumentID: String] = [:]

  init(_ board: Switchboard, _ documents: Documents, _ access: Access) {
    self.documents = documents
    self.access = access
    super.init(board, Traits(listing: .rustpad, createsDocuments: true))
  }

  /// Breaks the reference cycles between connections and their dialect.
  func breakReferenceCycles() { links = [:] }

  // MARK: Connections

  /// Greets a new connection, and opens its note.
  func opened(_ connection: Connection, note: DocumentID) {
    let name = connection.client
    let person = Self.idBegin + personKey(of: connection) + "."
    connection.client = person + name
    connectionsByClient[connection.client] = connection.id
    let link = RustpadLink(
      connection, note: note, number: Int(StableHash.of(name) >> 12) | 1, person: person,
      beganAt: dependencies.clock.uptime + Self.silenceMilliseconds)
    links[connection.id] = link
    send(RustpadFrame.identity(link.number), to: connection)
    guard !note.text.isEmpty, note.text.utf8.count <= settings.limits.documentIDBytesMax,
      connection.mayHave(.read, on: note)
    else {
      return board.close(
        connection, .unauthorised, "the token does not grant reading this note")
    }
    // Resuming from no epoch makes a node read the log first, which may have an edit that the client
    // sends again.
    documents.join(
      note, DocumentJoining(resume: ResumePoint(epoch: "", revision: 0)), messageID: "",
      connection)
  }

  /// Returns a text that is the same for all connections of a person, and says nothing else.
  private func personKey(of connection: Connection) -> String {
    let person = connection.user?.text ?? connection.address
    return "\(StableHash.of(dependencies.tokens.token(for: "rustpad/" + person)))"
  }

  /// Handles the end of a connection.
  func closed(_ id: ConnectionID) {
    guard let link = links.removeValue(forKey: id) else { return }
    let others = self.others(of: link)
    if others.isEmpty { languages[link.note] = nil }
    for other in others { send(RustpadFrame.user(link.number, nil), to: other.connection) }
  }

  func link(_ connection: Connection) -> RustpadLink? { links[connection.id] }

  /// Returns the links of other open connections of the same note, oldest first.
  private func others(of link: RustpadLink) -> [RustpadLink] {
    links.values.filter { $0 !== link && $0.note == link.note && $0.connection.isOpen }
      .sorted { $0.connection.id < $1.connection.id }
  }

  func send(_ bytes: [UInt8], to connection: Connection) {
    send(Frame { $0 += bytes }, to: connection)
  }

  // MARK: Messages

  func received(
    _ bytes: UnsafeRawBufferPointer, kind: MessageKind, excess: Excess?,
    on connection: Connection
  ) {
    guard let link = links[connection.id] else { return }
    guard bytes.count <= RustpadMessage.bytesMax else {
      return oversized(connection, bytesMax: RustpadMessage.bytesMax)
    }
    let message = RustpadMessage(
      bytes.bindMemory(to: UInt8.self), componentsMax: settings.limits.operationComponentsMax)
    metrics.received[message?.metricName ?? "malformed", default: 0] += 1
    guard excess == nil else {
      return close(connection, .tooFast, "rate limit exceeded; reconnect later")
    }
    switch message {
    case .edit(let revision, let operation)?: edit(operation, at: revision, link)
    case .language(let language)?: set(language, link)
    case .info(let user)?: introduce(user, link)
    case .cursors(let cursors)?:
      begin(link)
      guard isShown(link) else { return }
      link.cursors = cursors
      for other in others(of: link) {
        send(RustpadFrame.cursors(link.number, cursors), to: other.connection)
      }
    case nil: close(connection, .badMessage, "expected a message of Rustpad")
    }
  }

  /// Records a client's first message, right behind which an edit may follow.
  private func begin(_ link: RustpadLink) {
    guard !link.hasBegun else { return }
    link.hasBegun = true
    link.beganAt = dependencies.clock.uptime
  }

  private func isShown(_ link: RustpadLink) -> Bool {
    link.connection.mayHave(.presence, on: link.note)
  }

  private func introduce(_ user: RustpadUser, _ link: RustpadLink) {
    begin(link)
    guard isShown(link) else { return }
    link.user = user
    if let identity = link.connection.identity {
      link.connection.name = access.name(of: identity, claimed: OneLine.made(of: user.name))
    }
    for other in others(of: link) {
      send(RustpadFrame.user(link.number, user), to: other.connection)
    }
  }

  private func set(_ language: String, _ link: RustpadLink) {
    guard link.connection.subscriptions[link.note]?.verbs.contains(.write) ?? false else { return }
    languages[link.note] = language
    send(RustpadFrame.language(language), to: link.connection)
    for other in others(of: link) {
      send(RustpadFrame.language(language), to: other.connection)
    }
  }

  // MARK: Edits

  private func edit(_ operation: TextOperation, at revision: Int, _ link: RustpadLink) {
    let connection = link.connection
    guard let subscription = connection.subscriptions[link.note],
      link.isSettled || settle(operation, at: revision, subscription, link)
    else {
      link.waiting = link.repeated == nil ? .edit(revision: revision, operation) : nil
      return
    }
    documents.submit(
      LiveDocument.Submission(
        client: connection.client, sequence: 0, revision: revision, operation: operation,
        author: connection.name, time: dependencies.clock.now, isResendable: false,
        rules: .rustpad),
      messageID: "", subscription)
  }

  /// Handles the first edit of a client: looks for it in the log, and sends the client the log.
  ///
  /// - Returns: Whether the edit is a new one; `false` also if that is not known yet.
  private func settle(
    _ operation: TextOperation, at revision: Int, _ subscription: Subscription,
    _ link: RustpadLink
  ) -> Bool {
    guard let live = subscription.room.live,
      // It may be the same edit, and may still be withdrawn.
      !live.hasTentative(where: { isOfOtherConnection($0, link) })
    else { return false }
    link.repeated = repetition(of: operation, at: revision, in: live, link)
    start(link)
    guard link.repeated != nil else { return true }
    metrics.changesRepeated += 1
    return false
  }

  /// Returns the revision of the entry that an edit repeats, if the client has sent the edit on a
  /// former connection.
  private func repetition(
    of operation: TextOperation, at revision: Int, in live: LiveDocument, _ link: RustpadLink
  ) -> Int? {
    live.repetition(of: operation, at: revision, by: .rustpad) { isOfOtherConnection($0, link) }
  }

  /// Whether an entry may be of a former connection of the client. That connection may still look
  /// open.
  private func isOfOtherConnection(_ entry: LogEntry, _ link: RustpadLink) -> Bool {
    entry.client.utf8.starts(with: link.person.utf8)
      && !entry.client.isExactly(link.connection.client)
      && dependencies.clock.now - entry.time <= settings.dialects.recoveryMilliseconds
  }

  // MARK: The history

  /// Begins to send a client the log.
  func begin(_ subscription: Subscription, _ live: LiveDocument) {
    guard let link = link(subscription.connection) else { return }
    let connection = subscription.connection
    guard live.durableRevision <= settings.lagRevisionsMax else {
      return board.close(
        connection, .tooMany, "the note has too many changes for Rustpad: open its page")
    }
    // No entry follows it: the client is sent nothing yet.
    subscription.revision = -1
    if let language = languages[link.note] {
      send(RustpadFrame.language(language), to: connection)
    }
    for other in others(of: link) {
      if let user = other.user { send(RustpadFrame.user(other.number, user), to: connection) }
      if let cursors = other.cursors {
        send(RustpadFrame.cursors(other.number, cursors), to: connection)
      }
    }
    if link.waiting != nil {
      editAgain(link)
    } else if !mayRepeat(live, link) {
      start(link)
    }
  }

  /// Whether the log has an entry that the client may send again.
  private func mayRepeat(_ live: LiveDocument, _ link: RustpadLink) -> Bool {
    let isOther: (LogEntry) -> Bool = { self.isOfOtherConnection($0, link) }
    return live.hasTentative(where: isOther)
      || live.durableEntries(after: live.oldestBase).contains(where: isOther)
  }

  /// Handles an edit that has waited.
  private func editAgain(_ link: RustpadLink) {
    guard case .edit(let revision, let operation)? = link.waiting else { return }
    link.waiting = nil
    edit(operation, at: revision, link)
  }

  /// Sends a client the log, from its beginning. Until then an entry may turn out to be an edit that
  /// the client has sent on a former connection, and sends again.
  private func start(_ link: RustpadLink) {
    guard !link.isSettled, let subscription = link.connection.subscriptions[link.note] else {
      return
    }
    link.isSettled = true
    subscription.revision = 0
    documents.delivery.lag(subscription)
    documents.delivery.drained(link.connection)
  }

  /// Sends the log to clients that had no unanswered edit.
  func ticked() {
    let now = dependencies.clock.uptime
    let held = links.values.filter {
      !$0.isSettled && $0.connection.isOpen
        && ($0.waiting != nil || now - $0.beganAt >= Self.settlingMilliseconds)
    }
    for link in held.sorted(by: { $0.connection.id < $1.connection.id }) {
      if link.waiting == nil { start(link) } else { editAgain(link) }
    }
  }
}
