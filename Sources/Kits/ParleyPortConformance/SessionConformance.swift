import ParleyGatewayPorts

/// Requirements for sessions of signed-in users, and for links to notes.
extension DocumentStoreConformance {
  private static let rule = SessionRule(idleMilliseconds: 1_000, graceMilliseconds: 100)

  private static func session(
    _ id: String, of user: String = "ada", at time: Timestamp = 0, endsAt: Timestamp = 5_000
  ) -> Session {
    Session(
      id: id, user: user, begunAt: time, endsAt: endsAt,
      device: Session.Device(browser: "Firefox", system: "Gr\u{f6}\u{df}e \u{1f426}"), rule)
  }

  static let sessions: [ConformanceCheck] = [
    ConformanceCheck("a session is there after a restart, for its user alone") { rig in
      let own = session("s.1")
      try expect(rig.login(.begin(own, countMax: 9)), .begun(ended: []), "the beginning")
      try rig.restart()
      try expect(rig.login(.list(user: "ada", now: 1)), .sessions([own]), "hers")
      try expect(rig.login(.list(user: "Ada", now: 1)), .sessions([]), "another's")
      try expect(rig.login(.list(user: "ada", now: 1_000)), .sessions([]), "when it is over")
    },
    ConformanceCheck("each refresh token is exchanged once; a second time is reported") {
      rig in
      var own = session("s.1")
      _ = try rig.login(.begin(own, countMax: 9))
      _ = own.renew(turn: 1, now: 500, rule)
      try expect(rig.renew("s.1", turn: 1, at: 500), .renewed(own, .renewed), "the first exchange")
      try rig.restart()
      try expect(rig.renew("s.1", turn: 1, at: 600), .renewed(own, .repeated), "a lost answer")
      _ = own.renew(turn: 2, now: 900, rule)
      try expect(rig.renew("s.1", turn: 2, at: 900), .renewed(own, .renewed), "the second exchange")
      try expect(rig.renew("s.1", turn: 1, at: 901), .renewed(own, .reused), "a stolen token")
      try rig.restart()
      try expect(rig.renew("s.1", turn: 1, at: 901), .renewed(own, .reused), "until it is ended")
      _ = try rig.login(.end(user: "ada", .one("s.1")))
      try expect(rig.renew("s.1", turn: 3, at: 902), .unknown, "the token that counted")
      try expect(rig.login(.list(user: "ada", now: 902)), .sessions([]), "the sessions")
    },
    ConformanceCheck("a session's token of another user is invalid") { rig in
      _ = try rig.login(.begin(session("s.1"), countMax: 9))
      try expect(rig.renew("s.1", of: "bea", turn: 1, at: 1), .unknown, "the reply")
      try expect(rig.renew("s.2", turn: 1, at: 1), .unknown, "one that is not there")
    },
    ConformanceCheck("of too many sessions those go that were not used for longest") { rig in
      for number in 1...3 {
        _ = try rig.login(.begin(session("s.\(number)", at: Timestamp(number)), countMax: 3))
      }
      _ = try rig.login(.begin(session("b.1", of: "bea"), countMax: 3))
      _ = try rig.renew("s.1", turn: 1, at: 50)
      let reply = try rig.login(.begin(session("s.4", at: 60), countMax: 3))
      try expect(reply, .begun(ended: [session("s.2", at: 2)]), "those that end")
      try expect(rig.sessionIDs("ada", at: 70), ["s.4", "s.1", "s.3"], "those that stay")
      try expect(rig.sessionIDs("bea", at: 70), ["b.1"], "another user's")
    },
    ConformanceCheck("sessions are ended one by one, all but one, or all") { rig in
      for number in 1...4 {
        _ = try rig.login(.begin(session("s.\(number)", at: Timestamp(number)), countMax: 9))
      }
      try expect(rig.login(.end(user: "bea", .one("s.1"))), .ended([]), "another's")
      try expect(
        rig.login(.end(user: "ada", .one("s.1"))), .ended([session("s.1", at: 1)]), "one")
      _ = try rig.login(.end(user: "ada", .others(than: "s.3")))
      try rig.restart()
      try expect(rig.sessionIDs("ada", at: 5), ["s.3"], "all but one")
      try expect(rig.login(.end(user: "ada", .all)), .ended([session("s.3", at: 3)]), "all")
      try expect(rig.sessionIDs("ada", at: 5), [], "those that stay")
    },
    ConformanceCheck(
      "a link is opened by its key alone, as long as it counts and its note is there"
    ) { rig in
      try rig.create("n")
      let link = noteLink("l.1", to: "n", at: 10)
      try expect(rig.link(.make(link, key: "one", countMax: 2)), .made, "the making")
      try expect(rig.link(.make(link, key: "one", countMax: 2)), .made, "the same again")
      try rig.restart()
      try expect(rig.link(.open(key: "one", now: 20)), .link(link, title: "A note"), "the link")
      try expect(rig.link(.open(key: "One", now: 20)), .unknown, "another key")
      try expect(rig.link(.open(key: "one", now: 110)), .unknown, "when its time is over")
      try expect(
        rig.error(.links(.make(noteLink("l.9", to: "x", at: 10), key: "x", countMax: 2))),
        .unknownDocument, "a link to nothing")
      try rig.delete("n")
      try expect(rig.link(.open(key: "one", now: 20)), .unknown, "when its note is gone")
    },
    ConformanceCheck("links of a note are listed, bounded and ended") { rig in
      try rig.create("n")
      try rig.create("m")
      let links = (1...3).map { noteLink("l.\($0)", to: "n", at: Timestamp($0)) }
      for link in links { _ = try rig.link(.make(link, key: "k" + link.id, countMax: 3)) }
      let more = noteLink("l.4", to: "n", at: 4)
      try expect(rig.link(.make(more, key: "k4", countMax: 3)), .tooMany, "one more")
      let other = noteLink("l.5", to: "m", at: 5)
      try expect(rig.link(.make(other, key: "k5", countMax: 3)), .made, "another note's")
      try expect(
        rig.link(.list(note: "n", now: 6)), .links(links.reversed(), in: FolderPath.none),
        "the list")
      try expect(rig.link(.end(note: "m", id: "l.1")), .ended([]), "by another note")
      try expect(rig.link(.end(note: "n", id: "l.1")), .ended([links[0]]), "one")
      try expect(rig.link(.open(key: "kl.1", now: 6)), .unknown, "its key")
      _ = try rig.link(.end(note: "n", id: nil))
      let folder = try rig.move("m", to: "team").folder
      try rig.restart()
      try expect(
        rig.link(.list(note: "n", now: 6)), .links([], in: FolderPath.none), "those that stay")
      try expect(
        rig.link(.list(note: "m", now: 6)), .links([other], in: folder), "the other note's")
      try expect(rig.link(.list(note: "x", now: 6)), .links([], in: nil), "those of no note")
      try expect(rig.error(.links(.end(note: "x", id: nil))), .unknownDocument, "of no note")
    },
    ConformanceCheck("a link counts until its time is over, and ends with its note's name") { rig in
      try rig.create("n")
      try rig.create("m")
      // More links than one request deletes.
      for number in 1...200 {
        let link = noteLink("m\(number)", to: "m", at: 1)
        try expect(rig.link(.make(link, key: link.id, countMax: 999)), .made, "another note's")
      }
      let over = noteLink("l.1", to: "n", at: 2)
      try expect(rig.link(.make(over, key: "one", countMax: 1)), .made, "the first")
      let link = noteLink("l.2", to: "n", at: 150)
      try expect(rig.link(.make(link, key: "two", countMax: 1)), .made, "one after its time")
      let more = noteLink("l.3", to: "n", at: 151)
      try expect(rig.link(.make(more, key: "three", countMax: 1)), .tooMany, "one more")
      try rig.delete("n", at: 160)
      try rig.bringBack("n")
      let open = LinkRequest.open(key: "two", now: 170)
      try expect(rig.link(open), .link(link, title: "A note"), "brought back")
      try rig.delete("n", at: 180)
      try rig.create("n")
      try expect(rig.link(.open(key: "two", now: 190)), .unknown, "another note of the name")
      try expect(
        rig.link(.list(note: "n", now: 190)), .links([], in: FolderPath.none), "its links")
    },
  ]

  private static func noteLink(_ id: String, to note: DocumentID, at time: Timestamp) -> NoteLink {
    NoteLink(
      id: id, note: note, access: .comment, maker: "ada", createdAt: time, expiresAt: time + 100)
  }
}

extension StoreRig {
  func login(_ request: SessionRequest) throws -> SessionReply {
    let reply = try perform(.logins(request))[0]
    guard case .logins(let logins) = reply
    else { throw unexpected(reply, "a reply about sessions") }
    return logins
  }

  func renew(
    _ id: String, of user: String = "ada", turn: Int, at time: Timestamp
  ) throws -> SessionReply {
    try login(
      .renew(
        id: id, user: user, turn: turn, now: time,
        SessionRule(idleMilliseconds: 1_000, graceMilliseconds: 100)))
  }

  func sessionIDs(_ user: String, at time: Timestamp) throws -> [String] {
    guard case .sessions(let sessions) = try login(.list(user: user, now: time)) else { return [] }
    return sessions.map(\.id)
  }

  func link(_ request: LinkRequest) throws -> LinkReply {
    let reply = try perform(.links(request))[0]
    guard case .links(let links) = reply else { throw unexpected(reply, "a reply about links") }
    return links
  }
}
