import ParleyLocks
import OTCore
import ParleyClient
import ParleyClientCore
import SocketMessages

/// A server of one note, `n`, without sockets: it answers in the call that sends, and a test makes
/// it change the text, refuse, hold back its answers, and end connections.
final class ScriptedServer: ClientTransport {
  struct State {
    var document: Document
    var log: [TextOperation] = []
    /// The text with its attributes, of a note with formatting; and the log with its formatting.
    var formatted: RichDocument?
    var formattedLog: [RichOperation] = []
    var sequences: [String: Int] = [:]
    /// The clients and sequences of the revisions that are not `other`'s.
    var made: [Int: (client: String, sequence: Int)] = [:]
    var client = ""
    var connection: ScriptedConnection?
    var connections = 0
    var changes = 0
    var refusal: ErrorCode?
    var holdsAnswers = false
    /// The answer to a hello, in place of a welcome.
    var helloRefusal: ErrorCode?
    /// The code with which a connection ends at its hello.
    var helloEnd: UInt16?
    /// The answer to a join, in place of the text.
    var joinRefusal: ErrorCode?
    /// Whether no connection can be opened.
    var isGone = false
    /// Whether only a hello is answered.
    var isSilent = false
    /// Whether rooms are subscribed, and publications are stored at once.
    var answersRooms = false
    var held: [ServerMessage] = []
    var access = ServerMessage.Joined.Access.write
    /// The person whose the tokens are.
    var person: String?
    var tokens: [String] = []
    var joins = 0
    /// The messages that publish, and have no answer yet.
    var publications: [(id: String, room: String)] = []
    /// The identities given out, with their person.
    var clients: [String: String?] = [:]
  }

  let state: Locked<State>

  init(_ text: String = "") { state = Locked(State(document: Document(text))) }

  /// A server of a note with formatting.
  init(formatted content: RichDocument) {
    var made = State(document: content.text)
    made.formatted = content
    state = Locked(made)
  }

  var text: String { state.withLock { $0.document.text } }
  /// The text with its attributes, of a note with formatting.
  var formatted: RichDocument? { state.withLock { $0.formatted } }
  /// The changes that came in, repeated ones among them.
  var changeCount: Int { state.withLock { $0.changes } }
  var connectionCount: Int { state.withLock { $0.connections } }

  func set(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

  struct Gone: Error {}

  func open() async throws -> any ClientConnection {
    if state.withLock({ $0.isGone }) { throw Gone() }
    // Which the server holds, and which does not hold the server.
    let connection = ScriptedConnection { [weak self] in self?.take($0, from: $1) }
    state.withLock {
      $0.connection = connection
      $0.connections += 1
    }
    return connection
  }

  /// Ends the connection.
  func cut() { state.withLock { $0.connection }?.close() }

  /// Changes the text as another client.
  func change(_ operation: (Document) -> TextOperation) {
    state.withLock { state in push(RichOperation(operation(state.document)), &state) }
  }

  /// Changes the text and its attributes as another client.
  func change(formatted operation: RichOperation) {
    state.withLock { state in push(operation, &state) }
  }

  private func push(_ operation: RichOperation, _ state: inout State) {
    state.append(operation)
    let change = ServerMessage.Change(
      clientID: "other", sequence: state.log.count, operation: operation.text,
      format: operation.changeFormat.map { FormatJSON($0) })
    state.connection?.push(
      .changes(.init(documentID: "n", revision: state.log.count, changes: [change])))
  }

  var tokens: [String] { state.withLock { $0.tokens } }
  /// The publications that have no answer yet.
  var publicationCount: Int { state.withLock { $0.publications.count } }

  /// Answers all that was published, as the first publication of its room.
  func answerPublications() {
    state.withLock { state in
      for (id, room) in state.publications {
        state.connection?.push(
          .published(
            .init(room: room, position: .init(epoch: "e", offset: 1), isRepeated: false)),
          to: id)
      }
      state.publications = []
    }
  }

  /// Gives the answers that were held back.
  func answer() {
    state.withLock { state in
      state.holdsAnswers = false
      for message in state.held { state.connection?.push(message, to: "c0") }
      state.held = []
    }
  }

  private func take(_ bytes: [UInt8], from connection: ScriptedConnection) {
    guard let (id, message) = try? bytes.withUnsafeBytes({ try ClientMessage.decode($0) }) else {
      return
    }
    state.withLock { state in
      guard state.connection === connection else { return }
      switch message {
      case .hello(let hello):
        if let token = hello.token { state.tokens.append(token) }
        if let code = state.helloEnd { return connection.end(code) }
        if let code = state.helloRefusal {
          connection.push(
            .error(.init(code: code, message: "", retryable: false, retryAfter: nil)), to: id)
          return
        }
        if let claim = hello.client, let owner = state.clients[claim.id], owner != state.person {
          // A resume token counts for its own person alone.
          connection.push(
            .error(
              .init(code: .unauthorised, message: "", retryable: false, retryAfter: nil)), to: id)
          return
        }
        state.client = hello.client?.id ?? "A\(state.connections)"
        state.clients[state.client] = state.person
        connection.push(
          .welcome(
            .init(
              clientID: state.client, resumeToken: "r", serverTime: 1, demo: true,
              capabilities: state.formatted == nil ? [] : ["rich"], limits: Limits(),
              personID: state.person)), to: id)
      case .ping: connection.push(.pong(.init(serverTime: 1)), to: id)
      case _ where state.isSilent: break
      case .subscribe(let subscribe) where state.answersRooms:
        connection.push(
          .subscribed(
            .init(
              room: subscribe.room, position: .init(epoch: "e", offset: 0), isRecovered: nil,
              publications: [], present: nil)), to: id)
      case .blocks: connection.push(.blocks(.init(people: [])), to: id)
      case .publish(let publish) where state.answersRooms:
        connection.push(
          .published(
            .init(room: publish.room, position: .init(epoch: "e", offset: 1), isRepeated: false)),
          to: id)
      case .publish(let publish): state.publications.append((id, publish.room))
      case .join(let join):
        state.joins += 1
        if let code = state.joinRefusal {
          connection.push(
            .error(.init(code: code, message: "", retryable: false, retryAfter: nil)), to: id)
          return
        }
        var content = ServerMessage.Joined.Content.text(state.document.text)
        if let resume = join.resume {
          content = .changes(
            (resume.revision..<state.log.count).map { index in
              let author = state.made[index + 1]
              return .init(
                clientID: author?.client ?? "other", sequence: author?.sequence ?? index + 1,
                operation: state.log[index],
                format: state.formattedLog[index].changeFormat.map { FormatJSON($0) })
            })
        }
        var joined = ServerMessage.Joined(
          documentID: "n", title: "Title", epoch: "e", revision: state.log.count,
          content: content, lastSequence: state.sequences[state.client] ?? 0,
          access: state.access, presence: [])
        if let formatted = state.formatted {
          joined.kind = .rich
          if join.resume == nil { joined.format = FormatJSON(of: formatted) }
        }
        connection.push(.joined(joined), to: id)
      case .change(let change):
        state.changes += 1
        let reply = state.commit(change)
        if state.holdsAnswers { state.held.append(reply) } else { connection.push(reply, to: id) }
      default: break
      }
    }
  }
}

extension ScriptedServer.State {
  /// Appends a change to the log.
  mutating func append(_ operation: RichOperation) {
    log.append(operation.text)
    formattedLog.append(operation)
    try? document.apply(operation.text)
    try? formatted?.apply(operation)
  }

  mutating func commit(_ change: ClientMessage.Change) -> ServerMessage {
    if let refusal {
      return .refused(
        .init(
          documentID: "n", sequence: change.sequence, code: refusal, message: "",
          retryable: refusal.isRetryable, retryAfter: nil))
    }
    if let (revision, _) = made.first(where: {
      $0.value.client == client && $0.value.sequence == change.sequence
    }) {
      return .acknowledged(
        .init(documentID: "n", sequence: change.sequence, revision: revision))
    }
    var operation = RichOperation(change.operation, (try? change.checkedFormat()) ?? nil)
    for earlier in formattedLog[change.revision...] {
      guard let moved = try? RichOperation.transform(earlier, operation) else { break }
      operation = moved.1
    }
    append(operation)
    made[log.count] = (client, change.sequence)
    sequences[client] = change.sequence
    return .acknowledged(
      .init(documentID: "n", sequence: change.sequence, revision: log.count))
  }
}
