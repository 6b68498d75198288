import ParleyGrowthKit
import ParleyJSON
import ParleySocketIO
import Testing

@Suite("Growth of packets", .serialized)
struct PacketGrowthTests {
  /// An event with as many arguments, fields and characters.
  private static func event(_ size: Int) -> SocketPacket {
    SocketPacket(
      event: "realtime:join",
      [
        JSONValue(String(repeating: "é\"", count: size / 2)),
        JSONValue(JSONFields((0..<size).map { JSONFields.Field("é\($0)", .null) })),
      ] + (0..<min(size, 900)).map(JSONValue.init(_:)))
  }

  /// Scalars outside of ASCII: the slowest form to count.
  private static func packets(_ size: Int) -> [[UInt8]] {
    let long = SocketPacket(
      event: "e", [JSONValue(String(repeating: "👍", count: size))])
    return [long.engineText]
      + (1..<min(size, EnginePayload.packetsMax)).map { _ in Array("2é".utf8) }
  }

  private static let eventLaws = [
    GrowthLaw("read an event", size: 4_000, prepare: { Array(event($0).engineText.dropFirst()) }) {
      guard let packet = SocketPacket($0) else { preconditionFailure("it was not read") }
      precondition(packet.eventName != nil && packet.arguments.count > 2)
    },
    GrowthLaw("read the fields of an argument", size: 4_000) { size in
      let once = (0..<size).map { #""é\#($0)":1"# }.joined(separator: ",")
      return Array(#"2["e",{\#(once),\#(once)}]"#.utf8)
    } run: {
      precondition(SocketPacket($0)?.arguments[0].fields?.all.isEmpty == false)
    },
    GrowthLaw("write an event", size: 4_000, prepare: event) {
      precondition(!$0.engineText.isEmpty)
    },
    GrowthLaw("number an event", size: 4_000, prepare: event) {
      precondition($0.numbered("7").data != nil)
    },
  ]

  private static let payloadLaws = EngineGeneration.allCases.flatMap { generation in
    [
      GrowthLaw("read a payload of generation \(generation.rawValue)", size: 4_000) { size in
        EnginePayload.encode(packets(size), generation: generation)
      } run: {
        guard EnginePayload.decode($0, generation: generation) != nil else {
          preconditionFailure("it was not read")
        }
      },
      GrowthLaw(
        "write a payload of generation \(generation.rawValue)", size: 4_000, prepare: packets
      ) {
        precondition(!EnginePayload.encode($0, generation: generation).isEmpty)
      },
    ]
  }

  @Test(
    "eight times as large a packet costs at most sixteen times as much",
    arguments: eventLaws + payloadLaws)
  func growth(law: GrowthLaw) {
    let finding = law.check()
    #expect(finding.holds, "\(finding)")
  }
}
