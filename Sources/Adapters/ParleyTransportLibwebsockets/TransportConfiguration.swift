public import ParleyGatewayPorts

extension LibwebsocketsTransport {
  /// The addresses that a transport listens on, and its limits.
  public struct Configuration: Sendable {
    /// A certificate and its key, in PEM files.
    public struct TLS: Sendable {
      /// The certificate, followed by those between it and the root.
      public var certificatePath: String
      /// The private key, without a passphrase.
      public var keyPath: String

      /// Names the two files.
      public init(certificatePath: String, keyPath: String) {
        self.certificatePath = certificatePath
        self.keyPath = keyPath
      }
    }

    /// An address to listen on.
    public struct Address: Sendable {
      /// A name or an address; a name is bound at every address it stands for.
      public var host: String
      /// The port, or 0 for one that is free.
      public var port: Int

      /// Names the two.
      public init(host: String, port: Int) {
        self.host = host
        self.port = port
      }
    }

    /// Names or addresses; a name is bound at every address it stands for, and `::` at all of IPv4, too.
    public var hosts: [String]
    /// The port of all of them, or 0 for one that is free (`boundPort` tells which).
    public var port: Int
    /// Encrypts every connection when given.
    public var tls: TLS?
    /// A second place to listen at, whose requests say `Entrance.back`. It has connections of its
    /// own: who uses it gets in while the first is full.
    public var back: Address?
    /// Connections at once there.
    public var backConnectionsMax = 64

    /// WebSocket subprotocols that may be negotiated. A client that offers only others is refused.
    public var subprotocols = ["parley.v1"]

    /// The longest WebSocket message in bytes, until the owner admits the connection with another limit.
    public var messageBytesMax = 1 << 20
    /// The longest body of a request in bytes that is read without asking the owner.
    public var bodyBytesMax = 1 << 20
    /// Bytes that messages and bodies may have together while they have not come whole; 0 disables the limit.
    public var receptionBytesMax = 0
    /// The answer to a body beyond that, to which the transport adds `retry-after`.
    public var receptionResponse = Configuration.busy(
      "too many requests are being received; try again later")
    /// Bytes that uploads may have together while they are read; 0 disables the limit.
    public var uploadBytesMax = 0
    /// The answer to an upload beyond that, to which the transport adds `retry-after`.
    public var uploadsResponse = Configuration.busy(
      "too many long requests are being read; try again later")
    /// The longest head of a request in bytes.
    public var headBytesMax = 16 << 10
    /// Bytes that may wait for one connection before it is closed with 4001: the last defence,
    /// far above what the owner tolerates.
    public var queuedBytesMax = 64 << 20
    /// Bytes of responses that may wait for their readers, over all connections; equal bodies count
    /// once.
    public var responseBytesMax = 256 << 20
    /// The answer instead of a response beyond that, to which the transport adds `retry-after`. A short one.
    public var overloadResponse = Configuration.busy(
      "too many responses wait for their readers; try again later")
    /// Headers to add to whatever answers a request, its refusal for its size included.
    public var responseHeaders: (@Sendable (RequestHead) -> [(name: String, value: String)])?
    /// Connections at once, or 0 for as many as the system gives.
    public var connectionsMax = 0
    /// Connections at once from one address, or 0 for no limit.
    public var connectionsPerAddressMax = 0
    /// Connections that one address may open, in time and at once.
    public var connectRatePerAddress = Rate(perSecond: 0, burst: 0)
    /// Whether an address is rate-limited: a proxy's is not, since all its clients share it.
    public var isLimited: @Sendable (IPAddress) -> Bool = { _ in true }

    /// Whether connections from an address begin with a header of the PROXY protocol, version 1 or 2,
    /// which says where the client is. One that does not is closed.
    public var isAnnounced: @Sendable (IPAddress) -> Bool = { _ in false }

    /// Called when a connection does not begin with the header that `isAnnounced` asks for, at most
    /// once a minute, with the address of the proxy and the number of such connections since the
    /// last call. On a thread of the transport's.
    public var announcementRefused: @Sendable (_ proxy: String, _ count: Int) -> Void = { _, _ in }

    /// Called when memory was refused, at most once a minute for each kind, with the number of refusals since the last
    /// call. On a thread of the transport's.
    public var memoryRefused: @Sendable (_ kind: MemoryKind, _ count: Int) -> Void = { _, _ in }

    /// Called when connections cannot be accepted, at most once a minute, with the system's words.
    /// On a thread of the transport's.
    public var acceptFailed: @Sendable (String) -> Void = { _ in }

    /// Seconds within which a request's head must arrive, and with those for its bytes, its body.
    public var handshakeSeconds = 10
    /// Bytes of a body that must arrive in a second, on average.
    public var bodyBytesPerSecondMin = 16 << 10
    /// Seconds an HTTP connection may stay without a request.
    public var keepAliveSeconds = 30
    /// Seconds within which a client must take each 64 KiB of a response.
    public var responseSeconds = 30
    /// Seconds of silence after which a WebSocket client is pinged.
    public var pingSeconds = 20
    /// Seconds of silence after which a WebSocket client is hung up on.
    public var hangUpSeconds = 50
    /// Seconds a close may take, what is queued included.
    public var closeSeconds = 5
    /// Milliseconds between two calls of `ticked()`.
    public var tickMilliseconds = 250

    private static func busy(_ words: String) -> Response {
      Response(
        status: 503, headers: [("content-type", "text/plain; charset=utf-8")],
        body: Array((words + "\n").utf8))
    }

    /// Listens at hosts on one port, with limits at their defaults.
    public init(hosts: [String] = ["127.0.0.1"], port: Int = 0, tls: TLS? = nil) {
      self.hosts = hosts
      self.port = port
      self.tls = tls
    }
  }
}
