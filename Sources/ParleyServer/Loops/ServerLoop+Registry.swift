import Gateway
import ParleyGatewayPorts
import ParleyJSON
import SocketMessages
import ParleyTransportLibwebsockets

/// Operator requests about the connections of all loops.
///
/// The gateway of the loop that receives the request checks its rights and limits, and answers for
/// itself first. Then the other loops answer, and the responses are merged. With an
/// `Idempotency-Key` the merged response is stored, so a retry repeats nothing.
///
///     GET  /api/connections, /api/rooms                     lists, merged in order
///     POST /api/users/{user}/disconnect, …/refresh-rights   numbers, added up
///     POST /api/revoke                                      the other loops apply the revocation
extension ServerLoop {
  /// A request that waits for responses of other loops.
  struct Gathering {
    let request: RequestID
    /// The merged response so far.
    var answer: MergedResponse
    /// The number of outstanding responses.
    var awaited: Int
  }

  /// The first id of requests between loops; ids of clients' requests are smaller.
  private static let ownRequestsBegin: UInt64 = 1 << 63

  /// Sends a request that this loop's gateway has admitted and answered to the other loops, and
  /// passes the merged response to the gateway.
  func gather(_ request: RequestID, _ head: RequestHead, _ body: [UInt8], _ answer: Response) {
    guard let registry = attached.registry, let kind = MergedResponse.Kind(head) else {
      gateway.gathered(request, answer)
      perform()
      return
    }
    let number = nextGathering
    nextGathering += 1
    gatherings[number] = Gathering(
      request: request, answer: MergedResponse(kind, answer, rooms: rooms(for: kind)), awaited: 0)
    let home = place
    for other in 0..<registry.count where other != home {
      let isAsked = registry.post(to: other) { loop in
        loop.answer(head, body, kind) { answer, rooms in
          _ = registry.post(to: home) { $0.gathered(answer, rooms, for: number) }
        }
      }
      // A loop that has ended has no connections.
      if isAsked { gatherings[number]?.awaited += 1 }
    }
    finishGathering(number)
  }

  /// Answers for this loop a request that another loop has admitted. It is neither counted against
  /// limits nor stored by its `Idempotency-Key`: the loop that received the request does both.
  private func answer(
    _ head: RequestHead, _ body: [UInt8], _ kind: MergedResponse.Kind,
    _ then: @escaping @Sendable (Response, Set<[UInt8]>) -> Void
  ) {
    let rooms = rooms(for: kind)
    if case .revocation = kind {
      gateway.applyRevocation(body) { closed in
        then(MergedResponse.response(connections: closed), rooms)
      }
      return perform()
    }
    let request = RequestID(Self.ownRequestsBegin + nextOwnRequest)
    nextOwnRequest += 1
    peerRequests[request] = { then($0, rooms) }
    if gateway.requestPart(request, head: head, body: body) {
      perform()
    } else {
      peerRequests[request] = nil
      then(MergedResponse.unfinished, rooms)
    }
  }

  /// Returns the names of this loop's rooms if the request lists rooms. A room on several loops
  /// counts once.
  private func rooms(for kind: MergedResponse.Kind) -> Set<[UInt8]> {
    guard case .rooms = kind else { return [] }
    return Set(gateway.openRoomNames.map { Array($0.text.utf8) })
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
