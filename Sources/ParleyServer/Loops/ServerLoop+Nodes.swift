import ParleyCryptoOpenSSL
import Gateway
import ParleyGatewayPorts
import Glibc
import ParleyJSON
import ParleyLocks
import ParleyTransportLibwebsockets

/// The reports of the gateways on one database, for operators.
///
/// The first loop sends and receives reports for the process; every loop reads the result.
extension ServerLoop {
  /// Sends this gateway's report to the others, if it is due.
  func notifyNodes() {
    guard place == 0 else { return }
    if !followsNodes {
      followsNodes = true
      let name = configuration.nodeName ?? Self.machineName(port: attached.transport.boundPort)
      attached.nodes.withLock { $0.ownName = name }
      attached.broker?.follow(ClusterStatus.topic)
    }
    guard let broker = attached.broker else { return }
    if attached.nodes.withLock({ $0.begins(now: SystemClock().uptime) }) {
      broker.publish(ClusterStatus.topic, nodeReport.encoded)
    }
  }

  /// Processes the report of another gateway.
  func heardNode(_ bytes: [UInt8]) {
    attached.nodes.withLock { $0.hear(bytes, own: Self.run, now: SystemClock().uptime) }
  }

  /// The id of this run of the process.
  private static let run = RandomNames().next()

  /// This process's own report.
  private var nodeReport: NodeReport {
    let total = total
    return NodeReport(
      run: Self.run, name: attached.nodes.withLock { $0.ownName } ?? "",
      version: Version.current, startedAt: started, loops: configuration.loopCount,
      connections: total.connections, notes: total.gateway.openDocuments,
      lag: attached.broker?.state.lag.quantile(0.5))
  }

  private static func machineName(port: Int) -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard gethostname(&buffer, buffer.count - 1) == 0 else { return "port \(port)" }
    let name = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return "\(String(decoding: name, as: UTF8.self)):\(port)"
  }

  /// Writes the reports of all gateways, this one first.
  func writeNodes(_ object: inout JSONWriter.Object, _ body: inout [UInt8]) {
    let others = attached.nodes.withLock { $0.list(now: SystemClock().uptime) }
    object.key("nodes", &body)
    let all: [(report: NodeReport, silence: Int64?)] =
      [(nodeReport, nil)] + others.map { ($0.report, $0.silence) }
    JSONWriter.array(all, &body) { Self.write($0.report, silence: $0.silence, &$1) }
  }

  private static func write(_ node: NodeReport, silence: Int64?, _ body: inout [UInt8]) {
    JSONWriter.object(&body) { object, body in
      object.field("name", node.name, &body)
      object.field("version", node.version, &body)
      object.field("startedAt", Int(node.startedAt), &body)
      object.field("loops", node.loops, &body)
      object.field("connections", node.connections, &body)
      object.field("documents", node.notes, &body)
      object.field("hintLagMicroseconds", node.lag, &body)
      object.field("silentMilliseconds", silence ?? 0, &body)
      object.field("isAsked", silence == nil, &body)
    }
  }
}
