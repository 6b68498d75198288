import Gateway
import ParleyGatewayPorts
import ParleyJSON
import OTCore

/// A program that adds to a note over HTTP in a simulation.
///
/// It reads the note, asks for a change under a key of its own, and asks again, at any node, until it is
/// answered: after a while without an answer too, so that one change is asked for twice at once.
package final class SimulatedWriter {
  /// A request without an answer.
  struct Asked: Hashable {
    let id: RequestID
    let node: Int
    /// The key of the change that it asks for; `nil` if it asks for the text.
    fileprivate let key: String?
  }

  private enum State {
    case idle
    /// It wants to add this, and has to read first.
    case reading(String)
    /// It wants to have this done.
    case asking(Change)
  }

  /// A change as it is asked for, however often.
  private struct Change {
    let text: String
    let key: String
    let body: [UInt8]
  }

  let documentID: DocumentID
  /// The texts that were acknowledged as written.
  private(set) var acknowledged: [String] = []
  /// The texts that it has given up, as what they were based on is gone: they may be written, once.
  private(set) var givenUp: [String] = []
  /// Its requests on their way.
  private(set) var asked: [Asked] = []
  private(set) var tally = Tally()

  private let name: String
  private let token: String?
  private var state = State.idle
  private var keysMade = 0

  init(name: String, documentID: DocumentID, token: String?) {
    self.name = name
    self.documentID = documentID
    self.token = token
  }

  /// Whether it has nothing left to write.
  var isSettled: Bool {
    if case .idle = state { true } else { false }
  }

  /// Whether no request is on its way either.
  var isAtRest: Bool { isSettled && asked.isEmpty }

  /// It has something to add.
  func add(_ text: String) { state = .reading(text) }

  /// The next request, under this id at this node; `nil` if it wants nothing.
  func ask(_ id: RequestID, at node: Int) -> (head: RequestHead, body: [UInt8])? {
    switch state {
    case .idle: return nil
    case .reading:
      asked.append(Asked(id: id, node: node, key: nil))
      return (head("GET", "text", ["accept": "text/plain"]), [])
    case .asking(let change):
      if asked.contains(where: { $0.key == change.key }) { tally[.httpChangesAskedTwice] += 1 }
      asked.append(Asked(id: id, node: node, key: change.key))
      let headers = ["content-type": "application/json", "idempotency-key": change.key]
      return (head("POST", "changes", headers), change.body)
    }
  }

  private func head(
    _ method: String, _ part: String, _ headers: [String: String]
  ) -> RequestHead {
    var headers = headers
    if let token { headers["authorization"] = "Bearer \(token)" }
    return RequestHead(
      method: method, path: "/api/notes/\(documentID)/\(part)", headers: headers)
  }

  /// The line of a request breaks, or its node dies.
  func forget(_ request: Asked) { asked.removeAll { $0 == request } }

  /// Takes an answer, if it is to a request of its own that it still waits for.
  ///
  /// - Parameter place: Where to add to a text of so many scalars.
  /// - Throws: For an answer that must not be.
  func take(
    _ answer: Response, to id: RequestID, place: (_ scalars: Int) -> Int
  ) throws(SimulatedClientError) {
    guard let index = asked.firstIndex(where: { $0.id == id }) else { return }
    let request = asked.remove(at: index)
    switch state {
    case .reading(let text) where request.key == nil:
      switch answer.status {
      case 200: state = .asking(try change(adding: text, to: answer, place: place))
      case 429, 503: tally[.httpRefusals] += 1
      default: throw .error("HTTP status \(answer.status) to a reader")
      }
    case .asking(let change) where request.key == change.key:
      switch answer.status {
      case 200:
        let isReplayed = answer.headers.contains { $0.name == "idempotency-replayed" }
        tally[isReplayed ? .httpAnswersReplayed : .httpChanges] += 1
        acknowledged.append(change.text)
        state = .idle
      case 409 where Self.isBusy(answer), 429, 503: tally[.httpRefusals] += 1
      case 409, 410:
        // The same request may be under way at another node: whether it is done is not known.
        tally[.httpBasesGone] += 1
        givenUp.append(change.text)
        state = .idle
      default: throw .error("HTTP status \(answer.status) to a writer")
      }
    case .idle, .reading, .asking: break
    }
  }

  private static func isBusy(_ answer: Response) -> Bool {
    JSONValue(answer.body)?.fields?["code"]?.string == "busy"
  }

  private func change(
    adding text: String, to answer: Response, place: (_ scalars: Int) -> Int
  ) throws(SimulatedClientError) -> Change {
    let tag = answer.headers.first { $0.name == "etag" }?.value
    guard let revision = tag.flatMap({ Int($0.dropFirst().dropLast()) }) else {
      throw .error("a text without its revision")
    }
    keysMade += 1
    let scalars = String(decoding: answer.body, as: UTF8.self).unicodeScalars.count
    let start = place(scalars)
    let parts = [
      start > 0 ? "\(start)" : nil, "\"\(text)\"", start < scalars ? "\(scalars - start)" : nil,
    ]
    let operation = parts.compactMap(\.self).joined(separator: ",")
    return Change(
      text: text, key: "\(name)-\(keysMade)",
      body: Array(#"{"revision":\#(revision),"operation":[\#(operation)]}"#.utf8))
  }
}
