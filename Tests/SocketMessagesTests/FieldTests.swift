import OTCore
import SocketMessages
import Testing

@Suite("Fields of messages")
struct FieldTests {
  /// Fields that a message must have, and one good frame without any optional one.
  struct Example: Sendable, CustomTestStringConvertible {
    let dialect: Dialect
    let type: String
    /// Name and value, in the order of writing.
    let fields: [(name: String, value: String)]

    var testDescription: String { "\(dialect) \(type)" }

    init(_ dialect: Dialect, _ type: String, _ fields: KeyValuePairs<String, String>) {
      self.dialect = dialect
      self.type = type
      self.fields = fields.map { ($0.key, $0.value) }
    }

    func frame(_ fields: [(name: String, value: String)]) -> String {
      let data = fields.map { #""\#($0.name)":\#($0.value)"# }.joined(separator: ",")
      return #"{"messageId":"m1","type":"\#(type)","data":{\#(data)}}"#
    }
  }

  static let examples = [
    Example(.client, "hello", ["name": #""n""#]),
    Example(.client, "join", ["documentId": #""d""#]),
    Example(.client, "create", ["documentId": #""d""#, "title": #""t""#]),
    Example(
      .client, "documentHistory",
      ["documentId": #""d""#, "resume": #"{"epoch":"e","revision":1}"#]),
    Example(
      .client, "change",
      [
        "documentId": #""d""#, "epoch": #""e""#, "revision": "1", "sequence": "1",
        "operation": "[1]",
      ]),
    Example(.client, "select", ["documentId": #""d""#, "revision": "1", "selections": "[[0,1]]"]),
    Example(.client, "leave", ["documentId": #""d""#]),
    Example(.client, "profile", ["name": #""n""#]),
    Example(.client, "subscribe", ["room": #""r""#]),
    Example(.client, "unsubscribe", ["room": #""r""#]),
    Example(.client, "publish", ["room": #""r""#]),
    Example(.client, "roomHistory", ["room": #""r""#]),
    Example(.client, "typing", ["room": #""r""#, "typing": "true"]),
    Example(.client, "receipt", ["room": #""r""#, "offset": "1", "state": #""read""#]),
    Example(.client, "receipts", ["room": #""r""#, "offset": "1"]),
    Example(.client, "lastOnline", ["room": #""r""#, "people": #"["p"]"#]),
    Example(.client, "block", ["personId": #""p""#, "blocked": "true"]),
    Example(.client, "flag", ["room": #""r""#, "offset": "1", "flagged": "true"]),
    Example(.client, "flags", ["room": #""r""#]),
    Example(.client, "follow", ["room": #""r""#, "following": "true"]),
    Example(
      .server, "welcome",
      [
        "protocol": #""parley.v1""#, "clientId": #""c""#, "resumeToken": #""t""#,
        "serverTime": "1", "demo": "true", "capabilities": #"["rooms"]"#, "limits": "{}",
      ]),
    Example(
      .server, "joined",
      [
        "documentId": #""d""#, "title": #""t""#, "epoch": #""e""#, "revision": "1",
        "text": #""x""#, "lastSequence": "0", "access": #""write""#, "presence": "[]",
      ]),
    Example(
      .server, "created", ["documentId": #""d""#, "title": #""t""#, "repeated": "false"]),
    Example(
      .server, "behind",
      ["documentId": #""d""#, "epoch": #""e""#, "revision": "1", "lastSequence": "0"]),
    Example(
      .server, "documentHistory",
      [
        "documentId": #""d""#, "epoch": #""e""#, "revision": "1",
        "changes": #"[{"clientId":"c","sequence":1,"operation":[1]}]"#, "more": "true",
      ]),
    Example(
      .server, "changes",
      [
        "documentId": #""d""#, "revision": "1",
        "changes": #"[{"clientId":"c","sequence":1,"operation":[1]}]"#,
      ]),
    Example(.server, "c", ["c": "[1,2,3,4,5,[6]]"]),
    Example(.server, "acknowledged", ["documentId": #""d""#, "sequence": "1", "revision": "1"]),
    Example(
      .server, "refused",
      [
        "documentId": #""d""#, "sequence": "1", "code": #""busy""#, "message": #""m""#,
        "retryable": "true",
      ]),
    Example(
      .server, "resync",
      [
        "documentId": #""d""#, "reason": #""lagging""#, "epoch": #""e""#, "revision": "1",
        "text": #""x""#, "lastSequence": "0",
      ]),
    Example(
      .server, "selections",
      ["documentId": #""d""#, "revision": "1", "clientId": #""c""#, "selections": "[]"]),
    Example(
      .server, "presence",
      [
        "documentId": #""d""#, "joined": #"[{"clientId":"c","name":"n"}]"#, "updated": "[]",
        "left": #"["c"]"#,
      ]),
    Example(.server, "left", ["documentId": #""d""#]),
    Example(.server, "subscribed", ["room": #""r""#, "epoch": #""e""#, "offset": "1"]),
    Example(.server, "unsubscribed", ["room": #""r""#]),
    Example(
      .server, "published",
      ["room": #""r""#, "epoch": #""e""#, "offset": "1", "repeated": "false"]),
    Example(
      .server, "publication",
      ["room": #""r""#, "epoch": #""e""#, "offset": "1", "time": "1"]),
    Example(
      .server, "roomHistory",
      [
        "room": #""r""#, "epoch": #""e""#, "offset": "1",
        "publications": #"[{"offset":1,"time":1,"data":{}}]"#, "gap": "false", "more": "true",
      ]),
    Example(
      .server, "roomPresence",
      [
        "room": #""r""#, "joined": #"[{"personId":"p","name":"n"}]"#, "updated": "[]",
        "left": #"["p"]"#,
      ]),
    Example(.server, "typing", ["room": #""r""#, "personId": #""p""#, "typing": "true"]),
    Example(
      .server, "receipt",
      ["room": #""r""#, "offset": "1", "personId": #""p""#, "state": #""delivered""#]),
    Example(
      .server, "receipts",
      ["room": #""r""#, "offset": "1", "receipts": #"[{"personId":"p","state":"read"}]"#]),
    Example(
      .server, "lastOnline",
      ["room": #""r""#, "people": #"[{"personId":"p","online":true}]"#]),
    Example(.server, "blocks", ["people": #"["p"]"#]),
    Example(
      .server, "flag",
      ["room": #""r""#, "offset": "1", "personId": #""p""#, "flagged": "true"]),
    Example(
      .server, "flags",
      ["room": #""r""#, "flags": #"[{"offset":1,"personId":"p","time":1}]"#]),
    Example(.server, "following", ["room": #""r""#, "following": "true"]),
    Example(.server, "resourceUpdate", ["resourceId": #""r""#]),
    Example(.server, "documentChanged", ["documentId": #""d""#, "deleted": "false"]),
    Example(
      .server, "error", ["code": #""busy""#, "message": #""m""#, "retryable": "true"]),
    Example(.server, "goodbye", ["reason": #""draining""#, "reconnectAfter": "[1,2]"]),
    Example(.server, "pong", ["serverTime": "1"]),
    Example(.whalerClient, "resourceConnection", ["resourceId": #""r""#]),
    Example(
      .whalerClient, "docChange",
      ["resourceId": #""r""#, "rev": "1", "n": "[1]", "s": #"[""]"#]),
    Example(
      .whalerServer, "resourceConnectionConf",
      ["resourceId": #""r""#, "initialState": #""x""#, "revision": "1"]),
    Example(
      .whalerServer, "docChangeReturnOps",
      ["resourceId": #""r""#, "n": "[1]", "s": #"[""]"#]),
    Example(.whalerServer, "resourceUpdate", ["resourceId": #""r""#]),
  ]

  @Test("the examples are decoded as known messages", arguments: examples)
  func good(example: Example) throws {
    #expect(try example.dialect.decode(Array(example.frame(example.fields).utf8)).isKnown)
  }

  @Test("the error about a missing field names the field and the message's id", arguments: examples)
  func missing(example: Example) throws {
    for field in example.fields {
      let frame = example.frame(example.fields.filter { $0.name != field.name })
      let error = try #require(example.dialect.error(frame), "\(field.name)")
      #expect(error.code == .badMessage)
      #expect(error.messageID == "m1")
      #expect(error.description.contains("\(example.type): the field "))
      #expect(error.description.contains(field.name))
    }
    let error = try #require(
      example.dialect.error(#"{"messageId":"m1","type":"\#(example.type)"}"#))
    #expect(error.messageID == "m1")
    #expect(error.description == "\(example.type): the field data is missing")
  }

  @Test("the error about a wrong type names the field and the message's id", arguments: examples)
  func wrongType(example: Example) throws {
    for index in example.fields.indices {
      for value in [
        "true", "null", "7", #""secret""#, "{}", #"["secret"]"#, "[{}]", "[[1]]", "[1.5]",
      ] {
        var fields = example.fields
        guard Self.kind(of: value) != Self.kind(of: fields[index].value) else { continue }
        if fields[index].name == "operation", value == #"["secret"]"# { continue }
        // What is published may be any value.
        if fields[index].name == "data" { continue }
        fields[index].value = value
        let name = fields[index].name
        do throws(MessageError) {
          _ = try example.dialect.decode(Array(example.frame(fields).utf8))
          Issue.record("\(name) may be \(value)")
        } catch {
          #expect(error.code == .badMessage)
          #expect(error.messageID == "m1")
          #expect(error.description.contains(name))
          #expect(!error.description.contains("secret"))
        }
      }
    }
    for data in ["null", "[]", "1", #""secret""#] {
      let error = try #require(
        example.dialect.error(#"{"messageId":"m1","type":"\#(example.type)","data":\#(data)}"#))
      #expect(error.code == .badMessage)
      #expect(error.messageID == "m1")
      #expect(error.description.contains("\(example.type), field data: expected an object"))
    }
  }

  /// The mark of values that this test may not swap.
  private static func kind(of value: String) -> String {
    switch value.first {
    case "\"": "string"
    case "[": value.contains("{") ? "objects" : value.contains("\"") ? "strings" : "numbers"
    case "{": "object"
    case "t", "f": "boolean"
    case "n": "null"
    default: "number"
    }
  }

  @Test("unknown fields of any type are skipped", arguments: examples)
  func unknownFields(example: Example) throws {
    let plain = try example.dialect.again(example.frame(example.fields))
    let unknown = ["true", "null", "1.5e300", #""x""#, "{}", #"{"a":[{"b":[]}]}"#, "[[],{}]"]
    for value in unknown {
      let fields = example.fields.flatMap { [("x", value), $0, ("", value), ("émission", value)] }
      #expect(try example.dialect.again(example.frame(fields)) == plain)
      let frame = example.frame(example.fields)
      #expect(
        try example.dialect.again(
          #"{"x":\#(value),\#(frame.dropFirst().dropLast()),"y":\#(value)}"#)
          == plain)
    }
  }

  @Test("fields come in any order, with space between", arguments: examples)
  func order(example: Example) throws {
    let plain = try example.dialect.again(example.frame(example.fields))
    let data = example.fields.reversed()
      .map { "\n \"\($0.name)\" :\t\($0.value)\r\n" }.joined(separator: ",")
    #expect(
      try example.dialect.again(
        " {\n\"data\": {\(data)} , \"type\" : \"\(example.type)\",\"messageId\":\"m1\" }\n")
        == plain)
  }

  @Test("a key may be written with escapes")
  func escapedKeys() throws {
    #expect(
      try Dialect.client.again(
        #"{"\u006dessageId":"m1","t\u0079pe":"leave","da\u0074a":{"d\u006fcumentId":"d"}}"#)
        == #"{"messageId":"m1","type":"leave","data":{"documentId":"d"}}"#)
    #expect(
      try Dialect.client.again(
        #"{"messageId":"m1","type":"l\u0065ave","data":{"documentId":"d"}}"#)
        == #"{"messageId":"m1","type":"leave","data":{"documentId":"d"}}"#)
  }

  @Test("keys and types are compared byte by byte, not as people read them")
  func similarKeys() throws {
    for key in ["DocumentId", "documentid", "document\u{200d}Id", "documentId ", "dοcumentId"] {
      let error = try #require(
        Dialect.client.error(#"{"messageId":"m1","type":"leave","data":{"\#(key)":"d"}}"#))
      #expect(error.description.contains("documentId is missing"))
    }
    for type in ["Leave", "leave ", "leave\u{0}", "", "lea\u{200d}ve"] {
      let escaped = type.replacing("\u{0}", with: #"\u0000"#)
      let decoded = try Dialect.client.decode(
        Array(#"{"messageId":"m1","type":"\#(escaped)","data":{"documentId":"d"}}"#.utf8))
      #expect(!decoded.isKnown)
    }
  }

  // MARK: Keys that come twice

  @Test("if a key is repeated, its last value counts", arguments: examples)
  func twice(example: Example) throws {
    let plain = try example.dialect.again(example.frame(example.fields))
    // Other values of the same type before each.
    let others = [
      "string": #""other""#, "number": "99", "boolean": "false",
      "object": #"{"roomBytesMax":3,"epoch":"e","revision":9}"#,
      "numbers": "[[8,9]]", "strings": #"["other","other"]"#, "objects": "[]",
    ]
    for index in example.fields.indices {
      let (name, value) = example.fields[index]
      var other = others[Self.kind(of: value)] ?? "1"
      if ["n", "operation", "reconnectAfter"].contains(name) { other = "[7,9]" }
      if name == "c" { other = "[7,8,9]" }
      if value == "[]" { other = value }
      var fields = example.fields
      fields.insert((name, other), at: 0)
      #expect(try example.dialect.again(example.frame(fields)) == plain, "\(name)")
    }
    let frame = example.frame(example.fields)
    #expect(
      try example.dialect.again(
        #"{"messageId":"m0","type":"other","data":{"name":1},\#(frame.dropFirst())"#) == plain)
  }

  @Test("if an object is repeated, only the fields of the last one count")
  func objectTwice() throws {
    let claim = #""client":{"id":"a","resumeToken":"b"}"#
    func hello(_ data: String) -> String {
      #"{"messageId":"m","type":"hello","data":{"name":"n",\#(data)}}"#
    }
    #expect(
      Dialect.client.error(hello(#"\#(claim),"client":{"id":"c"}"#))?.description
        == "hello: the field client.resumeToken is missing")
    #expect(
      try Dialect.client.again(hello(#"\#(claim),"client":null"#))
        == #"{"messageId":"m","type":"hello","data":{"name":"n"}}"#)
    #expect(
      try Dialect.client.again(hello(#""client":{"id":"x","resumeToken":"y"},\#(claim)"#))
        == hello(claim))
    func join(_ data: String) -> String {
      #"{"messageId":"m","type":"join","data":{"documentId":"d",\#(data)}}"#
    }
    let resume = #""resume":{"epoch":"e","revision":3}"#
    #expect(
      Dialect.client.error(join(#"\#(resume),"resume":{"epoch":"e"}"#))?.description
        == "join: the field resume.revision is missing")
    #expect(
      try Dialect.client.again(join(#"\#(resume),"resume":null"#))
        == #"{"messageId":"m","type":"join","data":{"documentId":"d"}}"#)
  }

  // MARK: Inner objects

  @Test(
    "the error about a missing field of an inner object names its path",
    arguments: [
      (Dialect.client, "hello", #""name":"n","client":{}"#, "client.id"),
      (.client, "hello", #""name":"n","client":{"resumeToken":"t"}"#, "client.id"),
      (.client, "hello", #""name":"n","client":{"id":"t"}"#, "client.resumeToken"),
      (.client, "join", #""documentId":"d","resume":{}"#, "resume.epoch"),
      (.client, "join", #""documentId":"d","resume":{"revision":1}"#, "resume.epoch"),
      (.client, "join", #""documentId":"d","resume":{"epoch":"e"}"#, "resume.revision"),
      (
        .server, "changes",
        #""documentId":"d","revision":1,"changes":[{"sequence":1,"operation":[1]}]"#,
        "changes.clientId"
      ),
      (
        .server, "changes",
        #""documentId":"d","revision":1,"changes":[{"clientId":"c","operation":[1]}]"#,
        "changes.sequence"
      ),
      (
        .server, "changes",
        #""documentId":"d","revision":1,"changes":[{"clientId":"c","sequence":1}]"#,
        "changes.operation"
      ),
      (
        .server, "presence",
        #""documentId":"d","joined":[{"name":"n"}],"updated":[],"left":[]"#, "joined.clientId"
      ),
      (
        .server, "presence",
        #""documentId":"d","joined":[],"updated":[{"clientId":"c"}],"left":[]"#, "updated.name"
      ),
    ])
  func missingInside(dialect: Dialect, type: String, fields: String, name: String) throws {
    let error = try #require(
      dialect.error(#"{"messageId":"m1","type":"\#(type)","data":{\#(fields)}}"#))
    #expect(error.code == .badMessage)
    #expect(error.messageID == "m1")
    #expect(error.description == "\(type): the field \(name) is missing")
  }

  @Test(
    "a selection is two whole numbers",
    arguments: ["[[]]", "[[1]]", "[[1,2,3]]", "[1,2]", "[[1,null]]", #"[["1",2]]"#, "[[1,2],[]]"])
  func selections(value: String) throws {
    let error = try #require(
      Dialect.client.error(
        #"{"messageId":"m1","type":"select","data":{"documentId":"d","revision":1,"selections":\#(value)}}"#
      ))
    #expect(error.description.hasPrefix("select, field selections: expected "))
  }

  @Test(
    "reconnectAfter is two whole numbers in order", arguments: ["[]", "[1]", "[2,1]", "[1,2,3]"])
  func range(value: String) throws {
    let error = try #require(
      Dialect.server.error(
        #"{"messageId":"m1","type":"goodbye","data":{"reason":"r","reconnectAfter":\#(value)}}"#))
    #expect(error.description.contains("goodbye, field reconnectAfter: expected"))
    #expect(error.messageID == "m1")
  }

  @Test("unknown words are refused, and the error does not repeat them")
  func words() throws {
    for (type, field) in [
      ("refused", "code"), ("error", "code"), ("resync", "reason"), ("joined", "access"),
      ("welcome", "protocol"),
    ] {
      var example = try #require(Self.examples.first { $0.type == type }).fields
      let index = try #require(example.firstIndex { $0.name == field })
      example[index].value = #""secret""#
      let frame = try #require(Self.examples.first { $0.type == type }).frame(example)
      let error = try #require(Dialect.server.error(frame))
      #expect(error.code == .badMessage)
      #expect(error.messageID == "m1")
      #expect(error.description.hasPrefix("\(type), field \(field): expected"))
      #expect(!error.description.contains("secret"))
    }
  }

  @Test(
    "optional fields may be absent or null",
    arguments: [
      (Dialect.client, "hello", #""name":"n""#, ["color", "client", "token"]),
      (.client, "join", #""documentId":"d""#, ["resume"]),
      (.client, "profile", #""name":"n""#, ["color"]),
      (.server, "documentChanged", #""documentId":"d","deleted":false"#, ["title"]),
      (.server, "changes", #""documentId":"d","revision":1,"changes":[]"#, ["time"]),
      (.server, "acknowledged", #""documentId":"d","sequence":1,"revision":1"#, ["time"]),
      (
        .server, "error", #""code":"busy","message":"m","retryable":true"#, ["retryAfter"]
      ),
      (
        .server, "refused",
        #""documentId":"d","sequence":1,"code":"busy","message":"m","retryable":true"#,
        ["retryAfter", "revision"]
      ),
      (.client, "subscribe", #""room":"r""#, ["position", "presence", "values", "latest"]),
      (
        .client, "publish", #""room":"r","data":null"#,
        ["values", "ifOffsets", "ifPosition", "key", "senderId", "push"]
      ),
      (.client, "roomHistory", #""room":"r""#, ["since", "before", "limit"]),
      (
        .server, "subscribed", #""room":"r","epoch":"e","offset":1"#,
        ["recovered", "publications", "present", "values", "more"]
      ),
    ])
  func optionalFields(dialect: Dialect, type: String, fields: String, names: [String]) throws {
    let plain = #"{"messageId":"m","type":"\#(type)","data":{\#(fields)}}"#
    #expect(try dialect.again(plain) == plain)
    let nulls = names.map { #""\#($0)":null,"# }.joined()
    #expect(
      try dialect.again(#"{"messageId":"m","type":"\#(type)","data":{\#(nulls)\#(fields)}}"#)
        == plain)
  }

  @Test("a field that only other messages have is skipped like any unknown field")
  func fieldsOfOthers() throws {
    for example in Self.examples {
      let own = Set(example.fields.map(\.name))
      // What this message may have, and these examples leave out.
      let optional: Set = [
        "color", "client", "token", "resume", "changes", "title", "retryAfter", "senderId",
        "time",
        "position", "presence", "key", "push", "since", "before", "limit", "reason", "recovered",
        "publications", "present", "people", "personId", "data", "values", "ifOffsets",
        "ifPosition",
        "latest", "presenceData", "more", "clientId",
      ]
      let others = Set(Self.examples.flatMap { $0.fields.map(\.name) })
        .subtracting(own).subtracting(optional)
        // Of an exact change that is outdated.
        .subtracting(example.type == "refused" ? ["revision"] : [])
      let plain = try example.dialect.again(example.frame(example.fields))
      for name in others.sorted() {
        for value in ["null", "{}", "[true]", "1.5", #""x""#] {
          #expect(
            try example.dialect.again(example.frame([(name, value)] + example.fields)) == plain)
        }
      }
    }
  }

  // MARK: The envelope

  @Test("errors about the envelope name the missing or wrong field", arguments: Dialect.all)
  func envelope(dialect: Dialect) throws {
    func error(_ json: String) throws -> MessageError { try #require(dialect.error(json)) }
    let noName = try error(#"{"type":"x","data":{}}"#)
    #expect(noName.description == "envelope: the field messageId is missing")
    #expect(noName.messageID == nil)
    let noType = try error(#"{"messageId":"m1","data":{}}"#)
    #expect(noType.description == "envelope: the field type is missing")
    #expect(noType.messageID == "m1")
    #expect(try error("{}").code == .badMessage)
    for value in ["null", "1", "[]", "{}", "true"] {
      let badName = try error(#"{"messageId":\#(value),"type":"x"}"#)
      #expect(badName.description == "envelope, field messageId: expected a string at byte 13")
      // The name is kept even when it comes after the mistake.
      let badType = try error(#"{"type":\#(value),"messageId":"m1"}"#)
      #expect(badType.description == "envelope, field type: expected a string at byte 8")
      #expect(badType.messageID == "m1")
    }
    // The last one counts here, too.
    #expect(
      try dialect.decode(Array(#"{"messageId":1,"messageId":"m1","type":"x"}"#.utf8)).messageID
        == "m1")
    #expect(try error(#"{"messageId":"m1","messageId":1,"type":"x"}"#).messageID == nil)
  }

  @Test("an unknown type is kept, with or without data", arguments: Dialect.all)
  func unknownType(dialect: Dialect) throws {
    for data in ["", #","data":{"a":1}"#, #","data":null"#, #","data":[1]"#] {
      let decoded = try dialect.decode(Array(#"{"messageId":"m1","type":"future"\#(data)}"#.utf8))
      #expect(decoded.messageID == "m1")
      #expect(!decoded.isKnown)
      // Nothing is written for it: a caller that wants to pass it on has the bytes.
      #expect(decoded.bytes.isEmpty)
    }
    let (_, client) = try withBytes(of: #"{"messageId":"m1","type":"fut\u0075re"}"#.utf8) {
      bytes throws(MessageError) in try ClientMessage.decode(bytes)
    }
    #expect(client == .unknown(type: "future"))
  }

  @Test("ping needs no data")
  func ping() throws {
    #expect(
      try Dialect.client.again(#"{"messageId":"m1","type":"ping"}"#)
        == #"{"messageId":"m1","type":"ping","data":{}}"#)
  }
}
