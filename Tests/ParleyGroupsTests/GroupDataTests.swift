import Foundation
import ParleyJSON
import ParleyClient
import ParleyOffline
import Testing

import ParleyGroups

/// A folder that goes with the test.
final class TemporaryFolder: Sendable {
  let path: String

  init() {
    path =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("parley-groups-\(UUID().uuidString)").path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// The group chat's layers do what their page asks of them, against the running program, over a network that
/// is cut.
@Suite("Group chat's layers", .serialized, .timeLimit(.minutes(30)))
struct GroupDataTests {
  private let server: GatewayProgram
  private let proxy: CuttingProxy
  private let tokens: [String: String]

  init() throws {
    let server = try GatewayProgram("--hmac-secret-file", "secret", "--audience", "parley")
    self.server = server
    proxy = try CuttingProxy(to: server.port)
    tokens = [
      "ann": try server.token(for: "ann", room: "/group/*=read,publish"),
      "ben": try server.token(for: "ben", room: "/group/*=read,publish"),
      "cid": try server.token(for: "cid", room: "/group/*=read"),
    ]
  }

  private func open(_ user: String, _ folder: TemporaryFolder) throws -> GroupData {
    try GroupData(
      OfflineStore(folder: folder.path), user: user, "http://127.0.0.1:\(proxy.port)/api"
    ) { [tokens] _ in tokens[user].map { Credentials(user: user, token: $0) } }
  }

  /// Waits until a change is made; returns the id.
  private func made(_ steps: MutationSteps?) async throws -> ResourceID {
    for await step in try #require(steps) {
      switch step {
      case .saved(let id, _): return id
      case .problem(let problem): Issue.record("\(problem.state)")
      case .queued, .discarded: continue
      }
    }
    throw GatewayProgram.Failure(description: "it was not made")
  }

  /// Reads until a list is as wanted.
  private func wait<Model, Element>(
    _ lists: FetchedValues<Model, [Element]>, _ isWanted: @Sendable ([Element]) -> Bool
  ) async throws -> [Element] {
    for try await list in lists where isWanted(list) { return list }
    return []
  }

  @Test(
    "createGroup, addNewMembers, sendNewMessage: with the server's ids, to the server and to others"
  )
  func online() async throws {
    defer { proxy.close() }
    let (ann, ben) = (TemporaryFolder(), TemporaryFolder())
    let anns = try open("ann", ann)
    let group = try await made(anns.createGroup(ChatGroup(name: "Hikers")))
    try await anns.add([ChatMember(group: group, personId: "ben", nickname: "Ben")])
    _ = try await made(anns.send("hello", to: group))
    let bens = try open("ben", ben)
    let groups = try await wait(bens.fetchAllGroups()) { !$0.isEmpty }
    #expect(groups.map(\.name) == ["Hikers"])
    #expect(groups.map(\.id) == [group])
    // That one was added, and the message.
    #expect(groups.map(\.unread) == [2])
    #expect(groups.map(\.memberCount) == [2])
    let members = try await wait(bens.fetchMembers(of: group)) { $0.count == 2 }
    #expect(members.map(\.nickname) == ["ann", "Ben"])
    let lines = try await wait(bens.fetchMessages(of: group)) { !$0.isEmpty }
    #expect(lines.map(\.event) == ["membership.announce.added", nil])
    #expect(lines.map(\.text) == [nil, "hello"])
    #expect(lines.map(\.personId) == ["ann", "ann"])
    // Read, and written, is no news.
    try await bens.markRead(lines[1].id)
    for await count in await bens.outbox.counts where count == 0 { break }
    _ = try await wait(bens.fetchAllGroups(.networkOnly)) { $0.first?.unread == 0 }
  }

  @Test("offline everything waits, is shown at once, and comes in order with the server's ids")
  func offline() async throws {
    defer { proxy.close() }
    let folder = TemporaryFolder()
    proxy.cut()
    let data = try open("ann", folder)
    let id = ResourceID.temporary()
    let created = try await data.createGroup(ChatGroup(id: id, name: "Hikers"))
    try await data.changeName(of: id, to: "Climbers")
    try await data.add([ChatMember(group: id, personId: "ben", nickname: "Ben")])
    let sent = try await data.send("hello", to: id)
    let groups = try await wait(data.fetchAllGroups(.cacheOnly)) { !$0.isEmpty }
    #expect(groups.map(\.name) == ["Climbers"])
    let members = try await wait(data.fetchMembers(of: id, .cacheOnly)) { !$0.isEmpty }
    #expect(members.map(\.personId) == ["ben"])
    let lines = try await wait(data.fetchMessages(of: id, .cacheOnly)) { !$0.isEmpty }
    #expect(lines.map(\.text) == ["hello"])
    // A like of a message that is not sent yet waits for it.
    try await data.like(lines[0].id)
    proxy.mend()
    await data.outbox.networkChanged()
    let real = try await made(created)
    _ = try await made(sent)
    for await count in await data.outbox.counts where count == 0 { break }
    let after = try await wait(data.fetchMessages(of: real, .networkOnly)) { lines in
      lines.contains { $0.text != nil }
    }
    #expect(after.compactMap(\.text) == ["hello"])
    #expect(after.last?.reaction == "like")
    let all = try await wait(data.fetchAllGroups(.networkOnly)) { $0.first?.memberCount == 2 }
    #expect(all.map(\.name) == ["Climbers"])
  }

  @Test("likes are shown at once, taken back, and rolled back by themselves where they are refused")
  func likes() async throws {
    defer { proxy.close() }
    let (ann, ben, cid) = (TemporaryFolder(), TemporaryFolder(), TemporaryFolder())
    let anns = try open("ann", ann)
    let group = try await made(anns.createGroup(ChatGroup(name: "Hikers")))
    let line = try await made(anns.send("hello", to: group))
    let bens = try open("ben", ben)
    _ = try await wait(bens.fetchMessages(of: group)) { $0.count == 1 }
    _ = try await made(bens.like(line, "👍"))
    let liked = try await wait(anns.fetchMessages(of: group)) { $0.first?.likes != nil }
    #expect(liked[0].likes == ["ben": "👍"])
    _ = try await made(bens.unlike(line))
    _ = try await wait(anns.fetchMessages(of: group, .networkOnly)) { $0.first?.likes == nil }

    // Who may only read sees their like go.
    let cids = try open("cid", cid)
    var lists = cids.fetchMessages(of: group).makeAsyncIterator()
    while let list = try await lists.next(), list.isEmpty {}
    let steps = try #require(try await cids.like(line))
    var seen: [MutationStep] = []
    for await step in steps { seen.append(step) }
    #expect(seen.first == .queued)
    #expect(seen.last == .discarded)
    #expect(await cids.outbox.problems.first { $0.isEmpty } != nil)
    #expect(await cids.outbox.count == 0)
    let shown = try await wait(cids.fetchMessages(of: group, .cacheOnly)) { !$0.isEmpty }
    #expect(shown.map(\.reaction) == [nil])
  }

  @Test("removeMember, changeMemberNickname, changeGroupName, deleteGroup, and who may")
  func changes() async throws {
    defer { proxy.close() }
    let (ann, ben) = (TemporaryFolder(), TemporaryFolder())
    let anns = try open("ann", ann)
    let group = try await made(anns.createGroup(ChatGroup(name: "Hikers")))
    try await anns.add([ChatMember(group: group, personId: "ben", nickname: "Ben")])
    _ = try await wait(anns.fetchMembers(of: group)) { $0.count == 2 }
    for await count in await anns.outbox.counts where count == 0 { break }
    let members = try await wait(anns.fetchMembers(of: group, .networkOnly)) { $0.count == 2 }
    _ = try await made(anns.changeNickname(of: members[1].id, to: "Benny"))
    _ = try await wait(anns.fetchAllGroups()) { !$0.isEmpty }
    _ = try await made(anns.changeName(of: group, to: "Climbers"))
    _ = try await made(anns.changePicture(of: group, to: "https://example.org/p.png"))

    // Members may not delete it: the refusal stays until it is decided on.
    let bens = try open("ben", ben)
    _ = try await wait(bens.fetchAllGroups()) { $0.first?.name == "Climbers" }
    let refused = try await bens.deleteGroup(group)
    for await step in refused {
      guard case .problem(let problem) = step else { continue }
      #expect(
        problem.state
          == .refused(
            .status(403, reason: "only members of the group, or its creator, may do this")))
      try await bens.outbox.decide(problem, .discard)
    }
    _ = try await made(anns.remove(members[1].id))
    _ = try await wait(bens.fetchAllGroups(.networkOnly)) { $0.isEmpty }
    let lines = try await wait(bens.fetchMessages(of: group)) { !$0.isEmpty }
    #expect(
      lines.compactMap(\.event) == [
        "membership.announce.added", "membership.nickname_changed", "group.name_change",
        "group.avatar_change", "membership.notifications.removed",
      ])
    _ = try await made(anns.deleteGroup(group))
    _ = try await wait(anns.fetchAllGroups(.networkOnly)) { $0.isEmpty }
  }

  @Test("attachments of a message are addresses, and reach the others")
  func attachments() async throws {
    defer { proxy.close() }
    let folder = TemporaryFolder()
    let data = try open("ann", folder)
    let group = try await made(data.createGroup(ChatGroup(name: "Hikers")))
    let pictures = ["https://example.org/a.png", "https://example.org/é?x=1&y=2"]
    _ = try await made(data.send("look", to: group, attachments: pictures))
    let lines = try await wait(data.fetchMessages(of: group, .networkOnly)) { !$0.isEmpty }
    #expect(lines.map(\.attachments) == [pictures])
    #expect(lines.map(\.text) == ["look"])
  }

  @Test("GET 20 messages before a message, and 20 since one: pages without a gap")
  func pages() async throws {
    defer { proxy.close() }
    let folder = TemporaryFolder()
    let data = try open("ann", folder)
    let group = try await made(data.createGroup(ChatGroup(name: "Hikers")))
    for number in 1...45 { try await data.send("\(number)", to: group) }
    for await count in await data.outbox.counts where count == 0 { break }
    var lines = try await wait(data.fetchMessages(of: group, .networkOnly)) { $0.count == 20 }
    while let first = lines.first {
      let page = try await data.messages(before: first)
      if page.isEmpty { break }
      #expect(page.count <= 20)
      lines = page + lines
    }
    #expect(lines.map(\.text) == (1...45).map { "\($0)" })
    var later = Array(lines.prefix(1))
    while let last = later.last {
      let page = try await data.messages(since: last)
      if page.isEmpty { break }
      #expect(page.count <= 20)
      later += page
    }
    #expect(later.map(\.id) == lines.map(\.id))
    #expect(try await data.messages(since: ChatLine(group: group, text: "waits")).isEmpty)
  }

  @Test("messageCentralRouter: each kind of event fetches its list again")
  @MainActor func router() async throws {
    defer { proxy.close() }
    let (ann, ben) = (TemporaryFolder(), TemporaryFolder())
    let anns = try open("ann", ann)
    let group = try await made(anns.createGroup(ChatGroup(name: "Hikers")))
    let bens = try open("ben", ben)
    let token = tokens["ben"]
    let parley = Parley(proxy.address, as: "Ben") { token }
    let room = parley.room(GroupData.room(of: group))
    let updates = room.updates
    let following = Task { await bens.follow(updates) }
    while room.state != .live { await Task.yield() }
    var members = bens.fetchMembers(of: group).makeAsyncIterator()
    while let list = try await members.next(), list.count != 1 {}
    var lines = bens.fetchMessages(of: group).makeAsyncIterator()
    while let list = try await lines.next(), !list.isEmpty {}
    var groups = bens.fetchAllGroups().makeAsyncIterator()
    while let list = try await groups.next(), !list.isEmpty {}
    try await anns.add([ChatMember(group: group, personId: "ben", nickname: "Ben")])
    while let list = try await members.next(), list.count != 2 {}
    while let list = try await groups.next(), list.count != 1 {}
    try await anns.send("hello", to: group)
    while let list = try await lines.next(), list.last?.text != "hello" {}
    _ = try await wait(anns.fetchAllGroups()) { !$0.isEmpty }
    try await anns.changeName(of: group, to: "Climbers")
    while let list = try await groups.next(), list.first?.name != "Climbers" {}
    following.cancel()
  }

  @Test("logOut, signIn: another person sees neither lists nor changes of the former one")
  func people() async throws {
    defer { proxy.close() }
    let folder = TemporaryFolder()
    let data = try open("ann", folder)
    _ = try await made(data.createGroup(ChatGroup(name: "Hikers")))
    _ = try await wait(data.fetchAllGroups()) { $0.count == 1 }
    proxy.cut()
    try await data.createGroup(ChatGroup(name: "waits"))
    await data.use(by: "ben")
    let kept = try await wait(data.fetchAllGroups(.cacheOnly)) { _ in true }
    #expect(kept.isEmpty)
    #expect(await data.outbox.waiting.isEmpty)
    #expect(await data.outbox.count == 1)
  }
}
