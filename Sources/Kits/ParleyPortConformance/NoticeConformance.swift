import ParleyGatewayPorts
import OTCore

/// Requirements for notices.
extension DocumentStoreConformance {
  private static func mention(
    _ comment: CommentID, in note: DocumentID = "n", at time: Timestamp = 1,
    for people: PersonID...
  ) -> NoticeDraft {
    NoticeDraft(
      Notice(
        kind: .mention, note: note, comment: comment, thread: "t",
        author: "Gr\u{f6}\u{df}e \u{1f426}", time: time), for: people)
  }

  private static func shared(
    _ note: DocumentID, at time: Timestamp = 1, for people: PersonID...
  ) -> NoticeDraft {
    NoticeDraft(Notice(kind: .shared, note: note, author: "", time: time), for: people)
  }

  static let notices: [ConformanceCheck] = [
    ConformanceCheck("notices are there after a restart, the newest first, each for its person") {
      rig in
      try rig.create("n")
      for number in 1...5 {
        try rig.add(mention("c\(number)", at: Timestamp(number), for: "ann", "Ann", "__proto__"))
      }
      try rig.restart()
      let (all, end) = try rig.notices(of: "ann")
      try expect(all.map(\.notice.comment), ["c5", "c4", "c3", "c2", "c1"], "the notices")
      try expect(end, nil, "the end")
      var newest = mention("c5", at: 5, for: "ann").notice
      newest.number = all[0].notice.number
      try expect(all[0].notice, newest, "all fields")
      try expect(all[0].folder, .none, "the folder")
      let (first, next) = try rig.notices(of: "ann", limit: 2)
      try expect(first.map(\.notice.comment), ["c5", "c4"], "the first page")
      let (second, then) = try rig.notices(of: "ann", before: next, limit: 2)
      try expect(second.map(\.notice.comment), ["c3", "c2"], "the second page")
      let (third, last) = try rig.notices(of: "ann", before: then, limit: 2)
      try expect(third.map(\.notice.comment), ["c1"], "the third page")
      try expect(last, nil, "the end of the pages")
      try expect(try rig.notices(of: "Ann").list.count, 5, "another person's")
      try expect(try rig.notices(of: "__proto__").list.count, 5, "a person with a special name")
      try expect(try rig.notices(of: "bob").list.count, 0, "a person's without any")
    },
    ConformanceCheck("notices are committed with their cause, or not at all") { rig in
      try rig.create("n")
      try rig.append("n", entry(1, op("abc")))
      let range = CommentAnchor(revision: 1, start: 0, end: 1)
      let first = Comment(
        id: "t", author: "Ann", person: "ann", text: "x", createdAt: 1,
        origin: Comment.Origin(epoch: StoreRig.epoch, anchor: range, quote: "a"), anchor: range)
      func adding(_ comment: Comment, countMax: Int) -> StoreRequest {
        .notifying(
          [mention(comment.id, for: "bob")],
          .comments(CommentRequest(note: "n", .add(comment, countMax: countMax))))
      }
      _ = try rig.perform([adding(first, countMax: 0)])
      try expect(try rig.notices(of: "bob").list.count, 0, "notices of a refused comment")
      var lost = first
      lost.thread = "missing"
      (lost.origin, lost.anchor) = (nil, nil)
      _ = try rig.perform([adding(lost, countMax: 9)])
      try expect(try rig.notices(of: "bob").list.count, 0, "notices of an unknown thread")
      let replies = try rig.perform([
        adding(first, countMax: 9), .notifying([mention("x", in: "m", for: "bob")], .note(id: "m")),
      ])
      guard case .comments(.kept) = replies[0] else {
        throw ConformanceFailure("expected the reply of the comment, got \(replies[0])")
      }
      try rig.restart()
      try expect(try rig.notices(of: "bob").list.map(\.notice.comment), ["t"], "the notices")
    },
    ConformanceCheck("a comment mentions a person once, also when the request is repeated") { rig in
      try rig.create("n")
      try rig.add(mention("c", for: "ann", "ann"))
      try rig.add(mention("c", for: "ann", "bob"))
      try expect(try rig.notices(of: "ann").list.count, 1, "notices of one comment")
      try expect(try rig.notices(of: "bob").list.count, 1, "notices of a further person")
      _ = try rig.markRead("ann", .all(through: .max))
      try rig.add(mention("c", for: "ann"))
      try expect(try rig.notices(of: "ann").list.count, 1, "notices after they were read")
      try rig.add(shared("n", for: "ann"))
      try rig.add(shared("n", for: "ann"))
      try expect(try rig.notices(of: "ann").list.count, 2, "unread notices of a right")
      _ = try rig.markRead("ann", .all(through: .max))
      try rig.add(shared("n", for: "ann"))
      try expect(try rig.notices(of: "ann").list.count, 3, "a notice of a right that came back")
    },
    ConformanceCheck("unread notices are counted by note, and marked by one, by note and all") {
      rig in
      try rig.create("n")
      try rig.create("m")
      for number in 1...3 { try rig.add(mention("c\(number)", for: "ann", "bob")) }
      try rig.add(mention("d", in: "m", for: "ann"))
      try expect(try rig.unread("ann"), ["n": 3, "m": 1], "the numbers")
      let list = try rig.notices(of: "ann").list.map(\.notice)
      try expect(try rig.markRead("bob", .one(list[0].number)), 0, "another person's notice")
      try expect(try rig.markRead("ann", .one(list[1].number)), 1, "one notice")
      try expect(try rig.markRead("ann", .one(list[1].number)), 0, "the same one again")
      try expect(try rig.unread("ann"), ["n": 2, "m": 1], "the numbers after one")
      let oldest = list[3].number
      try expect(try rig.markRead("ann", .ofNote("n", through: oldest)), 1, "those up to a number")
      try expect(try rig.markRead("ann", .ofNote("x", through: .max)), 0, "those of no note")
      try rig.restart()
      try expect(try rig.unread("ann"), ["n": 1, "m": 1], "the numbers after a restart")
      try expect(
        try rig.notices(of: "ann").list.map(\.notice.isRead), [false, true, false, true],
        "the marks")
      try expect(try rig.markRead("ann", .all(through: .max)), 2, "all")
      try expect(try rig.unread("ann"), [:], "the numbers at last")
      try expect(try rig.unread("bob"), ["n": 3], "the other person's")
    },
    ConformanceCheck("a deleted note has no notices until it is restored, and none once removed") {
      rig in
      try rig.create("n")
      try rig.add(mention("c", for: "ann"))
      try rig.done(.delete(id: "n", keeping: Deletion(time: 2, author: "Ann")))
      try expect(try rig.notices(of: "ann").list.count, 0, "notices while it is deleted")
      try expect(try rig.unread("ann"), [:], "the number while it is deleted")
      _ = try rig.perform([.deleted(.bringBack(id: "n"))])
      try expect(try rig.unread("ann"), ["n": 1], "the number after its restoration")
      try rig.done(.delete(id: "n"))
      rig.maintain()
      try rig.create("n")
      try expect(try rig.notices(of: "ann").list.count, 0, "notices of a later note")
      try rig.add(mention("c", in: "gone", for: "ann"))
      try expect(try rig.notices(of: "ann").list.count, 0, "notices of no note")
    },
    ConformanceCheck("a person has the newest notices up to a number, and all have bounds of time")
    { rig in
      try rig.create("n")
      let count = Notice.countMax + 5
      for start in stride(from: 1, through: count, by: 100) {
        let adds = (start...min(start + 99, count)).map { number in
          StoreRequest.notices(.add(mention("c\(number)", at: Timestamp(number), for: "ann")))
        }
        _ = try rig.perform(adds)
      }
      try rig.add(mention("b", at: Timestamp(count), for: "bob"))
      let all = try rig.notices(of: "ann", limit: 2_000).list.map(\.notice)
      try expect(all.count, Notice.countMax, "the number of notices")
      try expect(all.last?.comment, "c6", "the oldest")
      let rule = NoticeRule(milliseconds: 100, countMax: 10)
      try expect(try rig.trim(rule, at: 107, limit: 1), true, "whether more may be old")
      try expect(try rig.notices(of: "ann", limit: 2_000).list.last?.notice.comment, "c8", "then")
      while try rig.trim(rule, at: 200, limit: 100) {}
      try expect(try rig.notices(of: "ann", limit: 2_000).list.count, 9, "the newest of all")
      try expect(try rig.notices(of: "bob").list.count, 1, "another person's")
    },
    ConformanceCheck("all notices of a person are removed in portions, and no others") { rig in
      try rig.create("n")
      for number in 1...5 { try rig.add(mention("c\(number)", for: "ann", "bob")) }
      func remove() throws -> Bool {
        guard case .removed(let hasMore) = try rig.notices(.remove(of: "ann", limit: 3)) else {
          throw ConformanceFailure("expected removed")
        }
        return hasMore
      }
      try expect(try remove(), true, "whether more may remain")
      try expect(try remove(), false, "whether more may remain then")
      try rig.restart()
      try expect(try rig.notices(of: "ann").list.count, 0, "the person's")
      try expect(try rig.notices(of: "bob").list.count, 5, "another person's")
      try expect(try rig.unread("bob"), ["n": 5], "another person's number")
    },
    ConformanceCheck("the audience of a note is its folder and the writers of a thread") { rig in
      let folder = FolderPath(stored: "team/one")
      _ = try rig.perform([
        .create(id: "n", epoch: StoreRig.epoch, title: "", time: 7, folder: folder)
      ])
      try rig.append("n", entry(1, op("abc")))
      let range = CommentAnchor(revision: 1, start: 0, end: 1)
      let origin = Comment.Origin(epoch: StoreRig.epoch, anchor: range, quote: "a")
      func add(_ id: CommentID, in thread: CommentID?, by person: PersonID?) throws {
        let comment = Comment(
          id: id, thread: thread, author: "A", person: person, text: "x", createdAt: 1,
          origin: thread == nil ? origin : nil, anchor: thread == nil ? range : nil)
        _ = try rig.comment("n", .add(comment, countMax: 9))
      }
      try add("t", in: nil, by: "ann")
      try add("u", in: nil, by: "eve")
      for (id, person) in [("a", "bob"), ("b", "ann"), ("c", nil), ("d", "Bob")] {
        try add(id, in: "t", by: person.map { PersonID($0) })
      }
      func writers(_ thread: CommentID?) throws -> [String] {
        let reply = try rig.notices(.audience(note: "n", thread: thread))
        guard case .audience(let place, let createdAt, let writers) = reply else {
          throw ConformanceFailure("expected an audience, got \(reply)")
        }
        try expect(place, folder, "the folder")
        try expect(createdAt, 7, "the time")
        return writers.map(\.text).sorted()
      }
      try expect(try writers("t"), ["Bob", "ann", "bob"], "the writers")
      try expect(try writers("x"), [], "the writers of no thread")
      try expect(try writers(nil), [], "the writers without a thread")
      try expect(
        rig.error(.notices(.audience(note: "x", thread: nil))), .unknownDocument,
        "the error of a note that is not there")
    },
  ]
}

extension StoreRig {
  fileprivate func notices(_ request: NoticeRequest) throws -> NoticeReply {
    let reply = try perform([.notices(request)])[0]
    guard case .notices(let value) = reply else {
      throw ConformanceFailure("expected a reply about notices, got \(reply)")
    }
    return value
  }

  fileprivate func add(_ draft: NoticeDraft) throws {
    try expect(notices(.add(draft)), .added, "the addition")
  }

  fileprivate func notices(
    of person: PersonID, before: Int? = nil, limit: Int = 100
  ) throws -> (list: [ListedNotice], next: Int?) {
    let reply = try notices(.list(person, before: before, limit: limit))
    guard case .list(let list, let next) = reply else {
      throw ConformanceFailure("expected a list, got \(reply)")
    }
    return (list, next)
  }

  fileprivate func unread(_ person: PersonID) throws -> [DocumentID: Int] {
    guard case .unread(let counts) = try notices(.unread(person)) else {
      throw ConformanceFailure("expected numbers")
    }
    return Dictionary(uniqueKeysWithValues: counts.map { ($0.note, $0.count) })
  }

  fileprivate func markRead(_ person: PersonID, _ choice: NoticeChoice) throws -> Int {
    guard case .marked(let count) = try notices(.read(person, choice)) else {
      throw ConformanceFailure("expected a number")
    }
    return count
  }

  fileprivate func trim(_ rule: NoticeRule, at now: Timestamp, limit: Int) throws -> Bool {
    guard case .removed(let hasMore) = try notices(.trim(rule, now: now, limit: limit)) else {
      throw ConformanceFailure("expected removed")
    }
    return hasMore
  }
}
