import ParleyGatewayPorts
import OTCore
import SocketMessages

extension LiveDocument {
  /// The name of the change at the durable head.
  var nameOfHead: ChangeName? { durableEntry(at: durableRevision)?.name(withTime: true) }
}

extension LogEntry {
  /// Returns the name that distinguishes the entry from all others ever written at its revision. A
  /// log is only cut at its end, so a client that has seen the entry has seen all earlier ones.
  func name(withTime: Bool) -> ChangeName {
    ChangeName(clientID: client, sequence: sequence, time: withTime ? time : nil)
  }
}

extension ArraySlice<LogEntry> {
  /// Returns the first entries that fit in a message of about `bytesMax` bytes; at least one.
  ///
  /// - Parameter formats: Whether the message contains formatting.
  func fitting(_ bytesMax: Int, formats: Bool) -> Self {
    var bytes = 0
    let end =
      firstIndex { entry in
        defer {
          bytes += 64 + entry.operation.insertedBytes + 8 * entry.operation.componentCount
          if formats { bytes += entry.format?.byteCount ?? 0 }
        }
        return bytes > bytesMax
      } ?? endIndex
    return self[..<end]
  }
}
