import Gateway
import ParleyGatewayPorts
import ParleySimulationKit
import Testing

/// Lists that the store reads in many steps.
@Suite("Long reads")
struct LongReadTests {
  private let rig = GatewayRig()

  init() throws {
    for user in ["ada", "ben"] { _ = rig.token(user, [try Grant(word: "document:n*=all")]) }
    // The gateway's own initial reads are not counted.
    rig.pass(milliseconds: 0)
    rig.isStepwise = true
  }

  private func begin(_ user: String, _ path: String = "/api/folders") -> UInt64 {
    rig.begin("GET", path, headers: ["authorization": "Bearer \(user)"])
  }

  private func make(_ count: Int, in folder: String) {
    let path = FolderPath(stored: folder)
    _ = rig.store.perform(
      (0..<count).map {
        .create(id: "n\(folder)\($0)", epoch: "e", title: "", time: 1, folder: path)
      })
  }

  /// Lets the store perform its requests one by one until none is left.
  ///
  /// - Returns: The number of requests.
  private func finish() -> Int {
    var count = 0
    while !rig.stored.isEmpty {
      rig.performStoreRequests(on: 1)
      count += 1
    }
    return count
  }

  @Test("counting folders with many notes in steps gives the same answer")
  func steps() throws {
    make(600, in: "a")
    make(40, in: "b")
    let request = begin("ada")
    #expect(rig.answer(request) == nil)
    #expect(finish() == 2)
    let body = try #require(rig.answer(request)).body
    #expect(body.contains(#"{"folder":"a","notes":600"#))
    #expect(body.contains(#"{"folder":"b","notes":40"#))
    #expect(!body.contains("next"))
  }

  @Test(
    "one list of each user is read at a time, and other users do not wait for it",
    arguments: ["/api/folders", "/api/notes", "/api/notes?limit=3", "/api/deleted"])
  func oneForEach(path: String) {
    make(3, in: "")
    let (first, second, third) = (begin("ada", path), begin("ada", path), begin("ada", path))
    #expect(rig.stored.count == 1)
    let other = begin("ben", path)
    #expect(rig.stored.count == 2)
    // Abandoning a waiting read cancels it.
    rig.abandon(second)
    rig.performStoreRequests(on: 1)
    #expect(rig.answer(first)?.status == 200)
    #expect(rig.stored.count == 2)
    _ = finish()
    #expect(rig.answer(third)?.status == 200 && rig.answer(other)?.status == 200)
    #expect(rig.answer(second) == nil)
  }

  @Test("reading a list stops when its client has left, and the next list begins")
  func abandoned() {
    make(1_100, in: "a")
    let first = begin("ada")
    rig.performStoreRequests(on: 1)
    #expect(rig.stored.count == 1)
    let second = begin("ada")
    rig.abandon(first)
    #expect(rig.forgotten.count == 1)
    // The step that was already running, and the other request's three.
    #expect(finish() == 4)
    #expect(rig.answer(first) == nil)
    #expect(rig.answer(second)?.status == 200)
  }

  @Test("one user can have half of the waiting lists, and another user still gets one")
  func shares() {
    let requests = (0..<300).map { _ in begin("ada") }
    let refused = requests.filter { rig.answer($0) != nil }
    #expect(refused.count == 300 - 256)
    #expect(refused.allSatisfy { rig.answer($0)?.status == 503 })
    let pauses = Set(
      refused.compactMap { request in
        rig.response(request)?.headers.first { $0.name == "retry-after" }.flatMap { Int($0.value) }
      })
    // Clients get different delays, so that they do not retry at the same time.
    #expect(pauses.count > 1 && pauses.allSatisfy((3...8).contains))
    let other = begin("ben")
    _ = finish()
    #expect(rig.answer(other)?.status == 200)
    #expect(requests.allSatisfy { rig.answer($0) != nil })
    // All shares have been released.
    #expect(rig.answer(begin("ada")) == nil)
  }
}
