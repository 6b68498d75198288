import Glibc
import SocketMessages

/// All clients reconnect at once, as after a restart: they connect, say hello and join one note, as
/// fast as the server accepts them. Measures the time until the last client has joined, the time
/// until no client receives further messages, and the server's peak memory.
final class Storm: Workload {
  private let document: String
  private let people: Int
  private var joined = 0
  private var bytes = 0
  private var messages = 0
  private var heard: UInt64 = 0

  private init(document: String, people: Int) {
    self.document = document
    self.people = people
  }

  static func run(_ options: Options, _ client: Client, _ server: ServerProcess) {
    let document = Notes.create(
      port: options.numbers("port", 8080)[0],
      text: String(repeating: "x", count: options.number("text", 1_000)))
    let workload = Storm(document: document, people: options.number("people", 5_000))
    let atOnce = options.number("at-once", 1_000)
    let patience = UInt64(options.seconds("patience", 120) * 1_000_000_000)
    let measurement = Measurement(server)
    let began = nanoseconds()
    var begun = 0
    while workload.joined < workload.people {
      while begun < workload.people, begun - client.openCount < atOnce {
        client.connect("/ws", subprotocol: Native.subprotocol)
        begun += 1
      }
      client.turn(milliseconds: 20, workload)
      guard nanoseconds() - began < patience else {
        fail("\(workload.joined) of \(workload.people) people joined in time")
      }
    }
    let all = nanoseconds() - began
    // Quiet means half a second without a message.
    while nanoseconds() - workload.heard < 500_000_000 { client.turn(milliseconds: 20, workload) }
    let quiet = workload.heard - began
    var report = Report("storm")
    report.add("people", workload.people)
    report.add("all_joined_seconds", Double(all) / 1_000_000_000)
    report.add("quiet_after_seconds", Double(quiet) / 1_000_000_000)
    report.add("messages_each", Double(workload.messages) / Double(workload.people))
    report.add("bytes_each", workload.bytes / workload.people)
    report.add("server_largest_bytes", server.largestResidentBytes())
    measurement.add("joins", workload.joined, to: &report)
    report.print()
  }

  func opened(_ connection: Int, _ client: Client) {
    client.send(Native.hello(name: "p\(connection)"), on: connection)
  }

  func received(_ connection: Int, _ payload: UnsafeRawBufferPointer, _ client: Client) {
    heard = nanoseconds()
    messages += 1
    bytes += payload.count
    // The type is near the start of a message; decoding all messages would measure this program.
    let head = String(decoding: payload.prefix(200), as: UTF8.self)
    if head.contains("\"type\":\"welcome\"") {
      client.send(Native.join(document), on: connection)
    } else if head.contains("\"type\":\"joined\"") {
      joined += 1
    }
  }
}
