import Gateway
import ParleyGatewayPorts
import ParleyWebSocketFrames

/// A delegate that rejects every connection, for a transport that is started only as a check.
final class RejectingDelegate: TransportDelegate {
  func decide(upgrade head: RequestHead) -> UpgradeDecision { .refuse(.plain(503, "")) }
  func opened(_ connection: ConnectionID, head: RequestHead, subprotocol: String?) {}
  func received(_ connection: ConnectionID, message: UnsafeRawBufferPointer, kind: MessageKind) {}
  func oversized(_ connection: ConnectionID, bytesMax: Int) {}
  func droppedForMemory(_ connection: ConnectionID) {}
  func drained(_ connection: ConnectionID) {}
  func closed(_ connection: ConnectionID) {}
  func request(_ request: RequestID, head: RequestHead, body: [UInt8]) {}
  func abandoned(_ request: RequestID) {}
  func woken() {}
  func ticked() {}
  func turnEnded() -> Int? { nil }
}
