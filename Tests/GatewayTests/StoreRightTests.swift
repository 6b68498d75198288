import Gateway
import ParleyGatewayPorts
import Testing

@Suite("Rights of work in the store")
struct StoreRightTests {
  /// A request of each kind that names a note, for the note "n".
  private static let onNote: [StoreRequest] = [
    .note(id: "n"), .text(id: "n", at: .revision(0)), .versions(id: "n"),
    .past(id: "n", .difference(from: 0, to: 1)),
    .history(id: "n", after: 0, limit: 1, pause: 0), .delete(id: "n"),
    .rename(id: "n", title: "t", time: 0), .deleteVersion(id: "n", revision: 1),
    .deleted(.bringBack(id: "n")), .deleted(.remove(id: "n")), .files(.list(id: "n")),
    .comments(CommentRequest(note: "n", .list(at: nil))), .links(.list(note: "n", now: 0)),
    .links(.end(note: "n", id: nil)), .links(.names(.of(note: "n"))),
    .folders(.move(id: "n", to: .none, time: 0)),
    .once(.perform(.delete(id: "n"), keeping: [], .standard)),
    .audited(
      AuditRecord(time: 0, actor: "ada", action: .deleteNote), .delete(id: "n", keeping: nil)),
    .notices(.audience(note: "n", thread: nil)), .notifying([], .delete(id: "n")),
  ]
  private static let lists: [StoreRequest] = [
    .list, .notes(after: nil, limit: 1), .deleted(.list(after: nil, limit: 1)),
    .folders(.notes(in: .none, after: nil, limit: 1)),
  ]
  private static let changes: [StoreRequest] = [
    .groups(.delete("r", by: ChangeActor(person: "ada", name: "Ada", manages: true))),
    .logins(.end(user: "ada", .all)),
    .people(.block(.init(person: "a", blocked: "b"), isBlocked: true)),
  ]

  private static func right(to verbs: Verbs, _ grant: Grant) -> StoreRight? {
    StoreRight(verbs, onNote: "n", of: Identity(user: "ada", grants: [grant]))
  }

  @Test("a right to a note covers work on that note, and no other work", arguments: onNote)
  func notes(request: StoreRequest) throws {
    let right = try #require(Self.right(to: .manage, Grant(.documents, NamePattern("n"), .manage)))
    #expect(right.condition == nil && right.covers(request.traits))
    let other = StoreRight(making: "N", in: .none) { _ in .manage }
    #expect(other?.covers(request.traits) == false)
    for request in Self.lists + Self.changes { #expect(!right.covers(request.traits)) }
  }

  @Test("rights by the token and rights to lists cover no work on a note", arguments: onNote)
  func others(request: StoreRequest) {
    #expect(!StoreRight.token.covers(request.traits))
    #expect(!StoreRight.eachItem.covers(request.traits))
    #expect(StoreRight.housekeeping.covers(request.traits))
  }

  @Test("a right to lists covers only reads")
  func reads() {
    for request in Self.lists { #expect(StoreRight.eachItem.covers(request.traits)) }
    for request in Self.changes {
      #expect(!StoreRight.eachItem.covers(request.traits))
      #expect(StoreRight.token.covers(request.traits))
    }
  }

  @Test("the store decides a right by the note's folder")
  func folders() {
    let grant = Grant(.folders, NamePattern("plans"), .read)
    let right = Self.right(to: .read, grant)
    #expect(right?.condition?.id == "n")
    #expect(right?.covers(StoreRequest.note(id: "n").traits) == true)
    #expect(Self.right(to: .manage, grant) == nil)
  }
}
