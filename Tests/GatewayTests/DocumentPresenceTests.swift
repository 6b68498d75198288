import Gateway
import ParleyGrowthKit
import ParleyOTWorkloads
import SocketMessages
import Testing

@Suite("The people of a document")
struct DocumentPresenceTests {
  /// The state of one follower, built from the reply to its join and all turns since.
  private struct FollowerState: Equatable {
    let own: String
    var names: [String: String] = [:]
    var people: Int?

    init(_ own: String, joining presence: DocumentPresence) {
      self.own = own
      people = presence.announcedCount
      for person in presence.announced where person.clientID != own {
        names[person.clientID] = person.name
      }
    }

    mutating func hear(_ turn: DocumentPresence.Turn) {
      for person in turn.joined + turn.updated where person.clientID != own {
        names[person.clientID] = person.name
      }
      for client in turn.left { names[client] = nil }
      people = turn.people
    }
  }

  private static func person(_ client: Int, _ name: String = "A") -> ServerMessage.Participant {
    .init(clientID: "c\(client)", name: name, color: nil, selections: [])
  }

  private static func presence(of count: Int, limit: Int) -> DocumentPresence {
    var presence = DocumentPresence(limit: limit)
    for client in 0..<count { presence.enter(person(client)) }
    _ = presence.takeTurn(tellsCount: true)
    return presence
  }

  @Test(
    "clients that have received everything have the same list of people",
    arguments: UInt64(1)...60)
  func law(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let limit = Int.random(in: 1...8, using: &random)
    var presence = DocumentPresence(limit: limit)
    var here: [Int: String] = [:]
    var followers: [Int: FollowerState] = [:]
    // The turns that a slow follower has not read yet.
    var unread: [Int: [DocumentPresence.Turn]] = [:]
    var crossings = 0
    var wasCounted = false
    func read(_ client: Int) {
      for turn in unread.removeValue(forKey: client) ?? [] { followers[client]?.hear(turn) }
    }
    for step in 0..<400 {
      // The crowd grows and shrinks in waves, over the limit and back.
      let wanted = step / 40 % 2 == 0 ? 2 * limit + 2 : limit / 4
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let client = Int.random(in: 0..<(3 * limit + 4), using: &random)
        switch (here[client], Int.random(in: 0..<10, using: &random)) {
        case (nil, _) where here.count <= wanted:
          presence.enter(Self.person(client, "N\(step)"))
          here[client] = "N\(step)"
          unread[client] = nil
          followers[client] = FollowerState("c\(client)", joining: presence)
        case (.some, 0...7) where here.count > wanted:
          presence.leave("c\(client)")
          here[client] = nil
          followers[client] = nil
          unread[client] = nil
        case (.some, 3):
          // The connection breaks and is restored within the turn.
          presence.leave("c\(client)")
          presence.enter(Self.person(client, "R\(step)"))
          here[client] = "R\(step)"
          unread[client] = nil
          followers[client] = FollowerState("c\(client)", joining: presence)
        case (.some, 4):
          // Joining again on the same connection starts over.
          unread[client] = nil
          followers[client] = FollowerState("c\(client)", joining: presence)
        case (.some, 5):
          presence.enter(Self.person(client, "U\(step)"))
          here[client] = "U\(step)"
        case (.some, 6...9): presence.act("c\(client)")
        default: break
        }
      }
      let isLast = step == 399
      if let turn = presence.takeTurn(tellsCount: isLast || step % 5 == 0) {
        for client in followers.keys { unread[client, default: []].append(turn) }
        #expect((turn.people != nil) == (presence.announcedCount != nil))
        #expect(turn.people.map { $0 == here.count } ?? true)
      }
      for client in followers.keys where isLast || Bool.random(using: &random) { read(client) }
      let isCounted = presence.announcedCount != nil
      if isCounted != wasCounted { crossings += 1 }
      wasCounted = isCounted
      // After each turn: counted above the limit, listed at three quarters of the limit or fewer.
      if here.count > limit { #expect(isCounted) }
      if here.count <= limit * 3 / 4 { #expect(!isCounted) }
      #expect(presence.count == here.count)
      #expect(presence.announced.count <= limit || !isCounted)
    }
    let named = Dictionary(
      uniqueKeysWithValues: presence.announced.map { ($0.clientID, $0.name) })
    for (client, name) in named { #expect(here[Int(client.dropFirst()) ?? -1] == name) }
    if presence.announcedCount == nil { #expect(named.count == here.count) }
    for (_, follower) in followers {
      #expect(follower.names == named.filter { $0.key != follower.own })
      #expect(follower.people == (presence.announcedCount == nil ? nil : here.count))
    }
    #expect(crossings > 2)
  }

  @Test("one message for each turn lists all people who joined and left")
  func turns() {
    var presence = Self.presence(of: 3, limit: 10)
    presence.enter(Self.person(3))
    presence.enter(Self.person(4))
    presence.leave("c4")
    presence.leave("c0")
    presence.enter(Self.person(1, "B"))
    let turn = presence.takeTurn(tellsCount: false)
    #expect(turn?.joined == [Self.person(3)])
    #expect(turn?.updated == [Self.person(1, "B")])
    #expect(turn?.left == ["c0"])
    #expect(turn?.people == nil)
    #expect(presence.takeTurn(tellsCount: true) == nil)
  }

  @Test("a client that rejoins within a turn is listed again, because its carets were removed")
  func again() {
    var presence = Self.presence(of: 2, limit: 10)
    presence.leave("c1")
    presence.enter(Self.person(1))
    let turn = presence.takeTurn(tellsCount: false)
    #expect(turn?.joined == [Self.person(1)])
    #expect(turn?.left == [])
  }

  @Test("above the limit, presence contains a count and only active people")
  func crossing() {
    var presence = Self.presence(of: 4, limit: 4)
    presence.act("c2")
    presence.enter(Self.person(4))
    var turn = presence.takeTurn(tellsCount: false)
    #expect(turn?.people == 5)
    #expect(turn?.joined == [])
    #expect(turn?.left == ["c0", "c1", "c3"])
    #expect(presence.announced == [Self.person(2)])
    // Newcomers change only the count, which is not sent in every turn.
    presence.enter(Self.person(5))
    #expect(presence.takeTurn(tellsCount: false) == nil)
    #expect(presence.hasUnsentCount)
    turn = presence.takeTurn(tellsCount: true)
    #expect(turn?.people == 6)
    #expect(turn?.joined == [] && turn?.left == [])
    presence.act("c5")
    turn = presence.takeTurn(tellsCount: false)
    #expect(turn?.joined == [Self.person(5)])
    // At three quarters of the limit, the list is sent once.
    for client in [0, 1, 3] { presence.leave("c\(client)") }
    turn = presence.takeTurn(tellsCount: false)
    #expect(turn?.joined == [Self.person(4)])
    #expect(turn?.left == [] && turn?.people == nil && turn?.changesForm == true)
    #expect(presence.announced.map(\.clientID) == ["c2", "c4", "c5"])
    #expect(presence.announcedCount == nil)
  }

  @Test("beside a count, the most recently active people are listed, up to the limit")
  func lastActors() {
    var presence = Self.presence(of: 6, limit: 2)
    func acts(_ client: Int) -> DocumentPresence.Turn? {
      presence.act("c\(client)")
      return presence.takeTurn(tellsCount: false)
    }
    #expect(acts(0)?.joined == [Self.person(0)])
    #expect(acts(1)?.joined == [Self.person(1)])
    #expect(acts(0) == nil)
    let turn = acts(2)
    #expect(turn?.joined == [Self.person(2)])
    #expect(turn?.left == ["c1"])
    // A person who acts is named even if all others keep acting.
    _ = acts(0)
    _ = acts(2)
    #expect(acts(3)?.joined == [Self.person(3)])
    #expect(presence.announced.count == 2)
  }

  @Test("the cost of joining, acting and leaving does not depend on the size of the crowd")
  func growth() {
    let law = GrowthLaw("people who come, act and go", size: 2_000) { size in
      size
    } run: { size in
      var presence = DocumentPresence(limit: 200)
      var announced = 0
      for client in 0..<size {
        presence.enter(Self.person(client))
        presence.act("c\(client)")
        announced += presence.takeTurn(tellsCount: client % 50 == 0)?.joined.count ?? 0
      }
      for client in 0..<size {
        presence.leave("c\(client)")
        announced += presence.takeTurn(tellsCount: client % 50 == 0)?.joined.count ?? 0
      }
      precondition(announced >= size)
    }
    let finding = law.check()
    #expect(finding.holds, "\(finding)")
  }
}
