import OTCore
import ParleyOTWorkloads
import Testing

/// Checks the statements of the documentation catalogue.
@Suite("The catalogue's examples")
struct CatalogueTests {
  @Test func `the first example gives the same text in both orders`() throws {
    var document = Document("Hello world")
    let mine: TextOperation = [.retain(5), .insert(","), .retain(6)]
    let yours: TextOperation = [.retain(6), .delete(5), .insert("all")]
    let (mineAfterYours, yoursAfterMine) = try TextOperation.transform(mine, yours)
    try document.apply(mine)
    try document.apply(yoursAfterMine)
    #expect(document == Document("Hello, all"))
    var other = Document("Hello world")
    try other.apply(yours)
    try other.apply(mineAfterYours)
    #expect(other == document)
  }

  @Test func `the example of a diamond`() throws {
    let (ann, ben) = try TextOperation.transform(op("=1 -1 =1"), op("=3 +d"))
    #expect(ann == op("=1 -1 =2"))
    #expect(ben == op("=2 +d"))
  }

  @Test(arguments: [("=1 +x -1 =1", "axYc"), ("=1 -1 +x =1", "aYxc")])
  func `the order of insert and delete changes the result`(late: String, expected: String) throws {
    let committed = op("=2 +Y =1")
    let after = try op(late).transformed(over: committed, side: .right)
    #expect(try after.applied(to: committed.applied(to: "abc")) == expected)
    #expect(try op(late).applied(to: "abc") == "axc")
  }

  @Test func `two histories with one composition give two answers`() throws {
    let late = op("+y =1")
    let one = [op("-1"), op("+x")]
    let two = [op("=1 +x"), op("-1 =1")]
    #expect(try one[0].composed(with: one[1]) == op("-1 +x"))
    #expect(try two[0].composed(with: two[1]) == op("-1 +x"))
    #expect(try late.rebased(over: one[...], side: .right) == op("=1 +y"))
    #expect(try late.rebased(over: two[...], side: .right) == op("+y =1"))
  }

  @Test(arguments: [
    ("a", 1, 1, 1), ("é", 1, 1, 2), ("e\u{301}", 2, 2, 3), ("中", 1, 1, 3), ("😀", 1, 2, 4),
    ("👨‍👩‍👧", 5, 8, 18),
  ])
  func `texts have the documented lengths`(text: String, scalars: Int, utf16: Int, utf8: Int) {
    let document = Document(text)
    #expect(document.scalarCount == scalars)
    #expect(document.utf16Count == utf16)
    #expect(document.utf8Count == utf8)
    #expect(text.count == 1)
  }
}
