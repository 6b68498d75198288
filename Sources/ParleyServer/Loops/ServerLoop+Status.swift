import CParleyAPIDescription
import Gateway
import ParleyGatewayPorts
import ParleyJSON
import ParleyTransportLibwebsockets

/// Health, metrics and statistics over HTTP.
///
///     GET /health             whether the process responds
///     GET /ready              whether changes are accepted
///     GET /metrics            for Prometheus
///     GET /api/openapi.json   the description of the HTTP API
///     GET /sdk/version.json   the program's version and its capabilities
///     GET /api/stats          statistics for operators
extension ServerLoop {
  /// Answers requests that need no key and have no rate limit; `nil` for other paths.
  func status(_ head: RequestHead, at resource: Resource) -> Response? {
    let answer: () -> Response
    switch resource.page {
    case .health: answer = { .plain(200, "ok\n") }
    case .readiness: answer = readiness
    case .metrics: answer = { self.metrics(head) }
    case .description: answer = { self.description }
    case .version: answer = { self.version }
    case .statistics, .login, .refresh, .logout, .join, .password, .name, .forgot, .reset, .link,
      .publicName, .ways,
      .provider, .providerReturn, nil:
      return nil
    }
    // `OPTIONS` on `/ready` fails when `GET` does, since some probes use it. Paths of the API have
    // their own rule.
    if head.method == "OPTIONS", resource.page != .description {
      let readiness = resource.page == .readiness ? readiness() : nil
      return readiness.flatMap { $0.status < 300 ? nil : $0 } ?? .options("GET")
    }
    return resource.route(head.method) == nil ? resource.methodNotAllowed : answer()
  }

  private func readiness() -> Response {
    let reason = gateway.unreadiness ?? (attached.registry == nil ? nil : total.gateway.unreadiness)
    return reason.map { .plain(503, $0 + "\n") } ?? .plain(200, "ready\n")
  }

  private var description: Response {
    Response(
      status: 200,
      headers: [("content-type", "application/json"), ("cache-control", "no-cache")],
      body: Array(
        UnsafeBufferPointer(start: CAPIDescription_bytes(), count: CAPIDescription_count())))
  }

  /// The data that a program needs before it connects or loads a client.
  private var version: Response {
    let body = JSONWriter.object { object, body in
      object.field("protocol", "parley.v1", &body)
      object.key("capabilities", &body)
      JSONWriter.array(gateway.capabilities, &body) { JSONWriter.string($0, &$1) }
      object.field("version", Version.current, &body)
    }
    return Response(
      status: 200,
      headers: [("content-type", "application/json"), ("cache-control", "no-cache")], body: body)
  }

  private func metrics(_ head: RequestHead) -> Response {
    let isLocal =
      ListenAddress.isLoopback(head.remoteAddress)
      && head.headers["x-forwarded-for"] == nil && head.headers["forwarded"] == nil
    switch configuration.metricsAudience {
    case .anyone: break
    case .local where isLocal: break
    case .local:
      return .plain(
        403, "Metrics are for this machine; the operator can open them with metrics = anyone.\n")
    case .nobody: return .plain(404, "Nothing is here.\n")
    }
    let reports = reports
    let total = Self.total(of: reports)
    let page = MetricsPage(
      gateway: total.gateway, refused: total.refused, memory: attached.transport.memoryUsage,
      logins: total.logins,
      store: total.store,
      hooks: attached.hooks?.metrics, mail: attached.mail?.metrics, broker: attached.broker?.state,
      process: .now(),
      started: started, loops: reports.count == 1 ? [] : reports.map(\.connections))
    return Response(
      status: 200, headers: [("content-type", PrometheusText.contentType)], body: page.text.bytes)
  }

  /// A sample of the counters.
  var sample: ActivitySample {
    guard attached.registry != nil else {
      return ActivitySample(
        gateway.metrics, attached.storeThread.metrics, time: SystemClock().microseconds)
    }
    let total = total
    return ActivitySample(
      total.gateway.metrics, total.store, time: SystemClock().microseconds)
  }

  /// The current counts of this loop.
  var report: LoopRegistry.Report {
    LoopRegistry.Report(
      gateway: GatewaySummary(gateway), store: attached.storeThread.metrics,
      refused: attached.transport.refusedConnections, logins: attached.loginThread?.load,
      connections: attached.transport.connectionCount)
  }

  /// The counts of each loop of the process; those of other loops are as of their last report.
  private var reports: [LoopRegistry.Report] {
    attached.registry?.reports(with: report, of: place) ?? [report]
  }

  /// The sum of the counts of all loops.
  var total: LoopRegistry.Report { Self.total(of: reports) }

  private static func total(of reports: [LoopRegistry.Report]) -> LoopRegistry.Report {
    var total = reports[0]
    for report in reports.dropFirst() { total.add(report) }
    return total
  }

  /// Responds with the server's statistics, for an operator.
  func statistics(_ head: RequestHead, at resource: Resource) -> Response {
    guard resource.route(head.method) != nil else { return resource.methodNotAllowed }
    let latest = sample
    let total = total
    let page = StatisticsPage(
      gateway: total.gateway, store: total.store, process: .now(), started: started,
      now: SystemClock().now, connectionsMax: configuration.connectionsMax,
      isDemo: configuration.isDemo, latest: latest, earlier: recent.earliest ?? latest,
      writeNodes: { self.writeNodes(&$0, &$1) })
    return .json(200, page.json)
  }
}
