package import GatewayPorts

/// One connection between a simulated client and the gateway: two queues in order, as TCP gives
/// them, each as slow as the simulation likes.
package struct SimulatedLink {
  /// What travels down to the client.
  package enum Downstream {
    case frame(Frame)
    case close(CloseCode)
  }

  package let id: ConnectionID
  package var upstream: [[UInt8]] = []
  package private(set) var downstream: [Downstream] = []
  package private(set) var downstreamBytes = 0
  /// Whether the client reads nothing for now.
  package var isStalled = false

  package init(id: ConnectionID) { self.id = id }

  /// How many messages are under way, in both directions.
  package var messageCount: Int { upstream.count + downstream.count }

  package mutating func push(_ item: Downstream) {
    if case .frame(let frame) = item { downstreamBytes += frame.byteCount }
    downstream.append(item)
  }

  package mutating func popDownstream() -> Downstream? {
    guard !downstream.isEmpty else { return nil }
    let item = downstream.removeFirst()
    if case .frame(let frame) = item { downstreamBytes -= frame.byteCount }
    return item
  }
}
