import ParleyGatewayPorts
import SocketMessages

/// The results so far of a batch of publications.
struct PublicationBatch {
  private(set) var results: [[UInt8]]
  /// Publications without a result.
  private var waiting: Int
  /// Whether no publication has failed with a retryable error.
  private(set) var isWhole = true

  init(count: Int) {
    results = Array(repeating: [], count: count)
    waiting = count
  }

  var isDone: Bool { waiting == 0 }

  /// Records the result of one publication.
  mutating func note(_ result: PublishResult, of index: Int, in room: RoomName) {
    results[index] = RoomJSON.result(result, of: room)
    if case .refused(let code, _) = result, code.isRetryable { isWhole = false }
    waiting -= 1
  }
}
