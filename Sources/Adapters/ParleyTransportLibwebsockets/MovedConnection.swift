import ParleyGatewayPorts
import ParleyHTTP1

/// A connection being moved from one loop to another, neither of which uses it meanwhile.
///
/// Unchecked: the sending loop has released it, and the receiving loop becomes its only owner.
final class MovedConnection: @unchecked Sendable {
  /// The work for the receiving loop.
  enum Work {
    /// Handle a new connection, from which nothing was read.
    case new(awaitsProxyHeader: Bool)
    /// Handle a request, then `rest`, the bytes read after it.
    case request(HTTPServerConnection.RequestNumber, HTTPRequestHead, body: [UInt8], rest: [UInt8])
    /// Decide about a body before it is read.
    case body(HTTPRequestHead, byteCount: Int?)
    /// Decide about an upgrade.
    case upgrade(HTTPServerConnection.RequestNumber, HTTPRequestHead, WebSocketOffer)
  }

  let stream: ByteStream
  let address: String
  let entrance: Entrance
  /// The HTTP state; `nil` for a new connection.
  let http: HTTPHalf?
  let work: Work

  init(
    _ stream: ByteStream, from address: String, at entrance: Entrance, http: HTTPHalf?,
    _ work: Work
  ) {
    self.stream = stream
    self.address = address
    self.entrance = entrance
    self.http = http
    self.work = work
  }
}
