package import ParleyClientCore
package import SocketMessages

/// The reason why a request failed.
public enum RequestError: Error, Sendable, Hashable {
  /// The server refused the request, for example with `notOffered` or `notAllowed`; `tooMany` also
  /// if 256 requests already wait for answers.
  case refused(Refusal)
  /// The request was made on behalf of another person than the current one.
  case otherPerson
  /// The request refers to a history that the server has replaced, for example by a restored
  /// backup. Fetch it again.
  case otherHistory
  /// No note has this id: none was ever made, or it was deleted.
  case unknownNote
  /// The answer is not a Parley server's: the address is wrong, or the network answers with a page
  /// of its own, for example to sign in.
  case notParley(status: Int)
  /// The server gave no answer. It may still perform the request.
  case noAnswer(NoAnswer)
  /// The task was cancelled. The server may still perform the request.
  case cancelled

  init(_ failure: RoomRequestFailure) {
    switch failure {
    case .refused(let code): self = .refused(Refusal(code))
    case .otherPerson: self = .otherPerson
    }
  }
}

extension RequestError: CustomStringConvertible {
  /// The reason, and what to do.
  public var description: String {
    switch self {
    case .refused(let refusal): "the request is refused: \(refusal)"
    case .otherPerson: "another person has signed in; ask again as that person"
    case .otherHistory: "the server has another history now; fetch the messages again"
    case .unknownNote: "\(NoteTrouble.unknownNote)"
    case .notParley(let status):
      "expected a Parley server, got an answer of another one with status \(status); check the address"
    case .noAnswer(let reason): "\(reason)"
    case .cancelled: "the task was cancelled"
    }
  }
}

/// Callers that wait for answers to their requests, by number.
struct PendingRequests {
  typealias Answer = Result<RoomReply, RoomRequestFailure>

  private var waiting: [Int64: Feed<Answer>] = [:]
  private var count: Int64 = 0

  mutating func next() -> (Int64, Feed<Answer>) {
    count += 1
    let feed = Feed<Answer>(bound: 1)
    waiting[count] = feed
    return (count, feed)
  }

  mutating func answer(_ number: Int64, _ answer: Answer) {
    waiting.removeValue(forKey: number)?.put(answer) { $0.suffix(1) }
  }

  mutating func giveUp(_ number: Int64) { waiting[number] = nil }
}

extension RoomReply {
  package var history: ServerMessage.RoomHistory? {
    if case .history(let it) = self { it } else { nil }
  }
  package var receipts: ServerMessage.Receipts? {
    if case .receipts(let it) = self { it } else { nil }
  }
  package var lastOnline: ServerMessage.LastOnline? {
    if case .lastOnline(let it) = self { it } else { nil }
  }
  package var blocks: ServerMessage.Blocks? { if case .blocks(let it) = self { it } else { nil } }
  package var flag: ServerMessage.Flag? { if case .flag(let it) = self { it } else { nil } }
  package var flags: ServerMessage.Flags? { if case .flags(let it) = self { it } else { nil } }
  package var following: ServerMessage.Following? {
    if case .following(let it) = self { it } else { nil }
  }
}
