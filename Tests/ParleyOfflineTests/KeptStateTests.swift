import Foundation
import ParleyJSON
import ParleyOffline
import Testing

/// A store that the outbox of 0.1.0 made on a device.
///
/// `Scripts/make_fixtures.py` makes the store of another version with the second test.
@Suite("A store of 0.1.0")
struct KeptStateTests {
  private static let fixture = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fixtures/0.1.0/swift-offline")
  static let target = ProcessInfo.processInfo.environment["FIXTURES_TO"]
  private static let people = Collection(user: "ann", resource: "people")

  private func item(_ id: Int64) -> (id: ResourceID, json: JSONValue) {
    (
      ResourceID(id),
      JSONValue(JSONFields([.init("id", ResourceID(id).json), .init("name", JSONValue("é"))]))
    )
  }

  /// A waiting change for each state that there is.
  private var changes: [Mutation] {
    let states: [Mutation.State] = [
      .waiting, .conflict(theirs: Array("{}".utf8), version: "w"),
      .conflict(theirs: nil, version: nil), .refused(.status(422, reason: "no")),
      .refused(.unknownID), .refused(.missingReference),
    ]
    return states.enumerated().map { place, state in
      let draft = MutationDraft(
        place == 1 ? .action("say") : .create, "people", ResourceID("p\(place)"),
        body: fields(("name", JSONValue("é\0\""))), base: "v", lane: "l")
      return Mutation(
        number: Int64(place + 1), key: "k\(place)", user: "ann", draft: draft,
        isTried: place > 2, state: state)
    }
  }

  @Test("its waiting changes, lists and values can be read")
  func contents() async throws {
    let folder = TemporaryFolder()
    try FileManager.default.copyItem(atPath: Self.fixture.path, toPath: folder.path)
    let store = try OfflineStore(folder: folder.path)
    let kept = try store.kept()
    #expect(kept.entries == changes)
    #expect(kept.aliases.map(\.name) == ["t:a"])
    #expect(kept.aliases.map(\.id) == ["x"])
    let list = try #require(try store.kept("", of: Self.people))
    #expect(list.map(\.id) == [1, 2])
    #expect(list.map(\.json) == [item(1).json, item(2).json])
    #expect(try await store.read("note/ü") == [1, 2])
  }

  @Test("the fixture of a new version is written", .enabled(if: target != nil))
  func write() async throws {
    let store = try OfflineStore(folder: try #require(Self.target) + "/swift-offline")
    try store.write(changes.map { .put($0) } + [.alias(name: "t:a", id: "x")])
    try store.keep([item(1), item(2)], as: "", of: Self.people)
    try await store.write([1, 2], for: "note/ü")
  }
}
