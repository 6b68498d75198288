import Gateway
import ParleyGatewayPorts
import ParleyJSON

/// The response body of `/api/stats`: statistics for the operator.
struct StatisticsPage {
  let gateway: GatewaySummary
  let store: StoreMetrics
  let process: ProcessMetrics
  /// The time at which the process started.
  let started: Timestamp
  let now: Timestamp
  let connectionsMax: Int
  let isDemo: Bool
  /// The latest sample of the counters, and an earlier one; rates are computed from their
  /// difference.
  let latest: ActivitySample
  let earlier: ActivitySample
  /// Adds the gateways that share the database.
  let writeNodes: (inout JSONWriter.Object, inout [UInt8]) -> Void

  private typealias Object = JSONWriter.Object

  var json: [UInt8] {
    JSONWriter.object { object, body in
      object.field("version", Version.current, &body)
      object.field("time", Int(now), &body)
      object.field("startedAt", Int(started), &body)
      object.field("uptimeMilliseconds", Int(now - started), &body)
      object.field("isReady", gateway.unreadiness == nil, &body)
      object.field("isDemo", isDemo, &body)
      nest("connections", &object, &body, connections)
      nest("documents", &object, &body, documents)
      nest("rooms", &object, &body) { $0.field("occupied", gateway.openRooms, &$1) }
      nest("store", &object, &body) {
        $0.field("queued", store.queued, &$1)
        $0.field("durableMachines", store.state.machines, &$1)
      }
      writeNodes(&object, &body)
      nest("process", &object, &body, process)
      nest("totals", &object, &body, totals)
      nest("recent", &object, &body, recent)
    }
  }

  private func nest(
    _ name: StaticString, _ object: inout Object, _ body: inout [UInt8],
    _ write: (inout Object, inout [UInt8]) -> Void
  ) {
    object.key(name, &body)
    JSONWriter.object(&body, write)
  }

  private func connections(_ object: inout Object, _ body: inout [UInt8]) {
    let open = gateway.openConnections
    object.field("total", open.total, &body)
    object.field("native", open.native, &body)
    object.field("whaler", open.whaler, &body)
    object.field("socketIO", open.socketIO, &body)
    object.field("bayeux", open.bayeux, &body)
    object.field("pusher", open.pusher, &body)
    object.field("sharedb", open.shareDB, &body)
    object.field("rustpad", open.rustpad, &body)
    object.field("lagging", gateway.laggingConnections, &body)
    object.field("max", connectionsMax, &body)
  }

  private func documents(_ object: inout Object, _ body: inout [UInt8]) {
    object.field("live", gateway.openDocuments, &body)
    object.field("subscriptions", gateway.documentSubscriptions, &body)
  }

  private func process(_ object: inout Object, _ body: inout [UInt8]) {
    object.field("memoryBytes", process.residentBytes, &body)
    object.field("openFiles", process.openFiles, &body)
    object.field("openFilesMax", process.openFilesMax, &body)
    object.field("processorMilliseconds", Int(process.processorSeconds * 1_000), &body)
  }

  private func totals(_ object: inout Object, _ body: inout [UInt8]) {
    let metrics = gateway.metrics
    object.field("messagesReceived", metrics.messagesReceived, &body)
    object.field("framesSent", metrics.framesSent, &body)
    object.field("changes", metrics.changesAccepted, &body)
    object.field("changesRefused", metrics.changesRefused.values.reduce(0, +), &body)
    object.field("connectionsOpened", metrics.connectionsOpened, &body)
    object.field("connectionsClosed", metrics.closes.values.reduce(0, +), &body)
  }

  private func recent(_ object: inout Object, _ body: inout [UInt8]) {
    let microseconds = max(1, latest.time - earlier.time)
    func rate(_ name: StaticString, _ count: Double, _ body: inout [UInt8]) {
      object.key(name, &body)
      JSONWriter.tenths(Int((count * 10_000_000 / Double(microseconds)).rounded()), &body)
    }
    func rate(_ name: StaticString, _ counted: KeyPath<ActivitySample, Int>) {
      rate(name, Double(latest[keyPath: counted] - earlier[keyPath: counted]), &body)
    }
    object.field("milliseconds", Int(microseconds / 1_000), &body)
    rate("messagesReceivedPerSecond", \.messagesReceived)
    rate("framesSentPerSecond", \.framesSent)
    rate("changesPerSecond", \.changes)
    rate("connectionsOpenedPerSecond", \.connectionsOpened)
    rate("processorPercent", 100 * (latest.processorSeconds - earlier.processorSeconds), &body)
    latencies("commit", latest.commit.since(earlier.commit), &object, &body)
    latencies(
      "acknowledgement", latest.acknowledgement.since(earlier.acknowledgement), &object, &body)
    latencies("broadcast", latest.broadcast.since(earlier.broadcast), &object, &body)
  }

  private func latencies(
    _ name: StaticString, _ histogram: Histogram, _ object: inout Object, _ body: inout [UInt8]
  ) {
    nest(name, &object, &body) { object, body in
      object.field("count", histogram.count, &body)
      object.field("p50", histogram.quantile(0.5).map(Int.init), &body)
      object.field("p90", histogram.quantile(0.9).map(Int.init), &body)
      object.field("p99", histogram.quantile(0.99).map(Int.init), &body)
    }
  }
}
