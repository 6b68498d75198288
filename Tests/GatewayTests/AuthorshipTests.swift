import ParleyGatewayPorts
import ParleyGrowthKit
import OTCore
import ParleyOTWorkloads
import Testing

@Suite("Authors of the parts of a text", .serialized)
struct AuthorshipTests {
  /// The reference implementation, with one author per scalar: slow and simple.
  private struct Letters {
    var authors: [String] = []

    mutating func apply(_ operation: TextOperation, by author: String) {
      var position = 0
      for component in operation.components {
        switch component {
        case .retain(let count): position += count
        case .insert(let text):
          let count = text.unicodeScalars.count
          authors.insert(contentsOf: repeatElement(author, count: count), at: position)
          position += count
        case .delete(let count): authors.removeSubrange(position..<(position + count))
        }
      }
    }

    var runs: [AuthorRun] {
      var runs: [AuthorRun] = []
      for author in authors {
        if runs.last?.author == author {
          runs[runs.count - 1].count += 1
        } else {
          runs.append(AuthorRun(author: author, count: 1))
        }
      }
      return runs
    }
  }

  /// Returns an operation with a few insertions and deletions at random positions.
  private static func operation(
    on length: Int, _ random: inout SplitMix64, deletesUpTo deletionMax: Int
  ) -> TextOperation {
    var operation = TextOperation()
    var left = length
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let retained = Int.random(in: 0...left, using: &random)
      operation.retain(retained)
      left -= retained
      if Bool.random(using: &random) {
        operation.insert(
          String(repeating: "é", count: Int.random(in: 1...4, using: &random)))
      } else {
        let deleted = Int.random(in: 0...min(left, deletionMax), using: &random)
        operation.delete(deleted)
        left -= deleted
      }
    }
    operation.retain(left)
    return operation
  }

  @Test("the tree equals a list of each letter's author", arguments: UInt64(1)...40)
  func law(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    // Some texts grow to several levels of the tree; others lose large parts.
    let deletionMax = [1, 4, 3_000][Int(seed % 3)]
    let authors = (0..<[1, 2, 7, 60][Int(seed % 4)]).map { "author \($0)" }
    var letters = Letters()
    var authorship = Authorship()
    for step in 0..<1_500 {
      let author = authors[Int.random(in: 0..<authors.count, using: &random)]
      let operation = Self.operation(
        on: letters.authors.count, &random, deletesUpTo: step % 97 == 96 ? deletionMax : 2)
      letters.apply(operation, by: author)
      authorship.apply(operation, by: author)
      if step % 100 == 99 {
        #expect(authorship.runs == letters.runs, "after \(step) steps")
        let again = Authorship(authorship.runs)
        #expect(again.runs == letters.runs)
        // An authorship that is rebuilt from its runs behaves like the original.
        if seed % 2 == 0 { authorship = again }
      }
    }
    let numbered = authorship.numberedRuns
    #expect(
      numbered.runs.map { AuthorRun(author: numbered.names[$0.author], count: $0.count) }
        == letters.runs)
    var seen = 0
    for run in numbered.runs {
      #expect(run.author <= seen, "names come in the order of their first runs")
      seen = max(seen, run.author + 1)
    }
    #expect(seen == numbered.names.count)
  }

  @Test("deletions shrink the tree")
  func depth() {
    var random = SplitMix64(seed: 5)
    var authorship = Authorship()
    let count = 30_000
    for length in 0..<count {
      authorship.apply(Self.letter(&random, length: length), by: "author \(length % 3)")
    }
    #expect((3...5).contains(authorship.depth))
    for length in stride(from: count, to: 10, by: -1) {
      var operation = TextOperation()
      let place = Int.random(in: 0..<length, using: &random)
      operation.retain(place)
      operation.delete(1)
      operation.retain(length - place - 1)
      authorship.apply(operation, by: "nobody")
    }
    #expect(authorship.depth <= 2)
    #expect(authorship.runs.reduce(0) { $0 + $1.count } == 10)
  }

  /// Returns an operation that inserts a letter at a random position.
  private static func letter(_ random: inout SplitMix64, length: Int) -> TextOperation {
    var operation = TextOperation()
    let place = Int.random(in: 0...length, using: &random)
    operation.retain(place)
    operation.insert("x")
    operation.retain(length - place)
    return operation
  }

  private static let laws = [
    GrowthLaw("letters of many authors at random places", size: 4_000) {
      $0
    } run: { size in
      var random = SplitMix64(seed: 3)
      var authorship = Authorship()
      for length in 0..<size {
        authorship.apply(letter(&random, length: length), by: "author \(length % 200)")
      }
    },
    GrowthLaw("deletions at random places", size: 4_000) { size in
      Authorship((0..<size).map { AuthorRun(author: "author \($0 % 200)", count: 1) })
    } run: { full in
      var random = SplitMix64(seed: 4)
      var authorship = full
      var length = full.runs.count
      while length > 0 {
        var operation = TextOperation()
        let place = Int.random(in: 0..<length, using: &random)
        operation.retain(place)
        operation.delete(1)
        operation.retain(length - place - 1)
        authorship.apply(operation, by: "nobody")
        length -= 1
      }
    },
  ]

  @Test("the cost of a change does not depend on the length of the text", arguments: laws)
  func growth(law: GrowthLaw) {
    let finding = law.check()
    #expect(finding.holds, "\(finding)")
  }
}
