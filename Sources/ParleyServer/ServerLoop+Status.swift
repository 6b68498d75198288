import APIDescription
import Gateway
import GatewayPorts
import JSON
import TransportLibwebsockets

/// Health, metrics and statistics over HTTP.
///
///     GET /health             whether the process answers
///     GET /ready              whether changes are taken
///     GET /metrics            for Prometheus
///     GET /api/openapi.json   the description of the HTTP API
///     GET /sdk/version.json   the program's version and its capabilities
///     GET /api/stats          for people who operate the server
extension ServerLoop {
  /// Answers what needs no key and has no rate; `nil` if the path is another.
  func status(_ head: RequestHead, at resource: Resource) -> Response? {
    let answer: () -> Response
    switch resource.page {
    case .health: answer = { .plain(200, "ok\n") }
    case .readiness: answer = readiness
    case .metrics: answer = { self.metrics(head) }
    case .description: answer = { self.description }
    case .version: answer = { self.version }
    case .statistics, .login, .refresh, nil: return nil
    }
    return resource.route(head.method) == nil ? resource.methodNotAllowed : answer()
  }

  private func readiness() -> Response {
    gateway.unreadiness.map { .plain(503, $0 + "\n") } ?? .plain(200, "ready\n")
  }

  private var description: Response {
    Response(
      status: 200,
      headers: [("content-type", "application/json"), ("cache-control", "no-cache")],
      body: APIDescription.openAPI)
  }

  /// The facts that a client needs before it connects, or loads one.
  private var version: Response {
    var body: [UInt8] = []
    JSONWriter.object(&body) { object, body in
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
      Configuration.isLoopback(head.remoteAddress)
      && head.headers["x-forwarded-for"] == nil && head.headers["forwarded"] == nil
    switch configuration.metricsAudience {
    case .anyone: break
    case .local where isLocal: break
    case .local:
      return .plain(
        403, "Metrics are for this machine; the operator can open them with metrics = anyone.\n")
    case .nobody: return .plain(404, "Nothing is here.\n")
    }
    let page = MetricsPage(
      gateway: gateway, refused: attached.transport.refusedConnections,
      store: attached.storeThread.metrics, hooks: attached.hooks?.metrics, process: .now(),
      started: started)
    return Response(
      status: 200, headers: [("content-type", PrometheusText.contentType)], body: page.text.bytes)
  }

  /// A sample of the counters.
  var sample: ActivitySample {
    ActivitySample(
      gateway.metrics, attached.storeThread.metrics, time: SystemClock().microseconds)
  }

  /// What the server does, for an operator.
  func statistics(_ head: RequestHead, at resource: Resource) -> Response {
    guard resource.route(head.method) != nil else { return resource.methodNotAllowed }
    let latest = sample
    let page = StatisticsPage(
      gateway: gateway, store: attached.storeThread.metrics, process: .now(), started: started,
      now: SystemClock().now, connectionsMax: configuration.connectionsMax,
      isDemo: configuration.isDemo, latest: latest, earlier: recent.earliest ?? latest)
    return .json(200, page.json)
  }
}
