import ParleyJSON
import OTCore
import SocketMessages
import Testing

@Suite("Malformed messages")
struct BadMessageTests {
  /// One good frame per direction, whose `messageId` is `m1`.
  private static let frames: [Dialect.Direction: String] = [
    .client:
      #"{"messageId":"m1","type":"change","data":{"documentId":"d","epoch":"e","revision":4,"sequence":2,"operation":[1,"é",-2]}}"#,
    .server:
      #"{"messageId":"m1","type":"changes","data":{"documentId":"d","revision":4,"changes":[{"clientId":"c","sequence":2,"operation":[1,"é",-2]}]}}"#,
    .whalerClient:
      #"{"messageId":"m1","type":"docChange","data":{"resourceId":"d","rev":4,"n":[1,0,-2],"s":["","é",""]}}"#,
    .whalerServer:
      #"{"senderId":"s","messageId":"m1","type":"docChangeReturnOps","data":{"resourceId":"d","n":[1,0,-2],"s":["","é",""]}}"#,
  ]

  private func frame(_ dialect: Dialect) throws -> String {
    try #require(Self.frames[dialect.direction])
  }

  // MARK: No JSON

  @Test("a frame cut short anywhere is refused", arguments: Dialect.all)
  func truncated(dialect: Dialect) throws {
    let bytes = Array(try frame(dialect).utf8)
    for count in 0..<bytes.count {
      let error = try #require(dialect.error(bytes: Array(bytes[..<count])), "\(count) bytes")
      #expect(error.code == .badMessage)
      // The name is kept as soon as it was read, for the reply.
      let isNamed = bytes[..<count].starts(with: Array(#"{"messageId":"m1""#.utf8))
      if isNamed { #expect(error.messageID == "m1") }
    }
  }

  @Test("anything behind the message is refused", arguments: Dialect.all)
  func trailing(dialect: Dialect) throws {
    let frame = try frame(dialect)
    for rest in ["x", "{}", "\u{0}", ",", "}", "\u{feff}"] {
      #expect(dialect.error(frame + rest)?.code == .badMessage)
      #expect(dialect.error(frame + rest)?.messageID == "m1")
    }
    #expect(try dialect.decode(Array("\(frame) \r\n\t".utf8)).messageID == "m1")
  }

  @Test(
    "malformed JSON and JSON that is not an object are refused",
    arguments: [
      "", " ", "\u{0}", "null", "true", "1", #""text""#, "[]", "[{}]", "{", "}", "{]", "{,}",
      "\u{feff}{}", "{'a':1}", "{a:1}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{"a" 1}"#,
      #"{"a":1 "b":2}"#, "//x\n{}", #"{"a":nul}"#, #"{"a":nulll}"#, #"{"a":True}"#, #"{"a":NaN}"#,
      #"{"a":Infinity}"#, #"{"a":+1}"#, #"{"a":.5}"#, #"{"a":5.}"#, #"{"a":01}"#, #"{"a":-}"#,
      #"{"a":1e}"#, #"{"a":1e+}"#, #"{"a":0x1}"#, #"{"a":1_0}"#, #"{"a":[1,]}"#, #"{"a":[,1]}"#,
      #"{"a":[1 2]}"#, #"{"a":"b}"#,
    ])
  func noObject(json: String) {
    for dialect in Dialect.all { #expect(dialect.error(json)?.code == .badMessage) }
  }

  @Test(
    "strings that are no UTF-8, or hold half a surrogate pair, are refused in key and value",
    arguments: [
      [0x80], [0xbf], [0xc0, 0x80], [0xc1, 0xbf], [0xc3], [0xc3, 0x28], [0xe0, 0x80, 0x80],
      [0xe0, 0x9f, 0xbf], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xed, 0xbf, 0xbf],
      [0xf0, 0x80, 0x80, 0x80], [0xf0, 0x8f, 0xbf, 0xbf], [0xf0, 0x9f, 0x91],
      [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xff], [0xfe],
      [0x00], [0x0a], [0x1f],
      Array(#"\ud83d"#.utf8), Array(#"\udc4d"#.utf8), Array(#"\udc4d\ud83d"#.utf8),
      Array(#"\ud83dx"#.utf8), Array(#"\ud83d\n"#.utf8), Array(#"\ud83d\u0041"#.utf8),
      Array(#"\ud83d\ud83d"#.utf8), Array(#"\u12"#.utf8), Array(#"\u12g4"#.utf8),
      Array(#"\u+123"#.utf8), Array(#"\x41"#.utf8), Array(#"\'"#.utf8), Array(#"\U0041"#.utf8),
      Array(#"\0"#.utf8),
    ] as [[UInt8]])
  func badStrings(bad: [UInt8]) throws {
    func frame(_ before: String, _ after: String) -> [UInt8] {
      Array(before.utf8) + bad + Array(after.utf8)
    }
    let frames = [
      frame(#"{"messageId":"m1","type":"change","data":{"documentId":"d"#, #""}}"#),
      frame(#"{"messageId":"m1","type":"change","data":{"d"#, #"":1}}"#),
      frame(#"{"messageId":"m1","type":"chan"#, #"ge"}"#),
      frame(#"{"messageId":"m1","x":"x"#, #"","type":"ping"}"#),
      frame(
        #"{"messageId":"m1","type":"change","data":{"documentId":"d","epoch":"e","revision":4,"sequence":2,"operation":[1,"x"#,
        #""]}}"#),
      frame(
        #"{"messageId":"m1","type":"docChange","data":{"resourceId":"d","rev":4,"n":[0],"s":["x"#,
        #""]}}"#),
    ]
    for dialect in Dialect.all {
      for frame in frames {
        let error = try #require(dialect.error(bytes: frame))
        #expect(error.code == .badMessage)
        #expect(error.messageID == "m1")
      }
    }
  }

  @Test(
    "every way to write a scalar reads as the scalar",
    arguments: [
      (#"\ud83d\udc4d"#, "👍"), (#"\uD83D\uDC4D"#, "👍"), (#"\udbff\udfff"#, "\u{10ffff}"),
      (#"\ud800\udc00"#, "\u{10000}"), (#"\u0000"#, "\u{0}"), (#"\ufeff"#, "\u{feff}"),
      (#"\u00e9"#, "é"), (#"e\u0301"#, "e\u{301}"), (#"\ud7ff\ue000"#, "\u{d7ff}\u{e000}"),
      (#"\b\f\n\r\t\"\\\/"#, "\u{8}\u{c}\n\r\t\"\\/"), (#"\\u0041"#, #"\u0041"#),
      ("\u{7f}\u{80}\u{7ff}\u{800}\u{ffff}", "\u{7f}\u{80}\u{7ff}\u{800}\u{ffff}"),
    ])
  func goodStrings(json: String, expected: String) throws {
    let (id, message) = try withBytes(
      of:
        #"{"messageId":"m\#(json)","type":"change","data":{"documentId":"\#(json)","epoch":"","revision":4,"sequence":2,"operation":["\#(json)"]}}"#
        .utf8
    ) { bytes throws(MessageError) in try ClientMessage.decode(bytes) }
    #expect(id.utf8.elementsEqual("m\(expected)".utf8))
    guard case .change(let change) = message else {
      Issue.record("not a change")
      return
    }
    #expect(change.documentID.utf8.elementsEqual(expected.utf8))
    var inserted = TextOperation()
    inserted.insert(expected)
    #expect(change.operation == inserted)
  }

  @Test("nesting is bounded, in data and beside it", arguments: Dialect.all)
  func nesting(dialect: Dialect) throws {
    for depth in [33, 100, 1_000, 200_000] {
      for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
        let nested =
          String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
        #expect(dialect.error(nested)?.code == .badMessage)
        for key in ["data", "more"] {
          let error = try #require(dialect.error(#"{"messageId":"m1","\#(key)":\#(nested)}"#))
          #expect(error.code == .badMessage)
          #expect(error.messageID == "m1")
          #expect(error.description.contains("nest"))
        }
        // Never closed: no stack is spent on it either.
        #expect(dialect.error(String(repeating: open, count: depth))?.code == .badMessage)
      }
    }
  }

  // MARK: Numbers

  @Test(
    "numbers that are no whole number of 53 bits are refused where one is due",
    arguments: [
      "1.0", "1.5", "1e3", "-0.1", "1E400", "9007199254740993", "-9007199254740993",
      "9223372036854775807", "9223372036854775808", "-9223372036854775808",
      "18446744073709551616", String(repeating: "9", count: 400),
    ])
  func numbers(number: String) throws {
    for field in ["revision", "sequence"] {
      let fields = ["revision", "sequence"].map { #""\#($0)":\#($0 == field ? number : "1")"# }
      let error = try #require(
        Dialect.client.error(
          #"{"messageId":"m1","type":"change","data":{"documentId":"d","epoch":"e",\#(fields.joined(separator: ",")),"operation":[1]}}"#
        ))
      #expect(error.code == .badMessage)
      #expect(error.messageID == "m1")
      #expect(error.description.contains("field \(field)"))
      #expect(error.description.contains("integer"))
    }
    // In a field that no message reads, any JSON number will do.
    #expect(
      try Dialect.client.again(#"{"messageId":"m1","type":"ping","data":{"x":\#(number)}}"#)
        == #"{"messageId":"m1","type":"ping","data":{}}"#)
  }

  private func integer<Number: FixedWidthInteger>(
    _ json: String, as type: Number.Type
  ) throws -> Number {
    try Array(json.utf8).withUnsafeBufferPointer { bytes in
      var reader = JSONReader(bytes)
      return try reader.integer(as: type)
    }
  }

  @Test(
    "an integer is read in any width that holds it, and refused in others",
    arguments: [
      0, 1, -1, 7, 2_147_483_647, 2_147_483_648, -2_147_483_648, -2_147_483_649,
      9_007_199_254_740_992, -9_007_199_254_740_992,
    ])
  func widths(number: Int64) throws {
    #expect(try integer("\(number)", as: Int64.self) == number)
    func check<Number: FixedWidthInteger>(_ type: Number.Type) throws {
      if let expected = Number(exactly: number) {
        #expect(try integer("\(number)", as: type) == expected)
      } else {
        #expect(throws: JSONError.self) { try integer("\(number)", as: type) }
      }
    }
    // As `Int` is in a browser, and narrower.
    try check(Int32.self)
    try check(Int16.self)
    try check(UInt8.self)
    #expect(throws: JSONError.self) { try integer("9007199254740993", as: Int64.self) }
  }

  @Test(
    "lengths that no operation has are refused",
    arguments: [
      "[1073741824]", "[-1073741824]", "[1073741823,-1]", #"[1073741823,"x"]"#,
      #"["x",1073741823]"#, "[9007199254740992,9007199254740992]", "[536870912,536870912]",
    ])
  func lengths(operation: String) throws {
    let error = try #require(
      Dialect.client.error(
        #"{"messageId":"m1","type":"change","data":{"documentId":"d","epoch":"e","revision":1,"sequence":1,"operation":\#(operation)}}"#
      ))
    #expect(error.code == .badOperation)
    #expect(error.messageID == "m1")
    #expect(error.description.contains("field operation"))
  }

  @Test("-0 is 0")
  func negativeZero() throws {
    #expect(
      try Dialect.client.again(
        #"{"messageId":"m1","type":"change","data":{"documentId":"d","epoch":"e","revision":-0,"sequence":1,"operation":[-0,2]}}"#
      )
        == #"{"messageId":"m1","type":"change","data":{"documentId":"d","epoch":"e","revision":0,"sequence":1,"operation":[2]}}"#
    )
  }
}
