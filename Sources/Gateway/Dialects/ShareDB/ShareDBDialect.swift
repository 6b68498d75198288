import ParleyGatewayPorts
import ParleyJSON
import OTCore
import ParleyShareDB
import SocketMessages
import ParleyWebSocketFrames

/// The server side of ShareDB's protocol, for documents of the type `text-unicode`.
///
/// A document of the collection `notes` is a note, and its version the note's revision. Clients
/// name their changes by the id of their connection and a number; the id continues on the client's
/// next connection. It contains a token, since other clients learn the ids of authors.
final class ShareDBDialect: NoteDialect {
  /// The collection of all notes.
  static let collection = "notes"
  private static let separator = UInt8(ascii: ".")

  let documents: Documents
  private let access: Access
  private var links: [ConnectionID: ShareDBLink] = [:]

  init(_ board: Switchboard, _ documents: Documents, _ access: Access) {
    self.documents = documents
    self.access = access
    super.init(board, Traits(listing: .shareDB))
  }

  /// Breaks the reference cycles between connections and their dialect.
  func breakReferenceCycles() { links = [:] }

  // MARK: Connections

  /// Greets a new connection.
  func opened(_ connection: Connection) {
    let link = ShareDBLink(connection, source: source(of: connection))
    links[connection.id] = link
    connectionsByClient[connection.client] = connection.id
    send(ShareDBFrame.initial(id: link.source), to: connection)
  }

  /// Handles the end of a connection.
  func closed(_ id: ConnectionID) {
    guard let link = links.removeValue(forKey: id) else { return }
    for presence in link.presences.values { leave(presence, of: link) }
  }

  func link(_ connection: Connection) -> ShareDBLink? { links[connection.id] }

  /// The links of open connections, oldest first.
  var linksInOrder: [ShareDBLink] {
    links.values.filter(\.connection.isOpen).sorted { $0.connection.id < $1.connection.id }
  }

  func send(_ bytes: [UInt8], to connection: Connection) {
    send(Frame { $0 += bytes }, to: connection)
  }

  /// Returns the id that a client presents on its next connection: its client id and a token.
  private func source(of connection: Connection) -> String {
    guard let identity = connection.identity else { return connection.client }
    return connection.client + "."
      + dependencies.tokens.token(for: identity.resumeSubject(of: connection.client))
  }

  /// Continues under the id of the client's former connection, if the client proves it.
  private func resume(_ id: String, _ link: ShareDBLink) {
    let connection = link.connection
    guard !id.isExactly(link.source), connection.subscriptions.isEmpty, link.waitingCount == 0,
      let identity = connection.identity, let end = id.utf8.firstIndex(of: Self.separator)
    else { return }
    let client = String(id[..<end])
    let token = String(id[id.utf8.index(after: end)...])
    guard dependencies.tokens.isValid(token, for: identity.resumeSubject(of: client)) else {
      return
    }
    if connectionsByClient[connection.client] == connection.id {
      connectionsByClient[connection.client] = nil
    }
    connection.client = client
    connection.isReturning = true
    link.source = id
    if let older = connectionsByClient[client].flatMap({ connections[$0] }) {
      close(older, .replaced, "this client has reconnected")
    }
    connectionsByClient[client] = connection.id
  }

  // MARK: Messages

  func received(
    _ bytes: UnsafeRawBufferPointer, kind: MessageKind, excess: Excess?,
    on connection: Connection
  ) {
    guard let link = links[connection.id] else { return }
    guard bytes.count <= ShareDBRequest.bytesMax else {
      return oversized(connection, bytesMax: ShareDBRequest.bytesMax)
    }
    let request = ShareDBRequest.read(
      bytes.assumingMemoryBound(to: UInt8.self),
      componentsMax: settings.limits.operationComponentsMax)
    metrics.received[request?.metricName ?? "malformed", default: 0] += 1
    guard excess == nil else {
      // An error would make the client discard its changes. On its next connection it sends them
      // again.
      return close(connection, .tooFast, "rate limit exceeded; reconnect later")
    }
    guard let request else {
      return close(connection, .badMessage, "expected messages of ShareDB: JSON objects")
    }
    handle(request, link)
  }

  private func handle(_ request: ShareDBRequest, _ link: ShareDBLink) {
    let connection = link.connection
    switch request {
    case .handshake(let id):
      if let id { resume(id, link) }
      send(ShareDBFrame.handshake(id: link.source), to: connection)
    case .ping: send(ShareDBFrame.pong, to: connection)
    case .document(let action, let document, let version):
      handle(action, document, version, link)
    case .documents(let action, let collection, let versions):
      handle(action, of: collection, versions, link)
    case .change(let change, let document): handle(change, document, link)
    case .past(let action, let number, _): refuseQuery(action, number, connection)
    case .query(let action, let number): refuseQuery(action, number, connection)
    case .presenceSubscription(let action, let channel, let sequence):
      handle(action, channel, sequence, link)
    case .presence(let presence): handle(presence, link)
    case .presenceRequest(let channel): requestPresence(in: channel, link)
    case .malformed(let action):
      send(
        ShareDBFrame.error(
          ShareDBError(.badlyFormed, "expected a message of ShareDB with its fields"), action),
        to: connection)
    }
  }

  private func refuseQuery(
    _ action: ShareDBRequest.Action, _ number: Int?, _ connection: Connection
  ) {
    send(
      ShareDBFrame.error(
        ShareDBError(
          .notImplemented,
          "this server has no queries and no former versions here; read them below /api/notes"),
        action.rawValue, number: number),
      to: connection)
  }

  // MARK: Documents

  /// Returns the note of a document.
  private func note(
    _ document: ShareDBDocument, _ connection: Connection
  ) throws(ShareDBError) -> DocumentID {
    guard document.collection.isExactly(Self.collection) else {
      throw ShareDBError(.readRejected, "the only collection is \(Self.collection)")
    }
    let bytesMax = settings.limits.documentIDBytesMax
    guard !document.id.isEmpty, document.id.utf8.count <= bytesMax else {
      throw ShareDBError(.readRejected, "a document's id has 1 to \(bytesMax) bytes")
    }
    let id = DocumentID(document.id)
    guard connection.mayHave(.read, on: id) else {
      throw ShareDBError(.readRejected, "the token does not grant reading this document")
    }
    return id
  }

  private func handle(
    _ action: ShareDBRequest.Action, _ document: ShareDBDocument, _ version: Int?,
    _ link: ShareDBLink
  ) {
    let connection = link.connection
    guard action != .unsubscribe else {
      unsubscribe(DocumentID(document.id), link)
      return send(ShareDBFrame.answer(action, of: document), to: connection)
    }
    do throws(ShareDBError) {
      try request(
        ShareDBLink.Waiting(
          document: document, kind: action == .fetch ? .fetch : .subscribe, version: version,
          bulk: nil),
        link)
    } catch {
      send(ShareDBFrame.error(error, action, of: document), to: connection)
    }
  }

  private func handle(
    _ action: ShareDBRequest.Action, of collection: String, _ versions: [ShareDBRequest.Version],
    _ link: ShareDBLink
  ) {
    guard action != .bulkUnsubscribe, !versions.isEmpty else {
      for version in versions { unsubscribe(DocumentID(version.id), link) }
      return send(
        ShareDBFrame.answer(action, of: collection, versions: versions, results: nil),
        to: link.connection)
    }
    let number = link.add(
      ShareDBLink.Bulk(
        action: action, collection: collection, versions: versions, waiting: versions.count,
        hasVersions: versions.contains { $0.version != nil }))
    for version in versions {
      let waiting = ShareDBLink.Waiting(
        document: ShareDBDocument(collection: collection, id: version.id),
        kind: action == .bulkFetch ? .fetch : .subscribe, version: version.version, bulk: number)
      do throws(ShareDBError) { try request(waiting, link) } catch {
        refuse(waiting, error, link)
      }
    }
  }

  /// Joins a document for a request, or answers the request at once.
  private func request(
    _ waiting: ShareDBLink.Waiting, creates: Bool = false, _ link: ShareDBLink
  ) throws(ShareDBError) {
    let connection = link.connection
    let id = try note(waiting.document, connection)
    if waiting.keepsDocument { link.kept.insert(id) }
    if let subscription = connection.subscriptions[id], let live = subscription.room.live {
      return answer(waiting, subscription, live, link)
    }
    let countMax = settings.limits.documentsPerConnectionMax
    guard connection.subscriptions.count + link.waitingCount < countMax else {
      throw ShareDBError(
        .readRejected, "a connection may follow \(countMax) documents; unsubscribe from one first")
    }
    documents.join(
      id, DocumentJoining(creates: creates), messageID: link.add(waiting), connection)
  }

  private func unsubscribe(_ id: DocumentID, _ link: ShareDBLink) {
    link.missing.remove(id)
    link.kept.remove(id)
    leaveUnkept(id, link)
  }

  /// Leaves a document to which the client is not subscribed, unless a change waits for its answer.
  private func leaveUnkept(_ id: DocumentID, _ link: ShareDBLink) {
    guard !link.kept.contains(id), let subscription = link.connection.subscriptions[id],
      subscription.room.live?.pendingRevision(of: link.connection.client) == nil
    else { return }
    documents.followers.leave(subscription)
  }

  // MARK: Changes

  private func handle(
    _ change: ShareDBChange, _ document: ShareDBDocument, _ link: ShareDBLink
  ) {
    let connection = link.connection
    do throws(ShareDBError) {
      switch change.content {
      case .refused(let error): throw error
      case .deletion:
        throw ShareDBError(.rejected, "a note is not deleted here: use DELETE /api/notes/{id}")
      case .operation, .creation: break
      }
      guard change.source?.isExactly(link.source) ?? true else {
        throw ShareDBError(.rejected, "the change was made under another id")
      }
      let id = try note(document, connection)
      if let subscription = connection.subscriptions[id], subscription.room.live != nil {
        return submit(change, document, subscription)
      }
      var creates = false
      if case .creation = change.content { creates = true }
      // A client sends its change again before it subscribes again.
      try request(
        ShareDBLink.Waiting(
          document: document, kind: .change(change), version: change.version, bulk: nil),
        creates: creates, link)
    } catch {
      send(
        ShareDBFrame.error(error, .operation, of: document, change: change.sequence),
        to: connection)
    }
  }

  /// Submits a change of a document that the client follows.
  private func submit(
    _ change: ShareDBChange, _ document: ShareDBDocument, _ subscription: Subscription
  ) {
    let connection = subscription.connection
    let operation: TextOperation
    switch change.content {
    case .operation(let sent): operation = sent
    case .creation(let text):
      guard mayCreate(change.sequence, subscription) else {
        return send(
          ShareDBFrame.error(
            ShareDBError(.alreadyCreated, "the document exists"), .operation, of: document,
            change: change.sequence),
          to: connection)
      }
      operation = [.insert(text)]
    case .deletion, .refused: return
    }
    documents.submit(
      LiveDocument.Submission(
        client: connection.client, sequence: change.sequence, revision: change.version ?? 0,
        operation: operation, author: connection.name, time: dependencies.clock.now,
        rules: .shareDBText, skipsNumbers: true),
      messageID: "", subscription)
  }

  /// Whether a creation is the first change of its document, or is sent again.
  private func mayCreate(_ sequence: Int, _ subscription: Subscription) -> Bool {
    guard let live = subscription.room.live else { return false }
    return live.headRevision == 0
      || live.nextSequence(of: subscription.connection.client) == sequence + 1
  }

  // MARK: Answers

  /// Answers a request about a document that the client follows.
  func answer(
    _ waiting: ShareDBLink.Waiting, _ subscription: Subscription, _ live: LiveDocument,
    _ link: ShareDBLink
  ) {
    let head = live.durableRevision
    let version = waiting.version
    if let version, version > head {
      return refuse(
        waiting, ShareDBError(.futureVersion, "the document has the version \(head) only"), link)
    }
    let isNear = version.map { head - $0 <= settings.lagRevisionsMax } ?? false
    if let version, isNear { sendAgain(after: version, of: live, to: subscription) }
    switch waiting.kind {
    case .change(let change): submit(change, waiting.document, subscription)
    case .creation: break
    case .subscribe, .fetch:
      reply(waiting, isNear ? nil : Self.snapshot(of: live), link)
    }
    leaveUnkept(live.id, link)
  }

  private static func snapshot(of live: LiveDocument) -> ShareDBSnapshot {
    // The first change of a document creates its text.
    live.durableRevision == 0
      ? .missing : ShareDBSnapshot(version: live.durableRevision, text: live.durableDocument.text)
  }

  /// Sends entries that the client lacks, or has received on a former connection.
  private func sendAgain(after version: Int, of live: LiveDocument, to subscription: Subscription) {
    let most = subscription.revision - version
    guard most > 0 else { return }
    if version >= live.oldestBase {
      documents.delivery.send(
        live.durableEntries(after: version).prefix(most), to: subscription)
    } else {
      // They are read from the store, and sent as to a reader that is behind.
      subscription.revision = version
    }
    if subscription.revision < live.durableRevision { documents.delivery.lag(subscription) }
  }

  private func reply(
    _ waiting: ShareDBLink.Waiting, _ snapshot: ShareDBSnapshot?, _ link: ShareDBLink
  ) {
    if let bulk = waiting.bulk {
      return finish(bulk, ShareDBResult(id: waiting.document.id, snapshot: snapshot), link)
    }
    send(
      ShareDBFrame.answer(waiting.action, of: waiting.document, snapshot: snapshot),
      to: link.connection)
  }

  private func finish(_ number: Int, _ result: ShareDBResult, _ link: ShareDBLink) {
    guard let bulk = link.finish(number, result) else { return }
    let isApart =
      bulk.hasVersions && bulk.results.allSatisfy { $0.error == nil && $0.snapshot == nil }
    send(
      ShareDBFrame.answer(
        bulk.action, of: bulk.collection, versions: bulk.versions,
        results: isApart ? nil : bulk.results),
      to: link.connection)
  }

  /// Answers a request with an error.
  func refuse(_ waiting: ShareDBLink.Waiting, _ error: ShareDBError, _ link: ShareDBLink) {
    if case .creation = waiting.kind { return }
    if let bulk = waiting.bulk {
      return finish(
        bulk, ShareDBResult(id: waiting.document.id, snapshot: nil, error: error), link)
    }
    var change: Int?
    if case .change(let sent) = waiting.kind { change = sent.sequence }
    send(
      ShareDBFrame.error(error, waiting.action, of: waiting.document, change: change),
      to: link.connection)
  }

  /// Answers a request for a document that does not exist.
  func answerMissing(_ waiting: ShareDBLink.Waiting, _ link: ShareDBLink) {
    if case .change(let change) = waiting.kind {
      var isCreation = false
      if case .creation = change.content { isCreation = true }
      let error =
        isCreation
        ? ShareDBError(.rejected, "the token does not grant making this document")
        : ShareDBError(.missing, "no document has this id; create it first")
      return refuse(waiting, error, link)
    }
    if waiting.kind.isSubscription { link.missing.insert(DocumentID(waiting.document.id)) }
    if case .creation = waiting.kind { return }
    reply(waiting, .missing, link)
  }

  // MARK: Time

  /// Joins documents that clients were told not to exist, once others have created them, and leaves
  /// documents whose last change is answered.
  func ticked() {
    for link in linksInOrder {
      for id in link.missing.sorted() where documents.isLoaded(id) {
        link.missing.remove(id)
        // The client has created it.
        guard link.connection.subscriptions[id] == nil else { continue }
        documents.join(
          id, DocumentJoining(),
          messageID: link.add(
            ShareDBLink.Waiting(
              document: ShareDBDocument(collection: Self.collection, id: id.text),
              kind: .creation, version: 0, bulk: nil)),
          link.connection)
      }
      guard link.kept.count < link.connection.subscriptions.count else { continue }
      for id in link.connection.subscriptions.keys.sorted() { leaveUnkept(id, link) }
    }
  }
}

extension ShareDBLink.Waiting.Kind {
  /// Whether the client is subscribed to the document, even before it exists.
  var isSubscription: Bool {
    switch self {
    case .subscribe, .creation: true
    case .fetch, .change: false
    }
  }
}

extension ShareDBLink.Waiting {
  /// Whether the client is sent the document's changes from then on.
  var keepsDocument: Bool {
    switch kind {
    case .subscribe, .change, .creation: true
    case .fetch: version != nil
    }
  }

  /// The action of the request.
  var action: ShareDBRequest.Action {
    switch kind {
    case .subscribe, .creation: .subscribe
    case .fetch: .fetch
    case .change: .operation
    }
  }
}
