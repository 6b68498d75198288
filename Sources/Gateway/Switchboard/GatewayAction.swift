public import ParleyGatewayPorts
public import ParleyWebSocketFrames

/// An action that the gateway's owner must perform. Actions are performed in order.
public enum GatewayAction: Sendable {
  /// Queue a frame for a connection.
  case send(Frame, to: ConnectionID)
  /// Queue a frame for several connections.
  case broadcast(Frame, to: [ConnectionID])
  /// Close a connection after its queued frames.
  case close(ConnectionID, code: CloseCode, reason: String)
  /// Raise a connection's message limit to the full size, and count its buffered bytes against a
  /// holder: its client has presented a valid token.
  case admit(ConnectionID, as: Holder)
  /// Count the buffered bytes of a response against a holder.
  case count(RequestID, towards: Holder)
  /// Answer an HTTP request.
  case respond(RequestID, Response)
  /// Send a request to the store; its reply arrives at ``Gateway/stored(_:reply:)``.
  case store(StoreTicket, StoreRequest)
  /// Perform a step of a search; its reply arrives at ``Gateway/searched(_:reply:)``. Without an
  /// index, the reply is ``SearchReply/failed(_:)``.
  case search(RequestID, SearchRequest)
  /// Collect the answers of the process's other gateways to a request
  /// (``Gateway/requestPart(_:head:body:)``), add this gateway's answer, and pass the result to
  /// ``Gateway/gathered(_:_:)``. Never occurs without other gateways.
  case gather(RequestID, RequestHead, [UInt8], Response)
  /// Publish a hint to the other nodes: see ``Broker``. Without other nodes, it does nothing.
  case publish(topic: String, [UInt8])
  /// Subscribe to a topic. Hints of other nodes are passed to ``Gateway/heard(_:_:)``.
  case follow(topic: String)
  /// Unsubscribe from a topic.
  case leave(topic: String)
  /// Cancel a read whose result is no longer needed. If the read has not started, the store may
  /// reply with a failure instead.
  case forget(StoreTicket)
}
