package import OTCore
import SocketMessages

/// A client of the Whaler family, written from the published facts of its behaviour: one change in
/// flight, later edits composed into a buffer, the server's operation always on the left.
///
/// It counts frames, for the wire carries no revision back.
package final class SimulatedWhalerClient {
  /// The twin's copy of its one document; `nil` before the first state has come.
  package private(set) var document: Document?
  /// The number of operations seen, by the twin's own count.
  package private(set) var revision = 0
  /// The number of new states after the first.
  package private(set) var resyncs = 0

  /// Its changes that were acknowledged with their own message ids.
  package private(set) var acknowledged: [TextOperation] = []

  private let resourceID: String
  private let name: String
  private var messagesSent = 0
  private var inFlight: (messageID: String, operation: TextOperation)?
  private var buffer: TextOperation?

  package init(name: String, resourceID: String) {
    self.name = name
    self.resourceID = resourceID
  }

  /// Whether nothing waits for the server.
  package var isSettled: Bool { inFlight == nil && buffer == nil }

  /// The message that opens the resource.
  package func connect() -> [UInt8] {
    encode(.resourceConnection(.init(resourceID: resourceID))).bytes
  }

  /// The connection is gone, and with it whatever was not acknowledged.
  package func disconnected() {
    document = nil
    inFlight = nil
    buffer = nil
  }

  /// Types: changes the text at once, and returns a message if none is in flight.
  package func edit(_ operation: TextOperation) throws -> [UInt8]? {
    try document?.apply(operation)
    guard inFlight == nil else {
      buffer = try buffer?.composed(with: operation) ?? operation
      return nil
    }
    return send(operation)
  }

  /// Takes a frame, and returns a message if the buffer can now go.
  package func receive(_ bytes: UnsafeRawBufferPointer) throws -> [UInt8]? {
    let (messageID, message) = try WhalerServerMessage.decode(bytes)
    switch message {
    case .resourceConnectionConf(let state):
      if document != nil { resyncs += 1 }
      document = Document(state.initialState)
      revision = state.revision
      inFlight = nil
      buffer = nil
      return nil
    case .docChangeReturnOps(let change):
      revision += 1
      if let sent = inFlight, sent.messageID == messageID {
        acknowledged.append(sent.operation)
        inFlight = nil
        guard let waiting = buffer else { return nil }
        buffer = nil
        return send(waiting)
      }
      try applyRemote(change.operation)
      return nil
    case .resourceUpdate, .unknown: return nil
    }
  }

  private func applyRemote(_ remote: TextOperation) throws {
    var remote = remote
    if let sent = inFlight {
      let (remoteAfter, sentAfter) = try TextOperation.transform(remote, sent.operation)
      inFlight = (sent.messageID, sentAfter)
      remote = remoteAfter
    }
    if let waiting = buffer {
      let (remoteAfter, waitingAfter) = try TextOperation.transform(remote, waiting)
      buffer = waitingAfter
      remote = remoteAfter
    }
    try document?.apply(remote)
  }

  private func send(_ operation: TextOperation) -> [UInt8] {
    let message = encode(
      .docChange(.init(resourceID: resourceID, revision: revision, operation: operation)))
    inFlight = (message.id, operation)
    return message.bytes
  }

  private func encode(_ message: WhalerClientMessage) -> (id: String, bytes: [UInt8]) {
    messagesSent += 1
    let id = "\(name)-\(messagesSent)"
    var bytes: [UInt8] = []
    message.encode(messageID: id, into: &bytes)
    return (id, bytes)
  }
}
