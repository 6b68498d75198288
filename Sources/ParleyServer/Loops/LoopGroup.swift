import Gateway
import ParleyGatewayPorts
import ParleyTransportLibwebsockets

/// The loops of a process, each with its own transport.
struct LoopGroup: Sendable {
  /// The settings of one loop, with its share of limits that apply to all loops together.
  let settings: Configuration
  let loops: [ServerLoop]
  let transports: [LibwebsocketsTransport]
  /// The registry of all loops; `nil` for a single loop.
  let registry: LoopRegistry?
  /// The broker of hints between the loops; `nil` for a single loop.
  let hub: LoopBroker?
  /// Limits that apply to all loops together; `nil` for a single loop.
  let limits: ProcessLimits?

  init(_ configuration: Configuration, log: any LogSink) {
    let count = configuration.loopCount
    let settings = configuration.share(among: count)
    let transportSettings = Self.transportSettings(settings, log: log)
    let balancer =
      count > 1
      ? ConnectionBalancer(
        count: count, configuration: transportSettings,
        home: { Configuration.home(of: $0, among: count) })
      : nil
    let loops = (0..<count).map { ServerLoop(configuration: settings, place: $0, log: log) }
    let transports = loops.map {
      LibwebsocketsTransport(
        configuration: transportSettings, delegate: $0, balancer: balancer, place: $0.place)
    }
    self.settings = settings
    self.loops = loops
    self.transports = transports
    registry = count > 1 ? LoopRegistry(count: count) : nil
    hub = count > 1 ? LoopBroker(count: count) { transports[$0].mailbox.wake() } : nil
    limits = count > 1 ? ProcessLimits(Allowances(configuration.announcedLimits)) : nil
  }

  /// Starts all loops.
  func start() throws {
    // The first loop listens, so it starts last: the others must be ready to take connections.
    for place in loops.indices.reversed() {
      do {
        try transports[place].start()
      } catch {
        for transport in transports[(place + 1)...] { transport.stop(within: 0) }
        throw error
      }
    }
  }

  /// Returns the settings of the transports, with functions that log their warnings.
  private static func transportSettings(
    _ configuration: Configuration, log: any LogSink
  ) -> LibwebsocketsTransport.Configuration {
    var settings = configuration.transport
    settings.acceptFailed = { reason in
      log.write(
        .warning, "connections cannot be accepted",
        [("reason", reason), ("hint", "raise LimitNOFILE or ulimit -n")])
    }
    settings.memoryRefused = { kind, count in
      let setting =
        switch kind {
        case .reception: "reception-size-max"
        case .uploads: "uploads-size-max"
        case .responses: "responses-size-max"
        }
      log.write(
        .warning, "memory refused",
        [
          ("for", kind.rawValue), ("count", "\(count)"),
          ("hint", "a client or all together reached their share of \(setting)"),
        ])
    }
    settings.proxyHeaderMissing = { proxy, count in
      log.write(
        .warning, "proxy header refused",
        [
          ("proxy", proxy), ("count", "\(count)"),
          (
            "hint",
            "with proxy-protocol, each connection of a trusted-proxy begins with a PROXY header: have "
              + "the proxy send one (send-proxy-v2), or turn proxy-protocol off"
          ),
        ])
    }
    return settings
  }
}
