import ParleyGrowthKit
import ParleyJSON
import SocketMessages
import Testing

@Suite("Growth of messages", .serialized)
struct MessageGrowthTests {
  /// Scalars of each text and elements of each list, at the smaller size.
  private static let size = 4_000

  /// A law about reading bytes, which has to succeed.
  private static func reading(
    _ name: String, _ encode: @escaping @Sendable (_ size: Int, inout [UInt8]) -> Void,
    _ decode: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
  ) -> GrowthLaw {
    GrowthLaw("read \(name)", size: size) { size in
      var bytes: [UInt8] = []
      encode(size, &bytes)
      return bytes
    } run: { bytes in
      do { try bytes.withUnsafeBytes(decode) } catch { preconditionFailure("\(name): \(error)") }
    }
  }

  /// A law about writing a message.
  private static func writing<Message: Sendable>(
    _ name: String, _ make: @escaping @Sendable (Int) -> Message,
    _ encode: @escaping @Sendable (Message, _ id: String, inout [UInt8]) -> Void
  ) -> GrowthLaw {
    GrowthLaw("write \(name)", size: size) { size in
      (message: make(size), id: Large.text(size))
    } run: { message, id in
      var bytes: [UInt8] = []
      encode(message, id, &bytes)
      precondition(!bytes.isEmpty)
    }
  }

  private static let clientLaws = ClientMessage.Kind.allCases.map { kind in
    reading("\(kind)") {
      Large.message(kind, $0).encode(messageID: Large.text($0), into: &$1)
    } _: {
      let message = try ClientMessage.decode($0).message
      precondition(message.kind == kind)
    }
  }

  private static let serverLaws = ServerMessage.Kind.allCases.map { kind in
    writing("\(kind)") {
      Large.message(kind, $0)
    } _: {
      $0.encode(messageID: $1, into: &$2)
    }
  }

  private static let whalerLaws =
    WhalerClientKind.allCases.map { kind in
      reading("Whaler's \(kind)") {
        Large.message(kind, $0).encode(messageID: Large.text($0), into: &$1)
      } _: {
        let message = try WhalerClientMessage.decode($0).message
        precondition(WhalerClientKind(message) == kind)
      }
    }
    + WhalerServerKind.allCases.map { kind in
      writing("Whaler's \(kind)") {
        Large.message(kind, $0)
      } _: {
        $0.encode(senderID: "s", messageID: $1, into: &$2)
      }
    }

  /// Names that no message has, each of them once and then all of them again.
  private static func namesTwice(_ size: Int) -> String {
    let once = (0..<size).map { #""é\#($0)":[{}]"# }.joined(separator: ",")
    return "\(once),\(once)"
  }

  private static let oddLaws = [
    reading("fields that it does not know") { size, bytes in
      let names = namesTwice(size)
      bytes += #"{\#(names),"messageId":"m","type":"ping","data":{\#(names)}}"#.utf8
    } _: {
      _ = try ClientMessage.decode($0)
    },
    reading("a type that it does not know") { size, bytes in
      bytes += #"{"messageId":"m","type":"\#(String(repeating: "x", count: size))","data":{}}"#.utf8
    } _: {
      _ = try ClientMessage.decode($0)
    },
    reading("a message that is cut off") { size, bytes in
      Large.message(ClientMessage.Kind.publish, size).encode(messageID: "m", into: &bytes)
      bytes.removeLast()
    } _: { bytes in
      guard (try? ClientMessage.decode(bytes)) == nil else { preconditionFailure("it was read") }
    },
    reading("a message that is no UTF-8 at its end") { size, bytes in
      Large.message(ClientMessage.Kind.profile, size).encode(messageID: "m", into: &bytes)
      bytes.append(0xff)
    } _: { bytes in
      guard (try? ClientMessage.decode(bytes)) == nil else { preconditionFailure("it was read") }
    },
  ]

  @Test("messages of clients are read in proportion to their size", arguments: clientLaws)
  func growthOfClientMessages(law: GrowthLaw) { check(law) }

  @Test("messages of the server are written in proportion to their size", arguments: serverLaws)
  func growthOfServerMessages(law: GrowthLaw) { check(law) }

  @Test(
    "messages of the Whaler family are read and written in proportion to their size",
    arguments: whalerLaws)
  func growthOfWhalerMessages(law: GrowthLaw) { check(law) }

  @Test(
    "odd messages, and those with unknown fields, are read in proportion to their size",
    arguments: oddLaws)
  func growthOfOddMessages(law: GrowthLaw) { check(law) }

  private func check(_ law: GrowthLaw) {
    let finding = law.check()
    #expect(finding.holds, "\(finding)")
  }

  @Test("each kind of message has a large form, which grows with the given size")
  func table() {
    for kind in ClientMessage.Kind.allCases {
      #expect(Large.message(kind, 10).kind == kind)
    }
    for kind in ServerMessage.Kind.allCases {
      #expect(Large.message(kind, 10).kind == kind)
      func length(_ size: Int) -> Int {
        var bytes: [UInt8] = []
        Large.message(kind, size).encode(messageID: Large.text(size), into: &bytes)
        return bytes.count
      }
      #expect(length(4_000) > 6 * length(400), "\(kind)")
    }
    for kind in WhalerClientKind.allCases {
      #expect(WhalerClientKind(Large.message(kind, 10)) == kind)
    }
    for kind in WhalerServerKind.allCases {
      #expect(WhalerServerKind(Large.message(kind, 10)) == kind)
    }
    let laws = Self.clientLaws + Self.serverLaws + Self.whalerLaws
    #expect(Set(laws.map(\.name)).count == laws.count)
  }
}
