import ParleyGatewayPorts
import OTCore
import ParleyOTWorkloads

/// Requirements for comments of notes.
extension DocumentStoreConformance {
  static let comments: [ConformanceCheck] = [
    ConformanceCheck("a comment is there after a restart, for its note alone") { rig in
      try rig.create("n")
      try rig.create("m")
      try rig.append("n", entry(1, op("Größe 🐦 x")))
      let quoted = try rig.comment("n", .quote(epoch: StoreRig.epoch, anchor(1, 6, 7)))
      try expect(
        quoted, .quoted(epoch: StoreRig.epoch, quote: "🐦", anchor(1, 6, 7)), "the words")
      var first = remark("a", on: anchor(1, 6, 7), "🐦")
      first.text = "Né\u{301} \"<b>\" \u{0}\n"
      try expect(rig.comment("n", .add(first, countMax: 9)), .kept(first), "the comment")
      let answer = Comment(
        id: "b", thread: "a", author: "Bob", person: nil, text: "yes", createdAt: 11)
      try expect(rig.comment("n", .add(answer, countMax: 9)), .kept(answer), "the answer")
      try rig.restart()
      rig.maintain()
      try expect(rig.comments("n").comments, [first, answer], "the note's")
      try expect(rig.comments("m").comments, [], "the other note's")
      for work in [CommentRequest.Work.list(at: nil), .add(first, countMax: 9)] {
        try expect(
          rig.error(.comments(CommentRequest(note: "x", work))), .unknownDocument,
          "the error of a note that is not there")
      }
    },
    ConformanceCheck("an invalid range, or one of another log, is not quoted") { rig in
      try rig.create("n")
      try rig.append("n", entry(1, op("abc")))
      for range in [anchor(1, 0, 4), anchor(1, 2, 2), anchor(1, -1, 1), anchor(1, 2, 1)] {
        try expect(
          rig.comment("n", .quote(epoch: nil, range)), .badRange(length: 3), "the reply")
      }
      try expect(
        rig.comment("n", .quote(epoch: nil, anchor(2, 0, 1))), .futureRevision(head: 1),
        "a later revision")
      try expect(
        rig.comment("n", .quote(epoch: "other", anchor(1, 0, 1))), .otherEpoch, "another epoch")
      try rig.done(.renewEpoch(id: "n", from: StoreRig.epoch, to: "second"))
      let late = remark("a", on: anchor(1, 0, 1), "a")
      try expect(rig.comment("n", .add(late, countMax: 9)), .otherEpoch, "one of the former epoch")
    },
    ConformanceCheck("a comment's range moves with the text, also over what is compacted away") {
      rig in
      try rig.create("n")
      try rig.append("n", entry(1, op("one two three")))
      let first = remark("a", on: anchor(1, 4, 7), "two")
      _ = try rig.comment("n", .add(first, countMax: 9))
      // Before the range, at its start, within it, and at its end.
      try rig.append("n", entry(2, op("AA", 13)), entry(3, op(6, "B", 9)))
      try rig.append("n", entry(4, op(8, "C", 8)), entry(5, op(11, "D", 6)))
      try expect(rig.comments("n").comments[0].anchor, anchor(5, 7, 11), "the range")
      try expect(rig.comments("n", at: 3).comments[0].anchor, anchor(3, 7, 10), "the range before")
      try expect(rig.comments("n", at: 3).revision, 3, "the revision of the list")
      try expect(rig.comment("n", .list(at: 6)), .futureRevision(head: 5), "a revision yet to come")
      try rig.compact("n", through: 4)
      rig.maintain()
      try rig.restart()
      rig.maintain()
      let list = try rig.comments("n", at: 2)
      try expect(list.comments[0].anchor, anchor(4, 7, 11), "the range at the oldest revision")
      try expect(list.comments[0].origin, first.origin, "the range it was made on")
      try expect(rig.comments("n").comments[0].anchor, anchor(5, 7, 11), "the range then")
      try rig.append("n", entry(6, op(6, -6, 6)))
      let gone = try rig.comments("n").comments[0]
      try expect(gone.anchor?.isDeleted, true, "whether its text is gone")
      try expect(gone.origin?.quote, "two", "the words that it was made on")
      try rig.append("n", entry(7, op(6, "two", 6)))
      try expect(rig.comments("n").comments[0].anchor?.isDeleted, true, "whether it stays gone")
    },
    ConformanceCheck("comments are edited by their authors, and deleted by managers too") { rig in
      try rig.create("n")
      try rig.append("n", entry(1, op("abc")))
      let first = remark("a", on: anchor(1, 0, 1), "a")
      _ = try rig.comment("n", .add(first, countMax: 2))
      let ann = ChangeActor(person: "ann", name: "Ann", manages: false)
      let bob = ChangeActor(person: "bob", name: "Bob", manages: false)
      let guest = ChangeActor(person: nil, name: "G", manages: false)
      let boss = ChangeActor(person: "boss", name: "Boss", manages: true)
      for actor in [bob, guest, boss] {
        try expect(
          rig.comment("n", .edit("a", text: "x", by: actor, time: 20)), .notOwn, "another's edit")
      }
      for actor in [bob, guest] {
        try expect(rig.comment("n", .remove("a", by: actor)), .notOwn, "another's deletion")
      }
      var edited = first
      edited.text = "new"
      edited.editedAt = 20
      try expect(
        rig.comment("n", .edit("a", text: "new", by: ann, time: 20)), .kept(edited), "the edit")
      try expect(
        rig.comment("n", .edit("a", text: "new", by: ann, time: 30)), .unchanged(edited),
        "the same edit again")
      edited.resolution = Comment.Resolution(author: "Bob", time: 40)
      for expected in [CommentReply.kept(edited), .unchanged(edited)] {
        try expect(
          rig.comment("n", .resolve("a", true, by: bob, time: 40)), expected, "the resolution")
      }
      let answer = Comment(
        id: "b", thread: "a", author: "G", person: nil, text: "yes", createdAt: 50)
      _ = try rig.comment("n", .add(answer, countMax: 2))
      try expect(
        rig.comment("n", .edit("b", text: "x", by: guest, time: 60)), .notOwn, "a guest's edit")
      try expect(
        rig.comment("n", .resolve("b", true, by: bob, time: 60)), .unknownComment,
        "the resolution of an answer")
      let more = Comment(
        id: "c", thread: "a", author: "G", person: nil, text: "no", createdAt: 51)
      try expect(rig.comment("n", .add(more, countMax: 2)), .full(count: 2), "one too many")
      let lost = Comment(id: "d", thread: "b", author: "", person: nil, text: "x", createdAt: 52)
      try expect(rig.comment("n", .add(lost, countMax: 9)), .unknownComment, "an answer's answer")
      // A comment with replies remains without its text until the last reply is deleted.
      _ = try rig.comment("n", .remove("a", by: ann))
      try rig.restart()
      let left = try rig.comments("n").comments
      try expect(left.map(\.id), ["a", "b"], "those left")
      try expect(left[0].isWithdrawn && left[0].text.isEmpty, true, "whether its words are gone")
      try expect(rig.comment("n", .remove("a", by: ann)), .unknownComment, "a second deletion")
      _ = try rig.comment("n", .remove("b", by: boss))
      try expect(rig.comments("n").comments, [], "those left then")
    },
    ConformanceCheck("a restored note has the comments that it had when it was deleted") {
      rig in
      try rig.create("n")
      try rig.append("n", entry(1, op("abc")))
      let first = remark("a", on: anchor(1, 0, 1), "a")
      _ = try rig.comment("n", .add(first, countMax: 9))
      try rig.delete("n", at: 5)
      rig.maintain()
      try rig.restart()
      rig.maintain()
      try rig.create("n")
      try expect(rig.comments("n").comments, [], "a new note's comments")
      try rig.delete("n")
      rig.maintain()
      try rig.bringBack("n")
      try expect(rig.comments("n").comments, [first], "the comments")
      try rig.delete("n")
      rig.maintain()
    },
    ConformanceCheck("ranges move as carets do, over edits, restarts, compactions and epochs") {
      rig in
      for seed in UInt64(1)...8 { try follow(rig, seed) }
    },
  ]

  /// Makes random edits to a note, and compares its comments' ranges with ranges moved like carets.
  private static func follow(_ rig: StoreRig, _ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let id: DocumentID = "seed-\(seed)"
    try rig.create(id)
    let text = RandomTexts.text(scalars: 12, using: &random) + "some words"
    try rig.append(id, entry(1, op(.text(text))))
    var length = text.unicodeScalars.count
    var (revision, epoch) = (1, StoreRig.epoch)
    var expected: [CommentID: CommentAnchor] = [:]
    for step in 0..<30 {
      let operation = TextOperation.random(length: length, using: &random)
      length = operation.targetLength
      revision += 1
      try rig.done(
        rig.perform(.append(id: id, epoch: epoch, entries: [entry(revision, operation)]))[0])
      for key in expected.keys { expected[key]?.passByHand(operation) }
      if step % 3 == 0, length > 1 {
        let start = random.below(length)
        let end = start + 1 + random.below(length - start)
        let range = anchor(revision, start, end)
        expected["c\(step)"] = range
        var made = remark("c\(step)", on: range, "q")
        made.origin?.epoch = epoch
        try expect(rig.comment(id, .add(made, countMax: 99)), .kept(made), "seed \(seed)")
      }
      if step % 11 == 10 {
        let next: Epoch = "epoch-\(step)"
        try rig.done(.renewEpoch(id: id, from: epoch, to: next))
        epoch = next
        try rig.compact(id, through: revision - 2)
        rig.maintain()
        try rig.restart()
      }
      if step % 7 == 6 {
        for comment in try rig.comments(id).comments {
          let range = try required(expected[comment.id])
          let anchor = try required(comment.anchor)
          try expect(anchor.isDeleted, range.isDeleted, "whether it is gone, seed \(seed)")
          if !range.isDeleted { try expect(anchor, range, "the range, seed \(seed)") }
        }
      }
    }
  }

  private static func required<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw ConformanceFailure("a comment that was never made") }
    return value
  }
}

private func anchor(_ revision: Int, _ start: Int, _ end: Int) -> CommentAnchor {
  CommentAnchor(revision: revision, start: start, end: end)
}

private func remark(_ id: CommentID, on range: CommentAnchor, _ quote: String) -> Comment {
  Comment(
    id: id, author: "Ann", person: "ann", text: "why?", createdAt: 10,
    origin: Comment.Origin(epoch: StoreRig.epoch, anchor: range, quote: quote), anchor: range)
}

extension CommentAnchor {
  /// Moves the range like two carets: the start over own edits, the end over edits of another user.
  fileprivate mutating func passByHand(_ operation: TextOperation) {
    revision += 1
    guard !isDeleted else { return }
    let first = Selection(anchor: start, head: start).transformed(over: operation, own: true)
    let last = Selection(anchor: end, head: end).transformed(over: operation, own: false)
    (start, end) = (min(first.head, last.head), last.head)
  }
}

extension StoreRig {
  func comment(_ id: DocumentID, _ work: CommentRequest.Work) throws -> CommentReply {
    let reply = try perform(.comments(CommentRequest(note: id, work)))[0]
    guard case .comments(let comments) = reply
    else { throw unexpected(reply, "a reply about comments") }
    return comments
  }

  func comments(_ id: DocumentID, at revision: Int? = nil) throws -> CommentList {
    let reply = try comment(id, .list(at: revision))
    guard case .list(let list) = reply else { throw unexpected(reply, "comments") }
    return list
  }
}
