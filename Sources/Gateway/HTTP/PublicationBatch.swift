import ParleyGatewayPorts
import SocketMessages

/// The results so far of a request that publishes several things at once.
struct PublicationBatch {
  private(set) var results: [[UInt8]]
  /// Parts without a result.
  private var waiting: Int
  /// Whether no part of it would have to be sent again.
  private(set) var isWhole = true

  init(count: Int) {
    results = Array(repeating: [], count: count)
    waiting = count
  }

  var isDone: Bool { waiting == 0 }

  /// Notes the result of one part.
  mutating func note(_ result: PublishResult, of index: Int, in room: RoomName) {
    results[index] = RoomJSON.result(result, of: room)
    if case .refused(let code, _) = result, code.isRetryable { isWhole = false }
    waiting -= 1
  }
}
