import ParleyGatewayPorts
import OTCore
import SocketMessages

extension LiveDocument {
  /// The change that made the durable head.
  var nameOfHead: ChangeName? { durableEntry(at: durableRevision)?.name(withTime: true) }
}

extension LogEntry {
  /// The name that tells the entry from any other ever written at its revision. The log is only ever cut at
  /// its end, so a client that has seen this entry has seen all entries before it.
  func name(withTime: Bool) -> ChangeName {
    ChangeName(clientID: client, sequence: sequence, time: withTime ? time : nil)
  }
}

extension ArraySlice<LogEntry> {
  /// The first entries, as many as a message of about so many bytes should hold; at least one.
  func fitting(_ bytesMax: Int) -> Self {
    var bytes = 0
    let end =
      firstIndex { entry in
        defer { bytes += 64 + entry.operation.insertedBytes + 8 * entry.operation.componentCount }
        return bytes > bytesMax
      } ?? endIndex
    return self[..<end]
  }
}
