public import ParleyGatewayPorts
public import ParleyWebSocketFrames

/// An action for the gateway's owner; actions are done in order.
public enum GatewayAction: Sendable {
  /// Queue a frame for a connection.
  case send(Frame, to: ConnectionID)
  /// Queue a frame for each of some connections.
  case broadcast(Frame, to: [ConnectionID])
  /// Close a connection after what is queued for it.
  case close(ConnectionID, code: CloseCode, reason: String)
  /// Let a connection send messages of the full size, since its client has shown a token, and count its
  /// buffered bytes against a holder.
  case admit(ConnectionID, as: Holder)
  /// Count the response to an HTTP request against a holder.
  case count(RequestID, towards: Holder)
  /// Answer an HTTP request.
  case respond(RequestID, Response)
  /// Give work to the store; its reply arrives at ``Gateway/stored(_:reply:)``.
  case store(StoreTicket, StoreRequest)
  /// Do a step of a search; its reply arrives at ``Gateway/searched(_:reply:)``. Without an index it is
  /// ``SearchReply/failed(_:)``.
  case search(RequestID, SearchRequest)
  /// Have the other gateways of the process do their parts of a request
  /// (``Gateway/requestPart(_:head:body:)``), put their answers together with this one's, and give that to
  /// ``Gateway/gathered(_:_:)``. This action does not occur without other gateways.
  case gather(RequestID, RequestHead, [UInt8], Response)
  /// Publish bytes to the other nodes, as a hint: see ``Broker``. Nothing to do without other nodes.
  case publish(topic: String, [UInt8])
  /// Follow a topic: publications of other nodes go to ``Gateway/heard(topic:_:)``.
  case follow(topic: String)
  /// Stop following a topic.
  case leave(topic: String)
  /// Cancels a read: if it has not begun, it may be answered with a failure.
  case forget(StoreTicket)
}
