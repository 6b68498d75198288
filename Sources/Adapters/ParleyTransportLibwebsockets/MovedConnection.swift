import ParleyGatewayPorts
import ParleyHTTP1

/// A connection on its way from one loop to another. No loop touches it meanwhile.
///
/// Unchecked: the loop that sends it has released it, and the one that takes it is its only owner.
final class MovedConnection: @unchecked Sendable {
  /// The work of the loop that takes it.
  enum Work {
    /// Nothing was read of it yet.
    case new(awaitsProxy: Bool)
    /// A request is to be answered. The rest was read behind it.
    case request(HTTPServerConnection.RequestNumber, HTTPRequestHead, body: [UInt8], rest: [UInt8])
    /// A body is to be decided about, before it is read.
    case body(HTTPRequestHead, byteCount: Int?)
    /// An upgrade is to be decided about.
    case upgrade(HTTPServerConnection.RequestNumber, HTTPRequestHead, WebSocketOffer)
  }

  let stream: ByteStream
  let address: String
  let entrance: Entrance
  /// Its HTTP; `nil` if nothing was read of it yet.
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
