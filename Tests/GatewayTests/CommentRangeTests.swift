import ParleyGatewayPorts
import ParleyGrowthKit
import OTCore
import ParleyOTWorkloads
import Testing

@Suite("Ranges of comments")
struct CommentRangeTests {
  /// A log and comments in memory; changes to comments are ignored.
  private struct Ledger: CommentLedger {
    let operations: [TextOperation]
    let all: [ParleyGatewayPorts.Comment]

    var epoch: Epoch { "e" }
    var base: Int { 0 }
    var head: Int { operations.count }
    var folder: FolderPath { .none }

    func text(at revision: Int) throws(StoreError) -> Document {
      throw .unavailable("nobody asks for it")
    }

    func forEachOperation(
      after: Int, through: Int, _ body: (TextOperation) throws(StoreError) -> Void
    ) throws(StoreError) {
      for operation in operations[after..<through] { try body(operation) }
    }

    func comments() throws(StoreError) -> [ParleyGatewayPorts.Comment] { all }
    func comment(_ id: CommentID) throws(StoreError) -> ParleyGatewayPorts.Comment? { nil }
    func count() throws(StoreError) -> Int { all.count }
    func hasAnswers(_ thread: CommentID) throws(StoreError) -> Bool { false }
    func keep(_ comment: ParleyGatewayPorts.Comment) throws(StoreError) {}
    func remove(_ id: CommentID) throws(StoreError) {}
  }

  private static func comment(_ number: Int, at anchor: CommentAnchor?)
    -> ParleyGatewayPorts.Comment
  {
    ParleyGatewayPorts.Comment(
      id: "\(number)", author: "Ann", person: "ann", text: "x", createdAt: Timestamp(number),
      anchor: anchor)
  }

  @Test(
    "moving many ranges together has the result of moving each alone", arguments: UInt64(1)...60)
  func together(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var lengths = [random.between(1, 60)]
    var operations: [TextOperation] = []
    for _ in 0..<random.between(1, 40) {
      let operation = TextOperation.random(
        length: lengths[operations.count], edits: random.between(1, 4), using: &random)
      operations.append(operation)
      lengths.append(operation.targetLength)
    }
    var comments: [ParleyGatewayPorts.Comment] = []
    for number in 0..<random.between(1, 30) {
      let revision = random.below(operations.count + 1)
      guard lengths[revision] > 0, !random.chance(10) else {
        comments.append(Self.comment(number, at: nil))
        continue
      }
      let start = random.below(lengths[revision])
      let end = random.between(start, lengths[revision])
      comments.append(
        Self.comment(number, at: CommentAnchor(revision: revision, start: start, end: end)))
    }
    let ledger = Ledger(operations: operations, all: comments)
    let revision = random.below(operations.count + 1)
    guard case .list(let list) = try ledger.reply(to: .list(at: revision)) else {
      Issue.record("no list")
      return
    }
    for (comment, found) in zip(comments, list.comments) {
      var alone = comment.anchor
      while let anchor = alone, !(comment.anchor?.isDeleted ?? true), anchor.revision < revision {
        alone?.pass(operations[anchor.revision])
      }
      #expect(found.anchor == alone, "\(comment.id)")
    }
  }

  @Test("moving many ranges over a long log costs the sum of both, not the product")
  func growth() {
    let law = GrowthLaw("move ranges", size: 200) { size in
      var operations: [TextOperation] = []
      for index in 0..<size * 4 {
        var operation = TextOperation()
        operation.retain(index)
        operation.insert("x")
        operation.retain(1_000)
        operations.append(operation)
      }
      return Ledger(
        operations: operations,
        all: (0..<size).map {
          Self.comment($0, at: CommentAnchor(revision: 0, start: 0, end: 1 + $0 % 999))
        })
    } run: { ledger in
      guard case .list(let list)? = try? ledger.reply(to: .list(at: nil)) else {
        preconditionFailure("no list")
      }
      precondition(list.comments.count == ledger.all.count)
    }
    let finding = law.check()
    #expect(finding.holds, "\(finding)")
  }
}
