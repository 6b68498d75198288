import ParleyGatewayPorts

/// Requirements for names of published notes.
extension DocumentStoreConformance {
  private static let rest = PublicName.reservedMilliseconds

  static let names: [ConformanceCheck] = [
    ConformanceCheck("a note is published under one name, which survives a restart") { rig in
      try rig.create("n")
      try expect(rig.name(.of(note: "n")), .name(nil, in: FolderPath.none), "before")
      let first = try publication("minutes-2026", of: "n")
      try expect(rig.publish(first), .published(first), "the publication")
      var again = first
      again.id = "l.p.other"
      again.createdAt += 1
      try expect(rig.publish(again), .published(first), "the same name again")
      try rig.restart()
      try expect(rig.open("minutes-2026"), .note(first, title: "A note"), "by its name")
      try expect(rig.open("minutes-2027"), .unknown, "by another name")
      try expect(rig.name(.of(note: "n")), .name(first, in: FolderPath.none), "the note's name")
      try expect(rig.name(.of(note: "x")), .name(nil, in: nil), "the name of no note")
      try expect(rig.name(.list), .names([first]), "all names")
    },
    ConformanceCheck(
      "another name takes the place of the former one, and keeps the publication's id"
    ) { rig in
      try rig.create("n")
      let folder = try rig.move("n", to: "team").folder
      let first = try publication("one", of: "n")
      _ = try rig.publish(first)
      var second = try publication("two", of: "n", id: "l.p.2", at: 5)
      second.id = first.id
      try expect(
        rig.publish(try publication("two", of: "n", id: "l.p.2", at: 5)), .published(second),
        "the other name")
      try expect(rig.open("one"), .unknown, "the former name")
      try expect(rig.name(.of(note: "n")), .name(second, in: folder), "the note's name")
      try expect(rig.name(.withdraw(note: "n", now: 6)), .withdrawn(second), "the withdrawal")
      try expect(rig.name(.withdraw(note: "n", now: 6)), .withdrawn(nil), "once more")
      try expect(rig.name(.list), .names([]), "the names that stay")
      let third = try publication("one", of: "n", id: "l.p.3", at: 7)
      try expect(rig.publish(third), .published(third), "a new publication under the first name")
    },
    ConformanceCheck("a withdrawn name rests for all other notes, and is free for its own") {
      rig in
      for id: DocumentID in ["n", "m"] { try rig.create(id) }
      let first = try publication("one", of: "n", at: 10)
      _ = try rig.publish(first)
      try expect(rig.publish(try publication("one", of: "m", at: 11)), .taken, "while it is given")
      _ = try rig.name(.withdraw(note: "n", now: 20))
      try rig.restart()
      let other = try publication("one", of: "m", at: 20 + rest - 1)
      try expect(rig.publish(other), .resting(until: 20 + rest), "while it rests")
      let back = try publication("one", of: "n", id: "l.p.2", at: 21)
      try expect(rig.publish(back), .published(back), "its own note")
      _ = try rig.name(.withdraw(note: "n", now: 30))
      let later = try publication("one", of: "m", id: "l.p.3", at: 30 + rest)
      try expect(rig.publish(later), .published(later), "when it has rested")
    },
    ConformanceCheck("a deleted note keeps its name until it is removed for good") { rig in
      for id: DocumentID in ["n", "m"] { try rig.create(id, time: 1) }
      let first = try publication("one", of: "n", at: 10)
      _ = try rig.publish(first)
      try rig.delete("n", at: 20)
      try expect(rig.open("one"), .unknown, "while the note is deleted")
      try expect(rig.name(.list), .names([]), "the names while it is deleted")
      try expect(rig.publish(try publication("one", of: "m", at: 21)), .taken, "for another note")
      try expect(
        rig.error(.links(.names(.withdraw(note: "n", now: 22)))), .unknownDocument,
        "a withdrawal while it is deleted")
      try rig.bringBack("n")
      try expect(rig.open("one"), .note(first, title: "A note"), "when the note is back")
      try rig.delete("n", at: 30)
      // Another note with the same id does not have the name.
      try rig.create("n", time: 40)
      try expect(rig.open("one"), .unknown, "by another note of the same id")
      try expect(rig.name(.of(note: "n")), .name(nil, in: FolderPath.none), "that note's name")
      try rig.done(.deleted(.remove(id: "n")))
      let soon = try publication("one", of: "n", at: 50)
      try expect(rig.publish(soon), .resting(until: 50 + rest), "right after the removal")
      rig.maintain()
      let later = try publication("one", of: "n", at: 50 + rest)
      try expect(rig.publish(later), .published(later), "when it has rested")
    },
    ConformanceCheck("a note that is removed at once has its name rest, too") { rig in
      for id: DocumentID in ["n", "m"] { try rig.create(id) }
      _ = try rig.publish(publication("one", of: "n", at: 10))
      try rig.delete("n")
      try expect(rig.open("one"), .unknown, "the name")
      let other = try publication("one", of: "m", at: 20)
      try expect(rig.publish(other), .resting(until: 20 + rest), "for another note")
    },
    ConformanceCheck("names are limited for a note, for a user and for all, with those that rest") {
      rig in
      for id: DocumentID in ["n", "m"] { try rig.create(id) }
      var limits = PublicName.Limits()
      limits.ofNote = 2
      limits.ofMaker = 3
      limits.overall = 4
      func publish(_ name: String, of note: DocumentID, by maker: String) throws -> NameReply {
        var draft = try publication(name, of: note, at: 10)
        draft.maker = maker
        return try rig.name(.publish(draft, limits))
      }
      for name in ["a", "b"] { _ = try publish(name, of: "n", by: "ada") }
      try expect(publish("c", of: "n", by: "bea"), .tooMany, "a third of one note")
      _ = try publish("c", of: "m", by: "ada")
      try expect(publish("d", of: "m", by: "ada"), .tooMany, "a fourth of one user")
      _ = try publish("d", of: "m", by: "bea")
      try rig.create("o")
      try expect(publish("e", of: "o", by: "cat"), .tooMany, "a fifth of all")
      try expect(
        publish("a", of: "n", by: "ada"), .published(try publication("a", of: "n", at: 10)),
        "one that the note had")
    },
    ConformanceCheck("a name of no note is refused") { rig in
      let draft = try publication("one", of: "x")
      try expect(
        rig.error(.links(.names(.publish(draft, PublicName.Limits())))), .unknownDocument,
        "the error")
      try expect(rig.open("one"), .unknown, "the name")
    },
  ]

  private static func publication(
    _ name: String, of note: DocumentID, id: String = "l.p.1", at time: Timestamp = 1,
    by maker: String = "ada"
  ) throws -> PublicName {
    PublicName(id: id, name: try ReadableName(name), note: note, maker: maker, createdAt: time)
  }
}

extension StoreRig {
  func name(_ request: NameRequest) throws -> NameReply {
    let reply = try link(.names(request))
    guard case .names(let names) = reply else { throw unexpected(reply, "a reply about names") }
    return names
  }

  func publish(_ draft: PublicName) throws -> NameReply {
    try name(.publish(draft, PublicName.Limits()))
  }

  func open(_ text: String) throws -> NameReply { try name(.open(ReadableName(text))) }
}
