import OTCore
import SocketMessages

/// Decodes and encodes single messages many times, without a server.
///
/// Run it under `valgrind --tool=callgrind`: the instructions of `--times 4000` minus those of
/// `--times 2000`, divided by 2,000, are the cost of one message.
enum Codec {
  private static let acknowledged =
    #"{"messageId":"c17","type":"acknowledged","data":{"documentId":"n-4f2a","sequence":678,"revision":12345,"time":1763712000000}}"#
  private static let change =
    #"{"messageId":"c17","type":"change","data":{"documentId":"n-4f2a","epoch":"e-7","revision":12345,"sequence":678,"operation":[1000,"x",2000]}}"#
  private static let changes =
    #"{"messageId":"s99","type":"changes","data":{"documentId":"n-4f2a","revision":12345,"changes":[{"clientId":"0b5d3c0e-7f3a","sequence":678,"operation":[1000,"x",2000]},{"clientId":"0b5d3c0e-7f3b","sequence":12,"operation":[7,-1,2994]},{"clientId":"0b5d3c0e-7f3a","sequence":679,"operation":[1001,"y",1999]}],"time":1763712000000}}"#
  private static let receipt =
    #"{"messageId":"c18","type":"receipt","data":{"room":"r-1","offset":77,"state":"read"}}"#
  private static let welcome: String = {
    var bytes: [UInt8] = []
    ServerMessage.welcome(
      .init(
        clientID: "0b5d3c0e-7f3a", resumeToken: "t-1", serverTime: 1_763_712_000_000, demo: true,
        capabilities: ["rooms", "receipts"], limits: Limits())
    ).encode(messageID: "c1", into: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }()

  static func run(_ options: Options) {
    let times = options.number("times", 2_000)
    let checksum: Int
    switch options.text("what", "") {
    case "read-acknowledged": checksum = readServer(acknowledged, times)
    case "read-changes": checksum = readServer(changes, times)
    case "read-welcome": checksum = readServer(welcome, times)
    case "read-change": checksum = readClient(change, times)
    case "read-receipt": checksum = readClient(receipt, times)
    case "write-acknowledged": checksum = writeServer(acknowledged, times)
    case "write-changes": checksum = writeServer(changes, times)
    case "write-welcome": checksum = writeServer(welcome, times)
    case "write-change": checksum = writeClient(change, times)
    case "write-receipt": checksum = writeClient(receipt, times)
    default: fail("--what takes read-NAME or write-NAME of acknowledged, change, changes, …")
    }
    var report = Report("codec")
    report.add("times", times)
    report.add("checksum", checksum)
    report.print()
  }

  private static func server(_ bytes: UnsafeRawBufferPointer) -> ServerMessage {
    do { return try ServerMessage.decode(bytes).message } catch { fail(error.description) }
  }

  private static func client(_ bytes: UnsafeRawBufferPointer) -> ClientMessage {
    do { return try ClientMessage.decode(bytes).message } catch { fail(error.description) }
  }

  private static func readServer(_ json: String, _ times: Int) -> Int {
    Array(json.utf8).withUnsafeBytes { bytes in
      var checksum = 0
      for _ in 0..<times {
        switch server(bytes) {
        case .acknowledged(let message): checksum += message.revision
        case .changes(let message): checksum += message.changes.count
        case .welcome(let message): checksum += message.limits.pageMax
        default: fail("another message")
        }
      }
      return checksum
    }
  }

  private static func readClient(_ json: String, _ times: Int) -> Int {
    Array(json.utf8).withUnsafeBytes { bytes in
      var checksum = 0
      for _ in 0..<times {
        switch client(bytes) {
        case .change(let message): checksum += message.revision
        case .receipt(let message): checksum += message.offset
        default: fail("another message")
        }
      }
      return checksum
    }
  }

  private static func writeServer(_ json: String, _ times: Int) -> Int {
    let message = Array(json.utf8).withUnsafeBytes { server($0) }
    return write(times) { message.encode(messageID: "c17", into: &$0) }
  }

  private static func writeClient(_ json: String, _ times: Int) -> Int {
    let message = Array(json.utf8).withUnsafeBytes { client($0) }
    return write(times) { message.encode(messageID: "c17", into: &$0) }
  }

  private static func write(_ times: Int, _ encode: (inout [UInt8]) -> Void) -> Int {
    var buffer: [UInt8] = []
    buffer.reserveCapacity(4_096)
    var checksum = 0
    for _ in 0..<times {
      buffer.removeAll(keepingCapacity: true)
      encode(&buffer)
      checksum += buffer.count
    }
    return checksum
  }
}
