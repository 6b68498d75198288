public import ParleyGatewayPorts

extension LibwebsocketsTransport {
  /// The addresses that a transport listens on, and its limits.
  public struct Configuration: Sendable {
    /// A certificate and its key, in PEM files.
    public struct TLS: Sendable {
      /// The certificate, followed by the intermediate certificates.
      public var certificatePath: String
      /// The private key, without a passphrase.
      public var keyPath: String

      /// Creates the paths of the two files.
      public init(certificatePath: String, keyPath: String) {
        self.certificatePath = certificatePath
        self.keyPath = keyPath
      }
    }

    /// An address to listen on.
    public struct Address: Sendable {
      /// A name or an address; a name is bound at every address that it resolves to.
      public var host: String
      /// The port, or 0 for a free one.
      public var port: Int

      /// Creates an address.
      public init(host: String, port: Int) {
        self.host = host
        self.port = port
      }
    }

    /// Names or addresses; a name is bound at every address that it resolves to, and `::` also at
    /// all IPv4 addresses.
    public var hosts: [String]
    /// The port of all hosts, or 0 for a free one (see `boundPort`).
    public var port: Int
    /// The certificate and key; with `nil`, connections are not encrypted.
    public var tls: TLS?
    /// A second address to listen on, whose requests have `Entrance.back`. Its connections have a
    /// separate limit, so they are accepted while the first address is full.
    public var back: Address?
    /// Maximum simultaneous connections of the second address.
    public var backConnectionsMax = 64

    /// WebSocket subprotocols that may be negotiated. A client that offers only others is refused.
    public var subprotocols = ["parley.v1"]

    /// Maximum bytes of a WebSocket message, until the owner sets another limit.
    public var messageBytesMax = 1 << 20
    /// Maximum bytes of a request's body that is read without asking the owner.
    public var bodyBytesMax = 1 << 20
    /// Maximum bytes of all incomplete messages and bodies together; 0 disables the limit.
    public var receptionBytesMax = 0
    /// The response to a body beyond `receptionBytesMax`; the transport adds `retry-after`.
    public var receptionResponse = Configuration.busy(
      "too many requests are being received; try again later")
    /// Maximum bytes of all uploads being read together; 0 disables the limit.
    public var uploadBytesMax = 0
    /// The response to an upload beyond `uploadBytesMax`; the transport adds `retry-after`.
    public var uploadsResponse = Configuration.busy(
      "too many long requests are being read; try again later")
    /// Maximum bytes of a request's head.
    public var headBytesMax = 16 << 10
    /// Maximum bytes queued for one connection before it is closed with 4001: a last safeguard, far
    /// above the owner's own limit.
    public var queuedBytesMax = 64 << 20
    /// Maximum bytes of all unsent responses together; equal bodies count once.
    public var responseBytesMax = 256 << 20
    /// The response that replaces one beyond `responseBytesMax`; the transport adds `retry-after`.
    /// It should be short.
    public var overloadResponse = Configuration.busy(
      "too many responses wait for their readers; try again later")
    /// Returns header fields to add to each response to a request, also to a refusal of its body.
    public var responseHeaders: (@Sendable (RequestHead) -> [(name: String, value: String)])?
    /// Maximum simultaneous connections; 0 disables the limit.
    public var connectionsMax = 0
    /// Maximum simultaneous connections from one address; 0 disables the limit.
    public var connectionsPerAddressMax = 0
    /// The rate and burst of connections that one address may open.
    public var connectRatePerAddress = Rate(perSecond: 0, burst: 0)
    /// Whether an address is rate-limited; a proxy's is not, because all its clients share it.
    public var isLimited: @Sendable (IPAddress) -> Bool = { _ in true }

    /// Whether connections from an address must begin with a PROXY protocol header, version 1 or 2,
    /// which contains the client's address. Connections without it are closed.
    public var requiresProxyHeader: @Sendable (IPAddress) -> Bool = { _ in false }

    /// Called when a connection lacks the header that `requiresProxyHeader` requires, at most once a
    /// minute, with the proxy's address and the number of such connections since the last call. It
    /// runs on a thread of the transport.
    public var proxyHeaderMissing: @Sendable (_ proxy: String, _ count: Int) -> Void = { _, _ in }

    /// Called when memory was refused, at most once a minute for each kind, with the number of
    /// refusals since the last call. It runs on a thread of the transport.
    public var memoryRefused: @Sendable (_ kind: MemoryKind, _ count: Int) -> Void = { _, _ in }

    /// Called when connections cannot be accepted, at most once a minute, with the system's
    /// message. It runs on a thread of the transport.
    public var acceptFailed: @Sendable (String) -> Void = { _ in }

    /// Maximum seconds for a request's head to arrive; its body gets more for received bytes.
    public var handshakeSeconds = 10
    /// Minimum bytes of a body per second, on average.
    public var bodyBytesPerSecondMin = 16 << 10
    /// Maximum seconds of an HTTP connection without a request.
    public var keepAliveSeconds = 30
    /// Maximum seconds for a client to read each 64 KiB of a response.
    public var responseSeconds = 30
    /// Seconds of silence after which a WebSocket client is pinged.
    public var pingSeconds = 20
    /// Seconds of silence after which a WebSocket connection is closed.
    public var hangUpSeconds = 50
    /// Maximum seconds of a close, including queued data.
    public var closeSeconds = 5
    /// Milliseconds between two calls of `ticked()`.
    public var tickMilliseconds = 250

    private static func busy(_ words: String) -> Response {
      Response(
        status: 503, headers: [("content-type", "text/plain; charset=utf-8")],
        body: Array((words + "\n").utf8))
    }

    /// Creates a configuration for hosts on one port, with default limits.
    public init(hosts: [String] = ["127.0.0.1"], port: Int = 0, tls: TLS? = nil) {
      self.hosts = hosts
      self.port = port
      self.tls = tls
    }
  }
}
