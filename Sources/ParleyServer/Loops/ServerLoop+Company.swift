import Gateway
import GatewayPorts
import JSON
import SocketMessages
import TransportLibwebsockets

/// Requests of operators about the connections of all loops.
///
/// The gateway of the loop that receives the request admits it and answers for itself first. Then the other loops
/// answer, and the answers are merged. With an `Idempotency-Key` the merged answer is kept, so that all is done once.
///
///     GET  /api/connections, /api/rooms                     lists, put together in order
///     POST /api/users/{user}/disconnect, …/refresh-rights   numbers, added
///     POST /api/revoke                                      the others read the revocations
extension ServerLoop {
  /// A request that waits for the answers of other loops.
  struct Gathering {
    let request: RequestID
    /// The answers that are there, as one.
    var answer: GatheredAnswer
    /// The answers that are still to come.
    var awaited: Int
  }

  /// The names of requests that loops make of each other begin here.
  private static let ownRequestsBegin: UInt64 = 1 << 63

  /// Has the other loops do their parts of a request that this loop's gateway has admitted and answered; gives
  /// the merged answer back to it.
  func gather(_ request: RequestID, _ head: RequestHead, _ body: [UInt8], _ answer: Response) {
    guard let company = attached.company, let kind = GatheredAnswer.Kind(head) else {
      gateway.gathered(request, answer)
      perform()
      return
    }
    let number = nextGathering
    nextGathering += 1
    gatherings[number] = Gathering(
      request: request, answer: GatheredAnswer(kind, answer, rooms: rooms(for: kind)), awaited: 0)
    let home = place
    for other in 0..<company.count where other != home {
      let isAsked = company.post(to: other) { loop in
        loop.answer(head, body, kind) { answer, rooms in
          _ = company.post(to: home) { $0.gathered(answer, rooms, for: number) }
        }
      }
      // A loop that has ended has no connections.
      if isAsked { gatherings[number]?.awaited += 1 }
    }
    finishGathering(number)
  }

  /// Does this loop's part of a request that another has admitted. It is not admitted or counted again, nor
  /// is its answer kept by a key: all that is for the loop that was asked.
  private func answer(
    _ head: RequestHead, _ body: [UInt8], _ kind: GatheredAnswer.Kind,
    _ then: @escaping @Sendable (Response, Set<[UInt8]>) -> Void
  ) {
    let rooms = rooms(for: kind)
    if case .revocation = kind {
      gateway.takeBackElsewhere(body) { closed in
        then(GatheredAnswer.response(connections: closed), rooms)
      }
      return perform()
    }
    let request = RequestID(Self.ownRequestsBegin + nextOwnRequest)
    nextOwnRequest += 1
    ownRequests[request] = { then($0, rooms) }
    if gateway.requestPart(request, head: head, body: body) {
      perform()
    } else {
      ownRequests[request] = nil
      then(GatheredAnswer.unfinished, rooms)
    }
  }

  /// The rooms of this loop, if a request counts them: a room is one, at however many loops.
  private func rooms(for kind: GatheredAnswer.Kind) -> Set<[UInt8]> {
    guard case .rooms = kind else { return [] }
    return Set(gateway.openRoomNames.map { Array($0.utf8) })
  }

  private func gathered(_ answer: Response, _ rooms: Set<[UInt8]>, for number: UInt64) {
    guard var gathering = gatherings[number] else { return }
    gathering.awaited -= 1
    gathering.answer.add(answer, rooms: rooms)
    gatherings[number] = gathering
    finishGathering(number)
  }

  private func finishGathering(_ number: UInt64) {
    guard let gathering = gatherings[number], gathering.awaited == 0 else { return }
    gatherings[number] = nil
    gateway.gathered(gathering.request, gathering.answer.response)
    perform()
  }
}
