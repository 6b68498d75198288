package import ParleyGatewayPorts
package import ParleyWebSocketFrames

/// A connection between a simulated client and the gateway: two queues in order, as TCP gives them,
/// each as slow as the simulation likes.
package struct SimulatedLink {
  /// An event on its way to the client.
  package enum Downstream {
    case frame(Frame)
    case close(CloseCode)
  }

  /// An event that reaches the client.
  package enum Arrival {
    case message(ArraySlice<UInt8>)
    /// A fragment; the message's end is still to come.
    case fragment
    case close(CloseCode)
  }

  package let id: ConnectionID
  /// The index of the node that it leads to.
  package let node: Int
  package var upstream: [[UInt8]] = []
  package private(set) var downstream: [Downstream] = []
  package private(set) var downstreamBytes = 0
  /// The fragments of a message whose end is still to come.
  private var beginning: [UInt8] = []
  /// Whether the client reads nothing for now.
  package var isStalled = false

  package init(id: ConnectionID, node: Int = 0) {
    self.id = id
    self.node = node
  }

  /// The number of messages under way, in both directions.
  package var messageCount: Int { upstream.count + downstream.count }

  package mutating func push(_ item: Downstream) {
    if case .frame(let frame) = item { downstreamBytes += frame.byteCount }
    downstream.append(item)
  }

  package mutating func popUpstream() -> [UInt8]? {
    upstream.isEmpty ? nil : upstream.removeFirst()
  }

  /// - Returns: `nil` if nothing is on its way, or nothing is read.
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
