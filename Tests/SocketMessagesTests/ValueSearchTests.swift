import ParleyJSON
import Testing

@Suite("Looking into JSON that is kept as it was written")
struct ValueSearchTests {
  private func value(_ text: String) throws -> JSONValue { try #require(JSONValue(text.utf8)) }

  private func text(_ value: JSONValue?) -> String? {
    value.map { String(decoding: $0.utf8, as: UTF8.self) }
  }

  @Test("the last field with a name is found, also if its name is written with escapes")
  func values() throws {
    let object = try value(#"{ "a" : 1 , "b" : [ 2 ] , "\u0061" : "x" , "" : null }"#)
    let found = try #require(object.values(of: "a", "b", "c", ""))
    #expect(found.map(text) == [#""x""#, "[ 2 ]", nil, "null"])
    #expect(text(object.value(of: "b")) == "[ 2 ]")
    #expect(try value("[1]").values(of: "a") == nil)
    #expect(try value("{}").value(of: "a") == nil)
  }

  @Test("each field with a name gets the new value, and a missing field is added")
  func replacing() throws {
    let object = try value(#"{"a":1,"b":{"a":2},"\u0061":3,"é\"":4}"#)
    let changed = object.replacing([.init("a", JSONValue(true)), .init("c", .null)], removing: "b")
    #expect(text(changed) == #"{"a":true,"\u0061":true,"é\"":4,"c":null}"#)
    #expect(text(try value("{}").replacing([.init("é\"", .null)])) == #"{"é\"":null}"#)
    #expect(text(try value("[]").replacing([.init("a", .null)])) == "[]")
    #expect(text(object.replacing([])) == text(object))
  }

  @Test("reading fails beyond the limit of values", arguments: ["[0,0]", #"{"a":[]}"#, "[[0]]"])
  func limits(json: String) throws {
    let bytes = Array(json.utf8)
    let count = json == #"{"a":[]}"# ? 2 : 3
    func read(_ valuesMax: Int) throws(JSONError) -> JSONValue {
      try bytes.withUnsafeBufferPointer { bytes throws(JSONError) in
        try JSONValue(bytes, valuesMax: valuesMax)
      }
    }
    #expect(try read(count).utf8 == bytes)
    #expect(throws: JSONError.tooManyValues(valuesMax: count - 1)) { try read(count - 1) }
  }

  @Test("only the requested number of elements is read")
  func elements() throws {
    let list = try value("[1,[2],3]")
    #expect(list.firstElements(2)?.map(text) == ["1", "[2]"])
    #expect(list.firstElements(9)?.count == 3)
    #expect(list.elementCount(upTo: 2) == 2)
    #expect(list.elementCount(upTo: 9) == 3)
    #expect(try value("{}").firstElements(1) == nil)
  }

  @Test(
    "escapes are decoded in values, and before names are compared",
    arguments: [
      (#"\u0001\n\t\r\b\f\/\\\""#, "\u{1}\n\t\r\u{8}\u{c}/\\\""),
      (#"a\u00e9\u20AC\ud83d\uDE00z"#, "aé€😀z"),
      (#"\u007f\u0080\u07ff\u0800"#, "\u{7f}\u{80}\u{7ff}\u{800}"),
    ])
  func escapes(written: String, meant: String) throws {
    let string = try #require(try value("\"\(written)\"").string)
    #expect(string.utf8.elementsEqual(meant.utf8))
    let object = try value("{\"\(written)\":1}")
    #expect(text(object.replacing([.init(meant, .null)])) == "{\"\(written)\":null}")
    // And back.
    #expect(JSONValue(JSONValue(meant).utf8)?.string?.utf8.elementsEqual(meant.utf8) == true)
  }
}
