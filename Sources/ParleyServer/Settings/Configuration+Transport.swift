import Gateway
import ParleyGatewayPorts
import SocketMessages
import ParleyTransportLibwebsockets

extension Configuration {
  var transport: LibwebsocketsTransport.Configuration {
    var transport = LibwebsocketsTransport.Configuration(hosts: hosts, port: port)
    if let certificatePath, let certificateKeyPath {
      transport.tls = .init(certificatePath: certificatePath, keyPath: certificateKeyPath)
    }
    if let address = apiListen.flatMap(ListenAddress.init) {
      transport.back = .init(host: address.host, port: address.port)
    }
    // These limits apply until the gateway has verified a token; then it raises them.
    transport.messageBytesMax = min(Self.unadmittedBytesMax, messageBytesMax)
    transport.bodyBytesMax = min(Self.unadmittedBytesMax, messageBytesMax)
    transport.receptionBytesMax = receptionBytesMax
    transport.receptionResponse = .problem(
      503, .busy, "too much is being received; send it again in a few seconds")
    transport.uploadBytesMax = uploadsBytesMax
    transport.uploadsResponse = .problem(
      503, .busy, "too many files are being uploaded; send it again in a few seconds")
    transport.handshakeSeconds = Int(requestTime.components.seconds)
    transport.keepAliveSeconds = Int(keepAliveTime.components.seconds)
    transport.connectionsMax = connectionsMax
    transport.connectionsPerAddressMax = limits.addressConnectionsMax
    transport.connectRatePerAddress = Rate(
      perSecond: limits.addressConnectsPerSecondMax, burstSeconds: limits.burstSeconds)
    let proxies = TrustedProxies(trustedProxies)
    transport.isLimited = { proxies.isLimited($0) }
    if proxyProtocol { transport.requiresProxyHeader = { proxies.trusts($0) } }
    if !allowedOrigins.isEmpty {
      let crossOrigin = CrossOrigin(OriginPolicy(allowed: allowedOrigins))
      transport.responseHeaders = { crossOrigin.headers(for: $0) }
    }
    transport.pingSeconds = Int(pingInterval.components.seconds)
    transport.hangUpSeconds = Int(idleTimeout.components.seconds)
    transport.queuedBytesMax = 2 * queuedBytesMax
    transport.responseBytesMax = responseBytesMax
    transport.overloadResponse = .problem(
      503, .busy, "too many responses wait for their readers; try again later")
    return transport
  }

  /// Maximum bytes of a message or body from a client that has sent no token.
  static let unadmittedBytesMax = 16 << 10

  /// The descriptors for connections, including those at `api-listen`, plus 64 for the database,
  /// the page's files, calls to services and the first loop. Each further loop needs five.
  var openFilesWanted: Int {
    let back = apiListen == nil ? 0 : transport.backConnectionsMax
    return connectionsMax + back + 64 + 5 * (loopCount - 1)
  }
}
