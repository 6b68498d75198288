package import ParleyGatewayPorts
package import ParleyWebSocketFrames

/// A connection between a simulated client and the gateway: two ordered queues, as in TCP. The
/// simulation decides when each message arrives.
package struct SimulatedLink {
  /// A frame or a close on its way to the client.
  package enum Downstream {
    case frame(Frame)
    case close(CloseCode)
  }

  /// An event that reaches the client.
  package enum Arrival {
    case message(ArraySlice<UInt8>)
    /// A fragment that does not end its message.
    case fragment
    case close(CloseCode)
  }

  package let id: ConnectionID
  /// The index of the node at the other end.
  package let node: Int
  package var upstream: [[UInt8]] = []
  package private(set) var downstream: [Downstream] = []
  package private(set) var downstreamBytes = 0
  /// The received fragments of an incomplete message.
  private var beginning: [UInt8] = []
  /// Whether the client currently reads nothing.
  package var isStalled = false

  package init(id: ConnectionID, node: Int = 0) {
    self.id = id
    self.node = node
  }

  /// The number of messages in transit, in both directions.
  package var messageCount: Int { upstream.count + downstream.count }

  package mutating func push(_ item: Downstream) {
    if case .frame(let frame) = item { downstreamBytes += frame.byteCount }
    downstream.append(item)
  }

  package mutating func popUpstream() -> [UInt8]? {
    upstream.isEmpty ? nil : upstream.removeFirst()
  }

  /// - Returns: `nil` if nothing is in transit, or if the client reads nothing.
  package mutating func popDownstream() -> Arrival? {
    guard !isStalled, !downstream.isEmpty else { return nil }
    switch downstream.removeFirst() {
    case .close(let code): return .close(code)
    case .frame(let frame):
      downstreamBytes -= frame.byteCount
      precondition(frame.isFirst == beginning.isEmpty, "fragments of two messages are mixed")
      if frame.isFirst, frame.isFinal { return .message(frame.payload) }
      beginning.append(contentsOf: frame.payload)
      guard frame.isFinal else { return .fragment }
      defer { beginning = [] }
      return .message(beginning[...])
    }
  }
}
