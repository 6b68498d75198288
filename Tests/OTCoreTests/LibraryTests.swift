import Foundation
import OTCore
import ParleyOTWorkloads
import Testing

/// The parts of the module that other programs use, except the algebra.
@Suite("The module as a library")
struct LibraryTests {
  @Test(arguments: Seeds.smoke)
  func `replacing a range changes a text as replaceSubrange does`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<40 {
      let text = RandomTexts.text(scalars: random.below(20), using: &random)
      let new = RandomTexts.text(scalars: random.below(6), using: &random)
      let length = text.unicodeScalars.count
      let start = random.between(0, length)
      let end = random.between(start, length)
      let operation = try TextOperation(replacing: start..<end, with: new, length: length)
      var expected = scalars(text)
      expected.replaceSubrange(start..<end, with: scalars(new))
      #expect(scalars(try operation.applied(to: text)) == expected)
      #expect(operation.baseLength == length)
      var document = Document(text)
      try document.replace(start..<end, with: new)
      #expect(scalars(document.text) == expected)
    }
  }

  @Test func `a range beyond the text and a too long text are refused`() {
    #expect(throws: OperationError.lengthMismatch(expected: 3, found: 4)) {
      try TextOperation(replacing: 1..<4, with: "x", length: 3)
    }
    let most = TextOperation.lengthMax
    #expect(throws: OperationError.tooLong) {
      try TextOperation(replacing: 0..<0, with: "x", length: most)
    }
    #expect(throws: OperationError.tooLong) {
      try TextOperation(replacing: 0..<0, with: "", length: most + 1)
    }
    #expect(throws: Never.self) { try TextOperation(replacing: 0..<1, with: "é", length: most) }
  }

  @Test(arguments: Seeds.smoke)
  func `strings, arrays and spans are read with the same result`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<20 {
      let operation = TextOperation.random(length: random.below(40), using: &random)
      var bytes: [UInt8] = []
      operation.appendJSON(to: &bytes)
      if random.chance(50) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
      let expected = Result { try read(bytes) }
      #expect(same(expected, Result { try TextOperation(json: bytes) }))
      #expect(same(expected, Result { try TextOperation(json: bytes.span) }))
      if let text = String(validating: bytes, as: UTF8.self) {
        #expect(same(expected, Result { try TextOperation(json: text) }))
      }
      var one = TextOperation()
      var other = TextOperation()
      let first = Result { try one.insert(utf8: bytes) }
      let second = Result { try other.insert(utf8: bytes.span) }
      #expect(one == other)
      #expect((try? first.get()) == nil ? (try? second.get()) == nil : (try? second.get()) != nil)
      if let text = String(validating: bytes, as: UTF8.self) {
        var third = TextOperation()
        try third.insert(utf8: text)
        #expect(third == one)
      } else {
        #expect(one == TextOperation())
      }
    }
  }

  private func same(
    _ one: Result<TextOperation, any Error>, _ other: Result<TextOperation, any Error>
  ) -> Bool {
    switch (one, other) {
    case (.success(let one), .success(let other)): one == other
    case (.failure(let one), .failure(let other)):
      (one as? OperationError) == (other as? OperationError)
    case (.success, .failure), (.failure, .success): false
    }
  }

  @Test func `inserting a text too long for an operation is refused`() throws {
    var operation = TextOperation()
    operation.retain(TextOperation.lengthMax - 2)
    let before = operation
    #expect(throws: OperationError.tooLong) { try operation.insert(utf8: "abc") }
    #expect(throws: OperationError.tooLong) { try operation.insert(utf8: Array("abc".utf8)) }
    #expect(operation == before)
    // Two scalars fit, although they have four bytes.
    try operation.insert(utf8: "éé")
    #expect(operation.targetLength == TextOperation.lengthMax)
  }

  @Test(arguments: Seeds.smoke)
  func `operations and selections survive encoding and decoding`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<20 {
      let operation = TextOperation.random(length: random.below(40), using: &random)
      let data = try JSONEncoder().encode([operation])
      #expect(try JSONDecoder().decode([TextOperation].self, from: data) == [operation])
      // The same form as on the wire.
      #expect(
        try JSONDecoder().decode(TextOperation.self, from: Data(json(operation).utf8)) == operation)
      #expect(try TextOperation(json: Array(JSONEncoder().encode(operation))) == operation)
    }
    let selection = Selection(anchor: 3, head: 1)
    let data = try JSONEncoder().encode(selection)
    #expect(try JSONDecoder().decode(Selection.self, from: data) == selection)
  }

  @Test(arguments: [
    "[1.5]", "[null]", "[[1]]", "{}", "[1073741824]", "[-1073741824]", "[1073741823,1]",
    "[1073741823,\"x\"]",
  ])
  func `decoding refuses malformed operations`(text: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(TextOperation.self, from: Data(text.utf8))
    }
  }

  @Test func `an operation is described without its text`() {
    let operation = op("=3 +sécret -2 =1")
    #expect("\(operation)" == "retain 3, insert 7 bytes, delete 2, retain 1")
    #expect("\(TextOperation())" == "nothing")
    var many = TextOperation()
    for _ in 0..<50 {
      many.insert("secret")
      many.delete(1)
    }
    #expect("\(many)".hasSuffix("insert 6 bytes, delete 1, and 92 more"))
    for value in [operation, many, op("+secret")] {
      let change = ClientSynchronizer.Change(sequence: 1, revision: 0, operation: value)
      var dumped = ""
      dump(change, to: &dumped)
      for said in ["\(value)", String(reflecting: value), "\(change)", dumped] {
        #expect(!said.contains("cret"))
        #expect(said.contains("insert"))
      }
    }
  }
}
