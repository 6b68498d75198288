import OTCore
import ParleyOTWorkloads
import Testing

/// Known results, from this project and its predecessors.
@Suite("Golden vectors")
struct VectorTests {
  @Test(arguments: [
    ("=6 -5 =7", "=6 -6 =1", "=6 -11 =1"),
    ("+a =2", "=1 +b =2", "+ab =2"),
    ("-2 +x", "-1 +y", "-2 +y"),
    ("+abc", "=1 -1 =1", "+ac"),
    ("+a😀b", "=2 -1", "+a😀"),
    ("", "+a", "+a"),
  ])
  func compose(first: String, second: String, expected: String) throws {
    #expect(try op(first).composed(with: op(second)) == op(expected))
  }

  @Test(arguments: [
    ("=1 -3 =1", "=2 -3", "=1 -1", "=1 -1"),
    ("=2 +Z =3", "=1 -3 =1", "=1 +Z =1", "=1 -1 =1 -2 =1"),
    ("=2 +x", "=2 +y", "=2 +x =1", "=3 +y"),
    ("+x -2", "-1 +y =1", "+x =1 -1", "=1 +y"),
    ("", "", "", ""),
  ])
  func transform(a: String, b: String, aAfterB: String, bAfterA: String) throws {
    let result = try TextOperation.transform(op(a), op(b))
    #expect(result.aAfterB == op(aAfterB))
    #expect(result.bAfterA == op(bAfterA))
  }

  @Test func `operations with another order of insert and delete differ`() {
    #expect(op("+x -1") != op("-1 +x"))
    #expect(json(op("+x -1")) == #"["x",-1]"#)
    #expect(json(op("-1 +x")) == #"[-1,"x"]"#)
  }

  @Test func `neighbours of one kind merge`() {
    #expect(op("=1 =2 +a +b -1 -1 =0") == op("=3 +ab -2"))
    #expect(op("=1 =2 +a +b -1 -1").componentCount == 3)
  }

  @Test func `an operation that changes nothing is written as a retain`() throws {
    #expect(json(TextOperation.identity(length: 0)) == "[0]")
    #expect(json(TextOperation.identity(length: 7)) == "[7]")
    #expect(TextOperation.identity(length: 7).isIdentity)
    #expect(TextOperation().isIdentity)
    #expect(!op("=7 +a").isIdentity)
    #expect(try read(#"[0,"",3,0]"#) == .identity(length: 3))
  }

  @Test(arguments: [
    (3, "=3 +xy =2", false, 3), (3, "=3 +xy =2", true, 5), (3, "=1 -4", false, 1),
    (3, "-1 =4", false, 2), (0, "+hi", false, 0), (0, "+hi", true, 2), (9, "=5", false, 5),
    (-2, "=5", true, 0), (2, "=2 -2 +x =1", true, 3), (2, "=2 -2 +x =1", false, 2),
  ])
  func cursor(position: Int, operation: String, own: Bool, expected: Int) {
    #expect(Cursor.transformed(position, over: op(operation), own: own) == expected)
  }

  /// Two clients insert at the same position of an empty text: the committed letter stays left.
  @Test func `of two inserts at one place the committed one stays left`() throws {
    var server = ServerSequencer(document: Document(), revision: 0)
    _ = try server.submit(op("+X"), at: 0)
    let stored = try server.submit(op("+Y"), at: 0)
    #expect(stored == op("=1 +Y"))
    #expect(server.document == Document("XY"))
    #expect(server.revision == 2)
  }

  @Test(arguments: [
    "", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[01]", "[-]", "[--1]", "[1.5]", "[1e3]",
    "[\"a]", "[\"\\x\"]", "[\"\\ud83d\"]", "[\"\\udc00\"]", "[\"\\ud83dx\"]", "[\"\\u12\"]",
    "[true]",
    "[null]", "[[1]]", "{}", "1", "[1]x", "[\"a\nb\"]", "[99999999999999999999]", "[1073741824]",
    "[1073741823,1]",
  ])
  func `malformed operations are refused`(text: String) {
    #expect(throws: OperationError.self) { try read(text) }
  }

  @Test(
    arguments: [
      [0x80], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xf5], [0xe2, 0x82],
      [0xf0, 0x8f, 0xbf, 0xbf],
    ] as [[UInt8]])
  func `malformed UTF-8 is refused`(bytes: [UInt8]) {
    #expect(throws: OperationError.self) { try read([0x5b, 0x22] + bytes + [0x22, 0x5d]) }
    #expect(throws: OperationError.self) {
      let result: Result<Document, OperationError> = bytes.withUnsafeBufferPointer { bytes in
        do throws(OperationError) {
          return .success(try Document(utf8: bytes))
        } catch {
          return .failure(error)
        }
      }
      _ = try result.get()
    }
  }

  @Test func `escapes in JSON are decoded`() throws {
    #expect(
      try read(#"["\u00e9\ud83d\ude00\n\t\"\\\/\b\f\r"]"#)
        == {
          var expected = TextOperation()
          expected.insert("é😀\n\t\"\\/\u{8}\u{c}\r")
          return expected
        }())
  }

  @Test(arguments: Seeds.smoke)
  func `a long text is escaped like its scalars one by one`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var text = ""
    for _ in 0..<random.between(1, 400) {
      let others: [UInt32] = [0x5c, 0x61, 0xe9, 0x1f600]
      let scalar =
        random.chance(40) ? UInt32(random.below(0x30)) : others[random.below(others.count)]
      text.unicodeScalars.append(try #require(Unicode.Scalar(scalar)))
    }
    func quoted(_ text: String) -> Substring {
      var operation = TextOperation()
      operation.insert(text)
      return json(operation).dropFirst(2).dropLast(2)
    }
    let expected = text.unicodeScalars.map { quoted(String($0)) }.joined()
    #expect(quoted(text).utf8.elementsEqual(expected.utf8))
    #expect(try read("[\"\(expected)\"]").applied(to: "").utf8.elementsEqual(text.utf8))
  }
}
