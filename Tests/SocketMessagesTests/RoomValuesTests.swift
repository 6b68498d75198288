import ParleyJSON
import ParleyOTWorkloads
import SocketMessages
import Testing

@Suite("Values of rooms")
struct RoomValuesTests {
  private func value(_ text: String) throws -> JSONValue { try #require(JSONValue(text.utf8)) }

  private func text(_ value: JSONValue?) -> String? {
    value.map { String(decoding: $0.utf8, as: UTF8.self) }
  }

  private func tree(_ text: String) throws -> JSONTree { JSONTree(try value(text)) }

  private func change(_ json: String, if conditions: [ValueName: Int] = [:]) throws -> ValueChange {
    ValueChange(
      try #require(ValueOperation.list(in: try value(json))), ifOffsets: conditions)
  }

  @Test(
    "JSON becomes canonical, and canonical JSON remains",
    arguments: [
      (#" { "b" : 1 , "a" : [ 1.50 , -0 ] } "#, #"{"a":[1.50,-0],"b":1}"#),
      (#"{"a":1,"\u0061":2,"a":3}"#, #"{"a":3}"#),
      (#"{"__proto__":{"x":1},"":null}"#, #"{"":null,"__proto__":{"x":1}}"#),
      (#""\u0041\/\ud83d\ude00\u0001""#, #""A/😀\u0001""#),
      (#"[9007199254740993,1e400,0.10]"#, #"[9007199254740993,1e400,0.10]"#),
      (
        "{\"\u{e9}\":1,\"e\u{301}\":2,\"ｚ\":3,\"😀\":4}",
        "{\"e\u{301}\":2,\"\u{e9}\":1,\"ｚ\":3,\"😀\":4}"
      ),
    ])
  func canonical(json: String, expected: String) throws {
    #expect(text(try tree(json).canonical) == expected)
    #expect(text(try tree(expected).canonical) == expected)
  }

  /// The examples of RFC 7396, appendix A, whose patches are objects.
  @Test(
    "patches merge as RFC 7396 says",
    arguments: [
      (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
      (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
      (#"{"a":"b"}"#, #"{"a":null}"#, "{}"),
      (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
      (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
      (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
      (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
      (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
      (#"{"e":null}"#, #"{"a":1}"#, #"{"a":1,"e":null}"#),
      (#"[1,2]"#, #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
      ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
    ])
  func merging(target: String, patch: String, expected: String) throws {
    #expect(text(try tree(target).merged(with: tree(patch)).canonical) == expected)
  }

  @Test("a room is the fold of its accepted changes", arguments: UInt64(1)...200)
  func fold(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var (room, plain) = (RoomValues(), PlainRoom())
    var refused = 0
    for offset in 1...30 {
      let operations = (0..<random.number(1...4)).map { _ in PlainOperation.random(&random) }
      var conditions: [ExactName: Int] = [:]
      if random.once(in: 3) {
        let name = ExactName(["card", "votes"][random.number(0...1)])
        conditions[name] =
          random.once(in: 2) ? plain.values[name]?.offset ?? 0 : random.number(0...offset)
      }
      let change = ValueChange(
        operations.map(\.operation),
        ifOffsets: Dictionary(uniqueKeysWithValues: conditions.map { (ValueName($0.text), $1) }))
      let before = room
      let isAccepted: Bool
      do throws(ValueRefusal) {
        try room.apply(change, at: ValueOrigin(offset: offset, time: 1))
        isAccepted = true
      } catch {
        #expect(room == before)
        refused += 1
        isAccepted = false
      }
      #expect(plain.apply(operations, conditions, offset: offset) == isAccepted, "seed \(seed)")
      #expect(room.totals == Self.totals(of: room))
      #expect(room.values.count == plain.values.count)
      for (name, entry) in plain.values {
        let found = room[ValueName(name.text)]
        #expect(text(found?.value) == entry.value.json, "seed \(seed), offset \(offset)")
        #expect(found?.offset == entry.offset)
      }
      // What travels in the publication has the same effect.
      let read = ValueOperation.list(in: ValueOperation.json(of: change.operations))
      #expect(read == change.operations)
    }
    #expect(refused < 30)
  }

  private static func totals(of room: RoomValues) -> ValueTotals {
    room.values.reduce(into: ValueTotals()) { totals, entry in
      totals.names += 1
      totals.bytes += entry.key.text.utf8.count + entry.value.value.utf8.count
    }
  }

  @Test("a condition on an offset lets the first of two changes win")
  func conditions() throws {
    var room = RoomValues()
    let first = try change(#"[{"set":"a","to":1}]"#, if: ["a": 0])
    try room.apply(first, at: ValueOrigin(offset: 4, time: 1))
    #expect(throws: ValueRefusal.conflict(["a": RoomValue(value: try value("1"), offset: 4)])) {
      try room.apply(first, at: ValueOrigin(offset: 5, time: 1))
    }
    let next = try change(#"[{"add":"a","by":2}]"#, if: ["a": 4, "b": 0])
    try room.apply(next, at: ValueOrigin(offset: 5, time: 1))
    #expect(text(room["a"]?.value) == "3")
    #expect(throws: ValueRefusal.conflict(["b": nil])) {
      try room.apply(
        try change(#"[{"delete":"a"}]"#, if: ["a": 5, "b": 5]), at: ValueOrigin(offset: 6, time: 1))
    }
    #expect(room["a"]?.offset == 5)
  }

  @Test("each limit holds at its edge, and a room over a lowered limit may shrink")
  func limits() throws {
    var limits = ValueLimits()
    limits.valueBytesMax = 8
    limits.namesMax = 2
    limits.bytesMax = 16
    func outcome(_ room: inout RoomValues, _ json: String) throws -> ValueRefusal? {
      let change = try self.change(json)
      do throws(ValueRefusal) {
        try room.apply(change, at: ValueOrigin(offset: 1, time: 1), limits: limits)
        return nil
      } catch {
        return error
      }
    }
    var room = RoomValues()
    #expect(try outcome(&room, #"[{"set":"a","to":"123456"}]"#) == nil)
    #expect(
      try outcome(&room, #"[{"delete":"a"},{"set":"a","to":"1234567"}]"#)
        == .valueTooLarge(index: 1, bytes: 9, bytesMax: 8))
    #expect(text(room["a"]?.value) == #""123456""#)
    #expect(try outcome(&room, #"[{"set":"b","to":"1234"}]"#) == nil)
    #expect(
      try outcome(&room, #"[{"set":"c","to":1}]"#) == .tooManyNames(namesMax: 2))
    #expect(
      try outcome(&room, #"[{"set":"b","to":"12345"}]"#) == .tooManyBytes(bytesMax: 16))
    #expect(try outcome(&room, #"[{"delete":"a"},{"set":"c","to":1}]"#) == nil)
    limits.namesMax = 1
    limits.bytesMax = 4
    #expect(try outcome(&room, #"[{"set":"c","to":2}]"#) == nil)
    #expect(try outcome(&room, #"[{"set":"c","to":22}]"#) == .tooManyBytes(bytesMax: 4))
    #expect(try outcome(&room, #"[{"set":"d","to":2}]"#) == .tooManyNames(namesMax: 1))
  }

  @Test(
    "an addition needs integers of at most 2^53, and gives one",
    arguments: [
      ("9007199254740991", 1, "9007199254740992"), ("9007199254740992", 1, nil),
      ("-9007199254740992", -1, nil), ("9007199254740993", -1, nil), ("1.0", 1, nil),
      ("\"1\"", 1, nil), ("null", 1, nil), ("-1", 1, "0"),
    ])
  func additions(former: String, number: Int, sum: String?) throws {
    var room = RoomValues()
    try room.apply(
      try change(#"[{"set":"n","to":\#(former)}]"#), at: ValueOrigin(offset: 1, time: 1))
    try? room.apply(
      try change(#"[{"add":"n","by":\#(number)}]"#), at: ValueOrigin(offset: 2, time: 1))
    #expect(text(room["n"]?.value) == sum ?? former)
  }

  @Test("the newest operation decides the lifetime")
  func lifetimes() throws {
    var room = RoomValues()
    func apply(_ json: String, at time: Timestamp) throws {
      try room.apply(
        try change(json), at: ValueOrigin(offset: 1, time: time, client: "c"))
    }
    try apply(#"[{"set":"a","to":1,"ttl":5},{"set":"b","to":1,"while":"connected"}]"#, at: 100)
    #expect(room["a"]?.expiry == .init(time: 5_100, lifetime: 5_000))
    #expect(room["b"]?.holder == "c")
    try apply(#"[{"add":"a","by":1},{"merge":"b","with":{},"ttl":1}]"#, at: 200)
    #expect(room["a"]?.expiry == nil)
    #expect(room["b"]?.holder == nil)
    #expect(room["b"]?.expiry?.time == 1_200)
  }

  @Test(
    "other JSON is not an operation",
    arguments: [
      "1", "[]", "{}", #"{"set":"a"}"#, #"{"set":"","to":1}"#, #"{"set":1,"to":1}"#,
      #"{"merge":"a","with":1}"#, #"{"merge":"a","with":null}"#, #"{"merge":"a","to":{}}"#,
      #"{"add":"a","by":1.5}"#, #"{"add":"a","by":"1"}"#, #"{"add":"a","by":9007199254740993}"#,
      #"{"set":"a","delete":"a","to":1}"#, #"{"set":"a","to":1,"ttl":0}"#,
      #"{"set":"a","to":1,"ttl":2678401}"#, #"{"set":"a","to":1,"while":"alive"}"#,
      #"{"set":"a","to":1,"ttl":1,"while":"connected"}"#, #"{"delete":"a","ttl":1}"#,
    ])
  func malformed(json: String) throws {
    #expect(ValueOperation.list(in: try value("[\(json)]")) == nil)
    #expect(ValueOperation.list(in: try value(json)) == nil || json == "[]")
  }

  @Test("names have 1 to 200 bytes, and may be anything else")
  func names() throws {
    for name in ["__proto__", "\\u0000", "a/b c", String(repeating: "\u{e9}", count: 100)] {
      #expect(ValueOperation.list(in: try value(#"[{"delete":"\#(name)"}]"#)) != nil)
    }
    let long = String(repeating: "\u{e9}", count: 100) + "x"
    #expect(ValueOperation.list(in: try value(#"[{"delete":"\#(long)"}]"#)) == nil)
  }

  @Test("a list that is too long is refused at the first operation beyond, and deep JSON unread")
  func counts() throws {
    let list = "[" + String(repeating: #"{"delete":"a"},"#, count: 9_999) + "not JSON"
    let nested = String(repeating: "[", count: 25) + String(repeating: "]", count: 25)
    func read(_ json: String) throws(JSONError) {
      let bytes = Array(json.utf8)
      try bytes.withUnsafeBufferPointer { bytes throws(JSONError) in
        var reader = JSONReader(bytes)
        _ = try ValueOperation.list(&reader, countMax: ValueLimits.operationsMax)
      }
    }
    #expect(throws: JSONError.tooManyValues(valuesMax: ValueLimits.operationsMax)) {
      try read(list)
    }
    #expect(throws: JSONError.self) { try read(#"[{"set":"a","to":\#(nested)}]"#) }
    // A merge may not nest deeper than a value may be written.
    let deep = String(repeating: #"{"a":"#, count: 24) + "1" + String(repeating: "}", count: 24)
    try read(#"[{"merge":"a","with":\#(deep)}]"#)
  }
}
