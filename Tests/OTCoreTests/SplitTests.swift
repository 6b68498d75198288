import OTCore
import ParleyOTWorkloads
import Testing

@Suite("Splitting operations")
struct SplitTests {
  @Test(
    "parts that shrink the text come first, each from left to right and within the limits",
    arguments: [
      ("=2 +abc =3 -1 =4", 3, ["=5 -1 =4", "=2 +abc =7"]),
      ("=2 +abc =3 -1 =4", 5, ["=2 +abc =3 -1 =4"]),
      ("+a -1 =1 +b -1", 3, ["+a -1 =2", "=2 -1", "=2 +b"]),
      ("+a -1 =1 +b -1", 4, ["+a -1 =2", "=2 +b -1"]),
      ("-1 +a =1 -1 +b", 0, ["-1 +a =2", "=2 -1", "=2 +b"]),
      ("=7", 3, ["=7"]),
    ])
  func byComponents(whole: String, componentsMax: Int, parts: [String]) {
    #expect(op(whole).split(within: .init(componentsMax: componentsMax)) == parts.map(op))
  }

  @Test func `a long insertion is cut between two scalars`() {
    var whole = TextOperation()
    whole.retain(5)
    whole.insert(String(repeating: "👋", count: 40))
    whole.delete(1)
    let parts = whole.split(within: .init(jsonBytesMax: 0))
    #expect(parts.count > 2)
    #expect(parts.allSatisfy { json($0).utf8.count <= OperationLimits.jsonBytesMin })
    #expect(parts.dropLast().allSatisfy { $0.insertedBytes > 0 && $0.insertedBytes % 4 == 0 })
  }

  @Test func `an operation exactly at the limit is not split`() {
    let whole = op("=2 +abc =3 -1 =4 +defghijklmnopqrstuvwxyz+ABCDEFGHIJKLMNOPQRSTUVWXYZ =99")
    let bytes = json(whole).utf8.count
    #expect(bytes > OperationLimits.jsonBytesMin)
    #expect(whole.split(within: .init(jsonBytesMax: bytes)) == [whole])
    #expect(whole.split(within: .init(jsonBytesMax: bytes - 1)).count == 2)
  }

  @Test(arguments: Seeds.smoke)
  func `the parts in order have the effect of the whole operation`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for round in 0..<100 {
      var text = RandomTexts.text(
        scalars: random.below(round % 5 == 0 ? 400 : 30), wide: round % 2 == 0, using: &random)
      if round % 3 == 0 { text += "\u{1f}\"\\\n\u{0}" }
      let length = text.unicodeScalars.count
      var whole = TextOperation.random(
        length: length, edits: random.between(1, round % 5 == 0 ? 60 : 6), using: &random)
      if round % 4 == 0 {
        whole.insert(String(repeating: text, count: random.below(4)))
      }
      let limits = OperationLimits(
        componentsMax: random.between(1, 12), jsonBytesMax: random.between(1, 200))
      let parts = whole.split(within: limits)
      var after = Document(text)
      let scalarsMax = max(whole.baseLength, whole.targetLength)
      for part in parts {
        try after.apply(part)
        #expect(after.scalarCount <= scalarsMax, "seed \(seed), round \(round)")
        #expect(part.componentCount <= limits.componentsMax, "seed \(seed), round \(round)")
        #expect(json(part).utf8.count <= limits.jsonBytesMax, "seed \(seed), round \(round)")
      }
      #expect(after == Document(try whole.applied(to: text)), "seed \(seed), round \(round)")
      var again = TextOperation.identity(length: length)
      for part in parts { again = try again.composed(with: part) }
      #expect(
        try again.applied(to: text) == whole.applied(to: text), "seed \(seed), round \(round)")
    }
  }
}
