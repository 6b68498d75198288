import ParleyBayeux
import Foundation
import Gateway
import ParleyGatewayPorts
import ParleyGrowthKit
import ParleyJSON
import ParleyPusher
import ParleySocketIO
import SocketMessages
import Testing

/// A message or request in its largest and most hostile forms, with and without a token.
struct HostileInput: Sendable, CustomTestStringConvertible {
  /// The name of the input: a message of a dialect, or a request.
  let testDescription: String
  /// Calls its last argument for each form, with the work to measure on a new gateway.
  let forEachVariant: Forms

  typealias Forms =
    @Sendable (_ size: HostileSize, _ measure: (String, (TimedRig) -> Void) -> Void) -> Void

  init(_ name: String, _ forms: @escaping Forms) {
    testDescription = name
    forEachVariant = forms
  }
}

/// The size of the inputs of a measurement.
struct HostileSize: Sendable {
  /// The divisor of the largest legal size.
  let divisor: Int
  /// Bytes of a message or body.
  let bytesMax: Int
  let json: HostileJSON

  private init(divisor: Int) {
    self.divisor = divisor
    bytesMax = Limits().messageBytesMax / divisor
    json = HostileJSON(size: bytesMax - 1_024, samples: HostileInput.samples)
  }

  static let largest = HostileSize(divisor: 1)
  static let small = HostileSize(divisor: TurnTime.smallDivisor)
}

extension HostileInput {
  /// Bytes of the largest head of a request.
  static let headBytesMax = 16 << 10

  /// Field values with which a message is accepted.
  fileprivate static let samples = [
    "documentId": #""d""#, "resourceId": #""d""#, "epoch": #""epoch of d""#, "room": #""r""#,
    "token": #""all""#, "name": #""r""#, "limit": "1", "numbersMax": "64", "color": "\"#123456\"",
    "sequence": "1", "access": #""read""#,
  ]

  // MARK: parley.v1

  static let native = ClientMessage.Kind.allCases.map { kind in
    HostileInput("parley.v1 \(kind.rawValue)") { size, measure in
      for input in size.json.inputs(kind.shape ?? .object("", [])) {
        let message = input.between(
          #"{"messageId":"m","type":"\#(kind.rawValue)","data":"#, "}")
        measure(input.shape) { rig in
          let bytes = message.bytes
          let client = rig.open()
          rig.receive(
            #"{"messageId":"h","type":"hello","data":{"name":"n","token":"all"}}"#, on: client)
          rig.receive(
            #"{"messageId":"j","type":"join","data":{"documentId":"d"}}"#, on: client)
          rig.receive(#"{"messageId":"s","type":"subscribe","data":{"room":"r"}}"#, on: client)
          rig.begin()
          rig.receive(bytes, on: client)
        }
        // Before hello, all other kinds are rejected in the same way, so one of them is enough.
        if kind == .hello || kind == .change {
          measure("without a token, " + input.shape) { rig in
            let bytes = message.bytes
            let client = rig.open()
            rig.begin()
            rig.receive(bytes, on: client)
          }
        }
      }
    }
  }

  /// The fields of the envelope around a message's data.
  static let envelope = HostileInput("parley.v1, the envelope") { size, measure in
    let fields = ["messageId", "type"].map {
      MessageShape.Field(name: $0, shape: .text, presence: .required)
    }
    for input in size.json.inputs(.object("", fields)) {
      measure(input.shape) { rig in
        let bytes = input.bytes
        let client = rig.open()
        rig.begin()
        rig.receive(bytes, on: client)
      }
    }
  }

  // MARK: Whaler

  static let whaler = WhalerClientMessage.Kind.allCases.map { kind in
    HostileInput("Whaler \(kind.rawValue)") { size, measure in
      for input in size.json.inputs(kind.shape) {
        measure(input.shape) { rig in
          let bytes =
            input.between(#"{"messageId":"m","type":"\#(kind.rawValue)","data":"#, "}").bytes
          let client = rig.open(.whaler(pool: nil), token: TimedRig.token)
          rig.receive(
            #"{"messageId":"j","type":"resourceConnection","data":{"resourceId":"d"}}"#, on: client)
          rig.begin()
          rig.receive(bytes, on: client)
        }
      }
    }
  }

  // MARK: Bayeux

  /// The ways in which messages of Bayeux arrive.
  private enum BayeuxCarrier: CaseIterable {
    case webSocket, body, form
  }

  private static let handshake =
    #"{"channel":"/meta/handshake","version":"1.0","supportedConnectionTypes":["websocket"]}"#

  static let bayeux = (BayeuxMessage.MetaChannel.allCases.map(\.rawValue) + ["/r"]).flatMap {
    channel in
    BayeuxCarrier.allCases.map { carrier in
      HostileInput("Bayeux \(channel) by \(carrier)") { size, measure in
        let fields = BayeuxMessage.Field.allCases.map {
          MessageShape.Field(name: $0.rawValue, shape: $0.shape, presence: .optional)
        }
        let samples = [
          "channel": "\"\(channel)\"", "clientId": #""g2""#, "version": #""1.0""#, "id": "1",
          "supportedConnectionTypes": #"["websocket"]"#, "connectionType": #""websocket""#,
          "subscription": #""/r""#, "ext": #"{"access_token":"all"}"#, "advice": #"{"timeout":0}"#,
          "access_token": #""all""#,
        ]
        let json = size.json.with(samples)
        for input in json.inputs(.object("", fields)) {
          measure(input.shape) { rig in
            let bytes = input.bytes
            let sent = carrier == .form ? form(of: bytes.prefix(size.bytesMax / 3)) : bytes
            send(sent, by: carrier, rig)
          }
          guard carrier == .body else { continue }
          measure("in a list, " + input.shape) { rig in
            send(input.between("[", "]").bytes, by: carrier, rig)
          }
        }
      }
    }
  }

  private static func send(_ bytes: [UInt8], by carrier: BayeuxCarrier, _ rig: TimedRig) {
    switch carrier {
    case .webSocket:
      let client = rig.open(.bayeux(address: "192.0.2.1"))
      rig.receive(handshake, on: client)
      rig.begin()
      rig.receive(bytes, on: client)
    case .body, .form:
      rig.request("POST", "/faye", Array(handshake.utf8))
      rig.begin()
      rig.request("POST", "/faye", bytes)
    }
  }

  private static func form(of bytes: ArraySlice<UInt8>) -> [UInt8] {
    Array("message=".utf8) + percentEncoded(bytes)
  }

  private static func percentEncoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    return [UInt8](unsafeUninitializedCapacity: 3 * bytes.count) { form, count in
      for byte in bytes {
        form[count] = UInt8(ascii: "%")
        form[count + 1] = digits[Int(byte >> 4)]
        form[count + 2] = digits[Int(byte & 15)]
        count += 3
      }
    }
  }

  // MARK: Socket.IO

  static let socketIO = SocketPacket.Kind.allCases.flatMap { kind in
    switch kind {
    case .connect, .disconnect, .acknowledgement, .failure:
      [
        socketIO(
          kind, "\(kind)", before: kind == .acknowledgement ? "[" : "",
          after: kind == .acknowledgement ? "]" : "")
      ]
    case .event:
      (TwakeEvent.allCases.map(\.rawValue) + ["unknown"]).map {
        socketIO(kind, "event \($0)", before: #"["\#($0)","#, after: "]")
      }
    }
  }

  private static func socketIO(
    _ kind: SocketPacket.Kind, _ name: String, before: String, after: String
  ) -> HostileInput {
    HostileInput("Socket.IO \(name)") { size, measure in
      let fields: [MessageShape.Field] = TwakeEvent.fields.map {
        MessageShape.Field(name: $0, shape: .any, presence: .optional)
      }
      let start = "4\(kind.rawValue)" + (kind == .acknowledgement ? "7" : "")
      for input in size.json.inputs(.object("", fields)) + size.json.values {
        let packet = input.between(start + before, after)
        measure(input.shape) { rig in
          let bytes = packet.bytes
          let client = rig.open(.socketIO(query: "EIO=4&transport=websocket", address: "a"))
          if kind != .connect { rig.receive("40", on: client) }
          if kind == .event { rig.receive(#"42["authenticate",{"token":"all"}]"#, on: client) }
          rig.begin()
          rig.receive(bytes, on: client)
        }
        guard kind == .connect || name.hasSuffix("authenticate") else { continue }
        measure("without a token, " + input.shape) { rig in
          let bytes = packet.bytes
          let client = rig.open(.socketIO(query: "EIO=4&transport=websocket", address: "a"))
          if kind != .connect { rig.receive("40", on: client) }
          rig.begin()
          rig.receive(bytes, on: client)
        }
      }
    }
  }

  /// Bodies of several packets.
  static let payloads = EngineGeneration.allCases.map { generation in
    HostileInput("Socket.IO payloads of generation \(generation.rawValue)") { size, measure in
      let bytesMax = SocketSession.Settings().payloadBytesMax / size.divisor
      func filled(_ piece: String) -> [UInt8] {
        Array(String(repeating: piece, count: bytesMax / piece.utf8.count).utf8)
      }
      let binary = [[UInt8]](repeating: [0, 1, 0xff, 0x32], count: bytesMax / 4).flatMap(\.self)
      let forms: [(String, [UInt8])] = [
        ("pings", filled("2\u{1e}")), ("counted pings", filled("1:2")), ("binary pings", binary),
        ("separators", filled("\u{1e}")), ("Base64", filled("b")), ("digits", filled("9")),
        ("counted Base64", Array("\(bytesMax - 8):b4".utf8) + filled("A").dropLast(16)),
        ("scalars", Array("\(bytesMax / 4 * 2 + 1):2".utf8) + filled("👍")),
        ("events", filled("42[\"a\"]\u{1e}")), ("counted events", filled(#"7:42["a"]"#)),
        ("half an event", Array("42[".utf8) + filled("0,")),
      ]
      for (name, bytes) in forms {
        measure(name) { rig in
          let query = "EIO=\(generation.rawValue)&transport=polling"
          rig.request("GET", "/socket/", query: query)
          rig.begin()
          rig.request("POST", "/socket/", query: query + "&sid=g2", bytes)
        }
      }
    }
  }

  // MARK: HTTP

  static let requests = Route.all.map { route in
    HostileInput("\(route.method) \(route.path.description)") { size, measure in
      let path = route.path.description.replacing("{id}", with: "d").replacing("{room}", with: "r")
        .replacing("{user}", with: "ann").replacing("{", with: "").replacing("}", with: "")
      var headers = [
        "authorization": "Bearer " + (route.right == .operatorKey ? TimedRig.key : TimedRig.token)
      ]
      switch route.body {
      case .json?:
        headers["content-type"] = "application/json"
        for input in size.json.inputs(RequestShapes.body(of: route)) + size.json.values {
          measure(input.shape) { rig in
            let bytes = input.bytes
            rig.begin()
            // The program around the gateway reads the bodies of its own requests in the same way.
            if RequestTarget(path)?.match?.resource.page != nil {
              rig.work { _ = JSONBody.string("email", in: bytes) }
            } else {
              rig.request(route.method, path, headers: headers, bytes)
            }
          }
        }
      case .text?, .bytes?:
        headers["content-type"] = route.body?.rawValue
        for piece in ["a", "\u{1}", "\n", "\r", "é", "😀", "\"", "\\"] {
          let bytes = Array(String(repeating: piece, count: size.bytesMax / piece.utf8.count).utf8)
          measure("a text of \(piece.debugDescription)") { rig in
            rig.begin()
            rig.request(route.method, path, headers: headers, bytes)
          }
        }
        measure("no UTF-8") { rig in
          rig.begin()
          rig.request(
            route.method, path, headers: headers, [UInt8](repeating: 0xff, count: size.bytesMax))
        }
      case nil: break
      }
      for (name, query) in queries {
        measure(name) { rig in
          rig.begin()
          rig.request(route.method, path, query: query, headers: headers)
        }
      }
      for header in [
        "if-match", "if-none-match", "accept", "authorization", "content-type", "idempotency-key",
      ] {
        for piece in ["a", "\"", "\"a\",", ";", ",", " "] {
          var headers = headers
          headers[header] = String(repeating: piece, count: headBytesMax / piece.utf8.count)
          measure("\(header) of \(piece)") { rig in
            rig.begin()
            rig.request(route.method, path, headers: headers)
          }
        }
      }
    }
  }

  private static let queries: [(String, String)] = ["&", "a=1&", "%41", "limit", "+", "%"].map {
    ("a query of \($0)", String(repeating: $0, count: headBytesMax / $0.utf8.count))
  }

  /// Requests in the protocols of other apps.
  static let apps = AppRequest.allCases.map { app in
    HostileInput("\(app)") { size, measure in
      let headers = ["authorization": "Bearer all", "content-type": "application/json"]
      let shape: MessageShape
      let path: String
      switch app {
      case .pusher:
        path = app.rawValue
        shape = RequestShapes.object(["room": .text, "data": .any])
      case .groupMessages:
        path = "/v3/groups/7/messages"
        let message = RequestShapes.object([
          "source_guid": .text, "text": .text, "attachments": .list(.any),
        ])
        shape = RequestShapes.object(["message": message])
      }
      for input in size.json.inputs(shape) + size.json.values {
        measure(input.shape) { rig in
          let bytes = input.bytes
          rig.begin()
          rig.request("POST", path, headers: headers, bytes)
        }
        measure("without a token, " + input.shape) { rig in
          let bytes = input.bytes
          rig.begin()
          rig.request("POST", path, bytes)
        }
      }
    }
  }

  // MARK: Pusher

  /// Messages of Pusher's protocol; longer messages are not read.
  static let pusherMessages = ["pusher:subscribe", "pusher:signin", "client-a", "x"].map { event in
    HostileInput("Pusher \(event)") { size, measure in
      let shape = RequestShapes.object([
        "channel": .text, "auth": .text, "channel_data": .text, "user_data": .text,
      ])
      let json = HostileJSON(size: PusherMessage.bytesMax / size.divisor - 64, samples: [:])
      for input in json.inputs(shape) {
        measure(input.shape) { rig in
          let bytes = input.between(#"{"event":"\#(event)","data":"#, "}").bytes
          let client = rig.open(.pusher(key: "shop", query: "protocol=7"))
          rig.begin()
          rig.receive(bytes, on: client)
        }
      }
    }
  }

  /// Requests of an app's back end, signed.
  static let pusherRequests = PusherRequest.allCases.filter { $0.method == "POST" }.map { kind in
    HostileInput("Pusher \(kind)") { size, measure in
      let event = RequestShapes.object([
        "name": .text, "data": .text, "channel": .text, "channels": .list(.text),
        "socket_id": .text, "info": .text,
      ])
      let shape = kind == .batchEvents ? RequestShapes.object(["batch": .list(event)]) : event
      let json = HostileJSON(size: PusherEvent.bodyBytesMax / size.divisor - 64, samples: [:])
      let path = kind.rawValue.replacing("{id}", with: "7").replacing("{user}", with: "8")
      for input in json.inputs(shape) + json.values {
        measure(input.shape) { rig in
          let bytes = input.bytes
          rig.begin()
          rig.request("POST", path, query: PusherShop.query("POST", path, body: bytes), bytes)
        }
      }
    }
  }

  // MARK: Families with one log

  static let shareDB = ["op", "s", "bs", "hs", "p"].map { action in
    HostileInput("ShareDB \(action)") { size, measure in
      let shape = RequestShapes.object([
        "a": .text, "c": .text, "d": .text, "v": .integer, "src": .text, "seq": .integer,
        "op": .operation, "create": .any, "b": .list(.text), "id": .text, "ch": .text, "p": .any,
        "pv": .integer,
      ])
      let samples = [
        "a": "\"\(action)\"", "c": #""notes""#, "d": #""d""#, "v": "0", "seq": "1",
        "ch": #""notes.d""#, "id": #""i""#, "pv": "1",
      ]
      for input in size.json.with(samples).inputs(shape) {
        measure(input.shape) { rig in
          let bytes = input.bytes
          let client = rig.open(.shareDB, token: TimedRig.token)
          rig.receive(#"{"a":"s","c":"notes","d":"d"}"#, on: client)
          rig.begin()
          rig.receive(bytes, on: client)
        }
      }
    }
  }

  static let rustpad = ["Edit", "SetLanguage", "ClientInfo", "CursorData"].map { kind in
    HostileInput("Rustpad \(kind)") { size, measure in
      let shape = RequestShapes.object([
        "revision": .integer, "operation": .operation, "name": .text, "hue": .integer,
        "cursors": .list(.integer), "selections": .list(.pair),
      ])
      let samples = ["revision": "0", "hue": "1", "name": #""n""#]
      for input in size.json.with(samples).inputs(shape) {
        measure(input.shape) { rig in
          let bytes = input.between(#"{"\#(kind)":"#, "}").bytes
          let client = rig.open(.rustpad(note: "d"), token: TimedRig.token)
          rig.begin()
          rig.receive(bytes, on: client)
        }
      }
    }
  }

  static let all =
    native + [envelope] + whaler + bayeux + socketIO + payloads + requests + apps
    + pusherMessages + pusherRequests + shareDB + rustpad + large
}

// No default: a new kind needs a shape, so it is measured.

extension WhalerClientMessage.Kind {
  fileprivate var shape: MessageShape {
    func field(_ name: String, _ shape: MessageShape) -> MessageShape.Field {
      .init(name: name, shape: shape, presence: .required)
    }
    switch self {
    case .resourceConnection: return .object("", [field("resourceId", .text)])
    case .docChange:
      return .object(
        "",
        [
          field("resourceId", .text), field("rev", .integer), field("n", .operation),
          field("s", .list(.text)),
        ])
    }
  }
}

extension BayeuxMessage.Field {
  fileprivate var shape: MessageShape {
    switch self {
    case .channel, .clientId, .version, .connectionType: .text
    case .id, .data: .any
    case .supportedConnectionTypes, .subscription: .list(.text)
    case .ext: RequestShapes.object(["access_token": .text])
    case .advice: RequestShapes.object(["timeout": .integer])
    }
  }
}

/// Shapes of requests' bodies, from the API's description.
enum RequestShapes {
  /// An object of fields, in the order of their names.
  static func object(_ fields: [String: MessageShape]) -> MessageShape {
    .object(
      "",
      fields.sorted { $0.key < $1.key }.map {
        MessageShape.Field(name: $0.key, shape: $0.value, presence: .optional)
      })
  }

  private static let description: JSONValue = {
    let root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let file = root.appendingPathComponent("Sources/CParleyAPIDescription/openapi.json")
    return (try? Data(contentsOf: file)).flatMap { JSONValue(Array($0)) } ?? .null
  }()

  /// The shape of a route's body; `.any` if it is not JSON.
  static func body(of route: Route) -> MessageShape {
    let operation = description.fields?["paths"]?.fields?[route.path.description]?
      .fields?[route.method.lowercased()]
    let schema = operation?.fields?["requestBody"]?.fields?["content"]?.fields?["application/json"]?
      .fields?["schema"]
    return schema.map { shape(of: $0) } ?? .any
  }

  private static func shape(of schema: JSONValue, named name: String = "") -> MessageShape {
    guard let fields = schema.fields else { return .any }
    if let reference = fields["$ref"]?.string?.split(separator: "/").last {
      let found = description.fields?["components"]?.fields?["schemas"]?.fields?[String(reference)]
      return found.map { shape(of: $0, named: name) } ?? .any
    }
    if name == "operation" { return .operation }
    switch fields["type"]?.string ?? fields["type"]?.elements?.first?.string {
    case "object"? where fields["properties"] != nil:
      let properties = fields["properties"]?.fields?.all ?? []
      return .object(
        "",
        properties.map {
          .init(name: $0.name, shape: shape(of: $0.value, named: $0.name), presence: .optional)
        })
    case "array"?: return .list(fields["items"].map { shape(of: $0) } ?? .any)
    case "string"?: return .text
    case "integer"?: return .integer
    case "boolean"?: return .flag
    default: return .any
    }
  }
}

@Suite("Time of handling messages and requests", .serialized)
struct HandlingTimeTests {
  @Test(
    "the largest and most hostile messages and requests block the loop for at most 20 ms",
    arguments: HostileInput.all.filter { TurnTime.isWanted($0.testDescription) })
  func growthIsBounded(row: HostileInput) {
    // Measuring all large forms takes minutes. A small input shows which forms may exceed the
    // bound.
    var doubtful: Set<String> = []
    var count = 0
    if !TurnTime.isFull {
      row.forEachVariant(.small) { form, work in
        count += 1
        if milliseconds(of: work) * Double(HostileSize.small.divisor) > TurnTime.doubtful {
          doubtful.insert(form)
        }
      }
      guard TurnTime.isAsserted, !doubtful.isEmpty else {
        #expect(count > 0)
        return
      }
    }
    var worst = (form: "", milliseconds: 0.0)
    row.forEachVariant(.largest) { form, work in
      guard TurnTime.isFull || doubtful.contains(form) else { return }
      let milliseconds = milliseconds(of: work)
      if milliseconds > worst.milliseconds { worst = (form, milliseconds) }
      #expect(
        milliseconds <= TurnTime.millisecondsMax || !TurnTime.isAsserted,
        "\(row.testDescription), \(form)")
    }
    #expect(worst.form != "")
    if TurnTime.isFull {
      let rounded = (worst.milliseconds * 100).rounded() / 100
      print("| \(row.testDescription) | \(worst.form) | \(rounded) |")
    }
  }

  /// Returns the milliseconds of the longest turn of some work.
  private func milliseconds(of work: (TimedRig) -> Void) -> Double {
    TurnTime.milliseconds {
      let rig = TimedRig()
      work(rig)
      return rig.longest
    }
  }
}
