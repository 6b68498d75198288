import Gateway
import ParleyGatewayPorts
import ParleyJSON
import OTCore

/// A program that adds text to a note over HTTP in a simulation.
///
/// It reads the note, and requests a change with an idempotency key. It repeats the request, to any
/// node, until it receives a response; sometimes before a response arrives, so that one change is
/// requested twice at once.
package final class SimulatedWriter {
  /// A request without a response.
  struct Asked: Hashable {
    let id: RequestID
    let node: Int
    /// The key of the requested change; `nil` for a request that reads the text.
    fileprivate let key: String?
  }

  private enum State {
    case idle
    /// It wants to add this text, and must first read the note.
    case reading(String)
    /// It requests this change.
    case asking(Change)
  }

  /// A change, which is the same in each repeated request.
  private struct Change {
    let text: String
    let key: String
    let body: [UInt8]
  }

  let documentID: DocumentID
  /// The texts that were acknowledged.
  private(set) var acknowledged: [String] = []
  /// The texts that it has given up since their base is gone. They may be in the note, at most
  /// once.
  private(set) var givenUp: [String] = []
  /// Its requests without a response.
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

  /// Whether it has no change to make.
  var isSettled: Bool {
    if case .idle = state { true } else { false }
  }

  /// Whether it has no change to make, and no request without a response.
  var isAtRest: Bool { isSettled && asked.isEmpty }

  /// Begins to add a text.
  func add(_ text: String) { state = .reading(text) }

  /// Returns the next request, with this id, to this node; `nil` if there is no change to make.
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

  /// Removes a request whose connection broke or whose node died.
  func forget(_ request: Asked) { asked.removeAll { $0 == request } }

  /// Handles a response, if it belongs to a request of this writer.
  ///
  /// - Parameter place: Returns the position to add to, in a text of a number of scalars.
  /// - Throws: The error of a response that must never occur.
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
        // The same request may be in progress on another node, so the outcome is unknown.
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
