import OTCore
import SocketMessages
import ParleyWebSocketFrames

/// The operational transform of one client, without the text: typing needs only its length.
struct Typist {
  var id = ""
  private var synchronizer = ClientSynchronizer(epoch: "", revision: 0)
  /// The scalars of the text, unconfirmed edits included.
  private(set) var length = 0

  /// The number of edits that are not confirmed to be on disk.
  var unconfirmedCount: Int { synchronizer.unconfirmedCount }

  mutating func join(_ joined: ServerMessage.Joined) {
    guard case .text(let text) = joined.content else { fail("a text was expected") }
    synchronizer = ClientSynchronizer(epoch: joined.epoch, revision: joined.revision)
    length = text.unicodeScalars.count
  }

  mutating func edit(_ operation: TextOperation) -> ClientSynchronizer.Change? {
    length += operation.targetLength - operation.baseLength
    return Self.must { () throws(SynchronizerError) in try synchronizer.edit(operation) }
  }

  /// Receives a change by any author. An own change is acknowledged, and the next one is returned.
  mutating func take(
    _ change: ServerMessage.Change, revision: Int
  ) -> ClientSynchronizer.Change? {
    if change.clientID == id { return acknowledge(change.sequence, revision: revision) }
    let operation = Self.must { () throws(SynchronizerError) in
      try synchronizer.receive(change.operation, revision: revision)
    }
    length += operation.targetLength - operation.baseLength
    return nil
  }

  mutating func acknowledge(_ sequence: Int, revision: Int) -> ClientSynchronizer.Change? {
    Self.must { () throws(SynchronizerError) in
      try synchronizer.acknowledge(sequence: sequence, revision: revision)
    }
  }

  func frame(_ change: ClientSynchronizer.Change, of document: String) -> Frame {
    Native.frame(
      .change(
        .init(
          documentID: document, epoch: synchronizer.epoch, revision: change.revision,
          sequence: change.sequence, operation: change.operation)))
  }

  private static func must<Value>(_ body: () throws(SynchronizerError) -> Value) -> Value {
    do {
      return try body()
    } catch {
      fail("client and server have diverged: \(error)")
    }
  }
}
