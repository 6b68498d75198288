package import ParleyGatewayPorts
import ParleyJSON

/// A gateway's report about itself, for operators of the other gateways on its database.
package struct NodeReport: Equatable, Sendable {
  /// Identifies this run of the process; a restart gets a new one.
  package var run: String
  /// The display name of the gateway.
  package var name: String
  /// The program's version.
  package var version: String
  /// The time at which the process started.
  package var startedAt: Timestamp
  /// The number of the process's loops; all of them together are one node.
  package var loops: Int
  /// Open connections.
  package var connections: Int
  /// Notes in memory.
  package var notes: Int
  /// The median delay of hints in microseconds; `nil` before the first measurement.
  package var lag: Int64?

  /// Creates a report; a long name is shortened.
  package init(
    run: String, name: String, version: String, startedAt: Timestamp, loops: Int, connections: Int,
    notes: Int, lag: Int64?
  ) {
    self.run = run
    var name = name
    while name.utf8.count > Self.nameBytesMax { name.unicodeScalars.removeLast() }
    self.name = name
    self.version = version
    self.startedAt = startedAt
    self.loops = loops
    self.connections = connections
    self.notes = notes
    self.lag = lag
  }

  /// Maximum bytes of a name.
  package static let nameBytesMax = 200
  /// Maximum bytes of an encoded report; longer ones are ignored.
  package static let bytesMax = 2_048

  /// The report as JSON.
  package var encoded: [UInt8] {
    JSONWriter.object { object, bytes in
      object.field("run", run, &bytes)
      object.field("name", name, &bytes)
      object.field("version", version, &bytes)
      object.field("started", Int(startedAt), &bytes)
      object.field("loops", loops, &bytes)
      object.field("connections", connections, &bytes)
      object.field("notes", notes, &bytes)
      if let lag { object.field("lag", Int(lag), &bytes) }
    }
  }

  /// Decodes a report; `nil` if it is malformed.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count <= Self.bytesMax, let fields = JSONFields(bytes),
      let run = fields["run"]?.string, !run.isEmpty, let name = fields["name"]?.string,
      name.utf8.count <= Self.nameBytesMax, let version = fields["version"]?.string,
      let started = fields["started"]?.integer, let loops = fields["loops"]?.integer,
      let connections = fields["connections"]?.integer, let notes = fields["notes"]?.integer
    else { return nil }
    self.init(
      run: run, name: name, version: version, startedAt: Timestamp(started), loops: loops,
      connections: connections, notes: notes, lag: fields["lag"]?.integer.map { Int64($0) })
  }
}
