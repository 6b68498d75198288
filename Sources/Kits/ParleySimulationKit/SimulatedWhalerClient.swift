package import OTCore
import SocketMessages

/// A client of the Whaler family, written from published facts about its behaviour: one change is
/// in flight, later edits are composed into a buffer, and the server's operation is always on the
/// left.
///
/// It counts received operations, since the server does not send revisions.
package final class SimulatedWhalerClient {
  /// The copy of its only document; `nil` until a state is received on the current connection.
  package private(set) var document: Document?
  /// The revision of the last received state, plus the number of operations received since.
  package private(set) var revision = 0
  /// The number of states received after the first one of their connection.
  package private(set) var resyncs = 0

  /// The acknowledged changes, as transformed over the operations received before.
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

  /// Whether all changes are acknowledged.
  package var isSettled: Bool { inFlight == nil && buffer == nil }

  /// Returns the message that opens the resource.
  package func connect() -> [UInt8] {
    encode(.resourceConnection(.init(resourceID: resourceID))).bytes
  }

  /// Handles the end of the connection. Changes that are not acknowledged are lost.
  package func disconnected() {
    document = nil
    inFlight = nil
    buffer = nil
  }

  /// Edits the text at once. Returns a message if no change is in flight.
  package func edit(_ operation: TextOperation) throws -> [UInt8]? {
    try document?.apply(operation)
    guard inFlight == nil else {
      buffer = try buffer?.composed(with: operation) ?? operation
      return nil
    }
    return send(operation)
  }

  /// Handles a message. Returns a message if the buffer can be sent now.
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
