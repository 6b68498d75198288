import Gateway
import ParleyGatewayPorts
import OTCore
import Testing

@Suite("One document's log in memory")
struct LiveDocumentTests {
  static func document(
    _ text: String = "", revision: Int = 0, marks: [String: ClientMark] = [:],
    isShared: Bool = false
  ) -> LiveDocument {
    LiveDocument(
      StoredDocument(
        summary: NoteSummary(
          id: "note", title: "Note", revision: revision, createdAt: 0, updatedAt: 0),
        epoch: "epoch", content: NoteContent(text), recent: [], marks: marks,
        chain: isShared ? LogChain(high: 0, low: 0) : nil))
  }

  static func insertion(
    _ text: String, at position: Int, of length: Int, client: String = "ada", sequence: Int = 1,
    revision: Int = 0
  ) -> LiveDocument.Submission {
    var operation = TextOperation()
    operation.retain(position)
    operation.insert(text)
    operation.retain(length - position)
    return LiveDocument.Submission(
      client: client, sequence: sequence, revision: revision, operation: operation, author: client,
      time: 0)
  }

  static let scalarsMax = 100

  @Test("a change is not visible before its commit")
  func tentative() throws {
    var document = Self.document()
    #expect(
      document.submit(Self.insertion("X", at: 0, of: 0), scalarsMax: Self.scalarsMax)
        == .accepted(revision: 1))
    #expect(document.durableRevision == 0)
    #expect(document.durableDocument.text.isEmpty)
    #expect(document.takeCommit()?.map(\.revision) == [1])
    #expect(document.takeCommit() == nil)
    #expect(document.commitSucceeded().map(\.revision) == [1])
    #expect(document.durableRevision == 1)
    #expect(document.durableDocument.text.utf8.elementsEqual("X".utf8))
  }

  @Test("a committed insertion stays left: Whaler's divergence case")
  func tieRule() throws {
    var document = Self.document()
    _ = document.submit(
      Self.insertion("X", at: 0, of: 0, client: "A"), scalarsMax: Self.scalarsMax)
    _ = document.takeCommit()
    _ = document.commitSucceeded()
    #expect(
      document.submit(
        Self.insertion("Y", at: 0, of: 0, client: "B"), scalarsMax: Self.scalarsMax)
        == .accepted(revision: 2))
    _ = document.takeCommit()
    let entries = document.commitSucceeded()
    var expected = TextOperation()
    expected.retain(1)
    expected.insert("Y")
    #expect(entries.first?.operation == expected)
    #expect(document.durableDocument.text.utf8.elementsEqual("XY".utf8))
  }

  @Test("changes that arrive during a commit share the next one")
  func groupCommit() {
    var document = Self.document()
    _ = document.submit(
      Self.insertion("a", at: 0, of: 0, client: "A"), scalarsMax: Self.scalarsMax)
    #expect(document.takeCommit()?.count == 1)
    for client in ["B", "C", "D"] {
      _ = document.submit(
        Self.insertion("x", at: 0, of: 0, client: client), scalarsMax: Self.scalarsMax)
    }
    #expect(document.takeCommit() == nil)
    #expect(document.commitSucceeded().count == 1)
    #expect(document.takeCommit()?.map(\.revision) == [2, 3, 4])
  }

  @Test("a failed commit reverts all changes built on it")
  func rollBack() {
    var document = Self.document("ab", revision: 7)
    _ = document.submit(
      Self.insertion("x", at: 1, of: 2, client: "A", revision: 7), scalarsMax: Self.scalarsMax)
    _ = document.takeCommit()
    _ = document.submit(
      Self.insertion("y", at: 1, of: 2, client: "B", revision: 7), scalarsMax: Self.scalarsMax)
    #expect(document.commitFailed().map(\.client) == ["A", "B"])
    #expect(document.headRevision == 7)
    #expect(document.isSettled)
    #expect(document.durableDocument.text.utf8.elementsEqual("ab".utf8))
    // Both clients may resend the same change under the same sequence number.
    #expect(
      document.submit(
        Self.insertion("x", at: 1, of: 2, client: "A", revision: 7), scalarsMax: Self.scalarsMax)
        == .accepted(revision: 8))
  }

  @Test("a repeated change gets its revision again")
  func duplicate() {
    var document = Self.document()
    let change = Self.insertion("x", at: 0, of: 0)
    #expect(document.submit(change, scalarsMax: Self.scalarsMax) == .accepted(revision: 1))
    #expect(document.submit(change, scalarsMax: Self.scalarsMax) == .duplicatePending)
    _ = document.takeCommit()
    _ = document.commitSucceeded()
    #expect(document.submit(change, scalarsMax: Self.scalarsMax) == .duplicate(revision: 1))
    #expect(document.lastDurableSequence(of: "ada") == 1)
  }

  @Test("the same number with other content is refused")
  func reused() {
    var document = Self.document()
    _ = document.submit(Self.insertion("x", at: 0, of: 0), scalarsMax: Self.scalarsMax)
    #expect(
      document.submit(Self.insertion("y", at: 0, of: 0), scalarsMax: Self.scalarsMax)
        == .refused(.sequenceReused(last: 1)))
  }

  @Test("a mark from the store prevents a repeated change")
  func markFromStore() {
    let probe = Self.insertion("x", at: 0, of: 0)
    var first = Self.document()
    _ = first.submit(probe, scalarsMax: Self.scalarsMax)
    _ = first.takeCommit()
    let entry = first.commitSucceeded().first
    var second = Self.document(
      "x", revision: 1,
      marks: ["ada": ClientMark(sequence: 1, revision: 1, digest: entry?.digest ?? 0)])
    #expect(second.submit(probe, scalarsMax: Self.scalarsMax) == .duplicate(revision: 1))
  }

  @Test("wrong numbers and lengths are refused and change nothing")
  func refusals() {
    var document = Self.document("abc", revision: 3)
    func outcome(
      sequence: Int = 1, revision: Int = 3, length: Int = 3, text: String = "x"
    ) -> LiveDocument.Outcome {
      document.submit(
        Self.insertion(text, at: 0, of: length, sequence: sequence, revision: revision),
        scalarsMax: Self.scalarsMax)
    }
    #expect(outcome(sequence: 2) == .refused(.sequenceGap(expected: 1)))
    #expect(outcome(revision: 4) == .refused(.futureRevision(head: 3)))
    #expect(outcome(revision: -1) == .refused(.negativeRevision))
    #expect(outcome(length: 2) == .refused(.lengthMismatch(expected: 3, found: 2)))
    #expect(
      outcome(text: String(repeating: "x", count: 98)) == .refused(.documentFull(scalarsMax: 100)))
    #expect(outcome(revision: 1) == .needsHistory(after: 1, through: 3))
    #expect(document.headRevision == 3)
    #expect(document.isSettled)
  }

  @Test("older entries can be added before the window")
  func history() {
    var document = Self.document("ab", revision: 2)
    let late = Self.insertion("z", at: 1, of: 1, revision: 1)
    #expect(
      document.submit(late, scalarsMax: Self.scalarsMax) == .needsHistory(after: 1, through: 2))
    var second = TextOperation()
    second.retain(1)
    second.insert("b")
    document.prepend([
      LogEntry(
        revision: 2, client: "B", sequence: 1, digest: 0, operation: second, author: "B", time: 0)
    ])
    #expect(document.oldestBase == 1)
    #expect(document.submit(late, scalarsMax: Self.scalarsMax) == .accepted(revision: 3))
    _ = document.takeCommit()
    _ = document.commitSucceeded()
    #expect(document.durableDocument.text.utf8.elementsEqual("abz".utf8))
  }

  @Test("a change is rebased over a limited number of components")
  func historyComponents() {
    var document = Self.document()
    for step in 0..<4 {
      // The first is one component, the others two each.
      _ = document.submit(
        Self.insertion("x", at: 0, of: step, sequence: step + 1, revision: step),
        scalarsMax: Self.scalarsMax)
      _ = document.takeCommit()
      _ = document.commitSucceeded()
    }
    func late(_ revision: Int) -> LiveDocument.Submission {
      Self.insertion("y", at: 0, of: revision, client: "bob", revision: revision)
    }
    let before = document.headRevision
    for (revision, components) in [(0, 7), (1, 6), (3, 2)] {
      #expect(
        document.submit(
          late(revision), scalarsMax: Self.scalarsMax, historyComponentsMax: components - 1)
          == .tooMuchHistory)
    }
    #expect(document.headRevision == before)
    #expect(
      document.submit(late(0), scalarsMax: Self.scalarsMax, historyComponentsMax: 7)
        == .accepted(revision: before + 1))
  }

  @Test("the window is trimmed, but keeps the entries that pending changes need")
  func trim() {
    var document = Self.document()
    for step in 0..<10 {
      _ = document.submit(
        Self.insertion("x", at: 0, of: step, sequence: step + 1, revision: step),
        scalarsMax: Self.scalarsMax)
      _ = document.takeCommit()
      _ = document.commitSucceeded()
    }
    document.trim(keeping: 3)
    #expect(document.oldestBase == 7)
    #expect(document.durableEntries(after: 8).map(\.revision) == [9, 10])
  }

  /// Otherwise a change that lost a race would be rejected through no fault of its author.
  @Test("in a shared log, entries since the base of pending changes are kept, up to a limit")
  func trimSharedLog() {
    for basesMax in [100, 5, 0] {
      var document = Self.document(isShared: true)
      for step in 0..<4 { Self.adopt(step, by: &document) }
      _ = document.submit(
        Self.insertion("y", at: 0, of: 4, client: "ben", revision: 4), scalarsMax: Self.scalarsMax)
      for step in 4..<14 {
        let sent = document.withdraw()
        Self.adopt(step, by: &document)
        for change in sent {
          _ = document.submit(change.submission, scalarsMax: Self.scalarsMax)
        }
      }
      document.trim(keeping: 3, forBases: basesMax)
      #expect((document.oldestBase == 4) == (basesMax == 100))
      let waiting = document.withdraw()
      #expect(waiting.count == 1)
      Self.adopt(14, by: &document)
      let outcome = document.submit(waiting[0].submission, scalarsMax: Self.scalarsMax)
      if basesMax == 100 {
        #expect(outcome == .accepted(revision: 16))
      } else {
        #expect(outcome == .needsHistory(after: 4, through: document.oldestBase))
      }
    }
  }

  /// Adopts another node's insertion at the start of a text of `step` letters.
  private static func adopt(_ step: Int, by document: inout LiveDocument) {
    var operation = TextOperation()
    operation.insert("x")
    operation.retain(step)
    _ = document.adopt(
      [
        LogEntry(
          revision: step + 1, client: "ada", sequence: step + 1, digest: 1, operation: operation,
          author: "Ada", time: 0)
      ], chain: LogChain(high: 1, low: UInt64(step)))
  }

  @Test("a repeatable change has the digest that is stored in logs")
  func keptDigest() {
    let submission = LiveDocument.Submission(
      client: "ada", sequence: 1, revision: 3,
      operation: [.retain(1), .insert("é\n\u{1}\\"), .delete(2)], author: "Ada", time: 0)
    #expect(LiveDocument.digest(of: submission) == 0x8058_4b6e_07d0_d78e)
  }

  @Test("a long change stored by an earlier version is recognised, and no other change is")
  func formerDigest() {
    let text = String(repeating: "é\n", count: 30_000)
    let change = Self.insertion(text, at: 0, of: 0)
    // FNV-1a over the revision and the JSON form.
    var former: UInt64 = 0xcbf2_9ce4_8422_2325
    var json: [UInt8] = []
    change.operation.appendJSON(to: &json)
    for byte in [UInt8](repeating: 0, count: 8) + json {
      former = (former ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }
    #expect(LiveDocument.digest(of: change) != former)
    for digest in [former, LiveDocument.digest(of: change), 1] {
      var document = Self.document(
        text, revision: 1,
        marks: ["ada": ClientMark(sequence: 1, revision: 1, digest: digest)])
      #expect(
        document.submit(change, scalarsMax: Self.scalarsMax)
          == (digest == 1 ? .refused(.sequenceReused(last: 1)) : .duplicate(revision: 1)))
    }
  }

  @Test("a change that is never sent again is recognised by its digest")
  func passingDigest() {
    var digests: Set<UInt64> = []
    let texts = ["", "a", "b", "ab", "12345678", "123456789", "123456780", "\u{0}", "\u{0}\u{0}"]
    for revision in 0..<3 {
      for text in texts {
        for length in 1..<3 {
          var submission = Self.insertion(text, at: 1, of: length, revision: revision)
          submission.isResendable = false
          digests.insert(LiveDocument.digest(of: submission))
          #expect(digests.contains(LiveDocument.digest(of: submission)))
        }
      }
    }
    #expect(digests.count == 3 * texts.count * 2)
  }
}
