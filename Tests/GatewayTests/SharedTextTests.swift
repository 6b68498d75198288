import ParleyGatewayPorts
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing

@Suite("Texts that are sent to many clients")
struct SharedTextTests {
  private let rig = GatewayRig(isDemo: true)

  /// Creates a note with `count` letters. Returns a follower, who wrote them.
  private func write(_ count: Int) throws -> UInt64 {
    rig.make("n1")
    let (author, _) = try rig.connectNative(nil)
    rig.ask(author, .join(.init(documentID: "n1")))
    var operation = TextOperation()
    operation.insert(String(repeating: "\"x\n", count: count / 3))
    rig.ask(
      author,
      .change(
        .init(
          documentID: "n1", epoch: "epoch of n1", revision: 0, sequence: 1, operation: operation)))
    return author
  }

  /// Joins. Returns the text and the memory address of its longest frame.
  private func join(as client: UInt64) -> (text: String?, address: UInt?) {
    rig.frameAddresses = []
    rig.frameSizes = []
    guard case .joined(let joined) = rig.ask(client, .join(.init(documentID: "n1"))),
      case .text(let text) = joined.content
    else { return (nil, nil) }
    let longest = zip(rig.frameSizes, rig.frameAddresses).max { $0.0 < $1.0 }
    return (text, longest?.1)
  }

  @Test("all clients that open a revision share the bytes of its text")
  func sharing() throws {
    let author = try write(300_000)
    let text = String(repeating: "\"x\n", count: 100_000)
    var addresses: Set<UInt> = []
    var ownBytes = 0
    for _ in 0..<20 {
      let (client, _) = try rig.connectNative(nil)
      let joined = join(as: client)
      #expect(joined.text == text)
      if let address = joined.address { addresses.insert(address) }
      ownBytes += rig.frameSizes.reduce(0, +) - (rig.frameSizes.max() ?? 0)
    }
    #expect(addresses.count == 1)
    #expect(ownBytes < 100_000)
    // The next revision has a new text, which is shared in turn.
    var operation = TextOperation()
    operation.insert("y")
    operation.retain(300_000)
    rig.ask(
      author,
      .change(
        .init(
          documentID: "n1", epoch: "epoch of n1", revision: 1, sequence: 2, operation: operation)))
    let late = try (rig.connectNative(nil).0, rig.connectNative(nil).0)
    let (first, second) = (join(as: late.0), join(as: late.1))
    #expect(first.text == "y" + text && second.text == "y" + text)
    #expect(first.address == second.address)
  }

  @Test("a short text is one frame")
  func short() throws {
    _ = try write(3_000)
    let (client, _) = try rig.connectNative(nil)
    rig.frameSizes = []
    #expect(join(as: client).text == String(repeating: "\"x\n", count: 1_000))
    #expect(rig.recipients.filter { $0 == client }.count == 2, "the welcome and the text")
  }

  @Test("titles and rights differ beside the shared text")
  func fields() throws {
    let guarded = GatewayRig()
    guarded.make("n1")
    let grants: [Verbs] = [[.read, .write, .presence], .read]
    let tokens = grants.enumerated().map { index, verbs in
      guarded.token("user\(index)", [Grant(.documents, NamePattern("n1"), verbs)])
    }
    var accesses: [ServerMessage.Joined.Access] = []
    for token in tokens {
      let (client, _) = try guarded.connectNative(token)
      guard case .joined(let joined) = guarded.ask(client, .join(.init(documentID: "n1"))) else {
        Issue.record("not joined")
        return
      }
      accesses.append(joined.access)
    }
    #expect(accesses == [.write, .read])
  }
}
