import Foundation
import ParleyOffline
import ParleyUI
import Synchronization
import Testing

@MainActor @Suite("A repository's list for views", .timeLimit(.minutes(30)))
struct RepositoryModelTests {
  struct Item: OfflineModel, Equatable {
    var id = ResourceID.temporary()
    var name: String
  }

  /// A server of items in memory.
  final class Shop: MutationSender {
    struct State {
      var items: [Item] = []
      var isThere = true
      var refuses = false
    }

    let state = Mutex(State())

    func set(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

    var source: ClosureSource<Item> {
      ClosureSource { [self] _, _ in
        let (items, isThere) = state.withLock { ($0.items, $0.isThere) }
        guard isThere else { throw FetchError.unreachable("away") }
        return items
      }
    }

    func send(_ request: MutationRequest) async -> MutationAnswer {
      state.withLock { state in
        guard state.isThere else { return .unreachable }
        if state.refuses { return .refused(status: 422, reason: "no") }
        switch request.kind {
        case .delete: state.items.removeAll { $0.id == request.id }
        case .create, .update, .action: break
        }
        return .done()
      }
    }
  }

  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("parley-ui-\(UUID().uuidString)").path
  private let shop = Shop()

  private func open() throws -> Repository<Item> {
    let outbox = try Outbox(
      OfflineStore(folder: folder), user: "ann", sender: shop, time: ManualTime(), seed: 1)
    return Repository(shop.source, "items", in: outbox, time: ManualTime())
  }

  @Test("the list is sorted and filtered, and shows waiting changes and open decisions")
  func list() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    shop.set {
      $0.items = [Item(id: 2, name: "b"), Item(id: 1, name: "a"), Item(id: 3, name: "-")]
    }
    let model = RepositoryModel(
      try open(), by: { $0.name < $1.name }, where: { !$0.name.hasPrefix("-") })
    #expect(model.state == .loading)
    let run = Task { await model.run() }
    await until { model.items.map(\.name) == ["a", "b"] }
    #expect(model.state == .ready)

    shop.set { $0.isThere = false }
    await model.save(Item(name: "c"))
    await until { model.items.map(\.name) == ["a", "b", "c"] && model.waiting == 1 }
    #expect(model.problems.isEmpty)

    shop.set {
      $0.isThere = true
      $0.refuses = true
    }
    await model.repository.outbox.networkChanged()
    await until { model.problems.count == 1 }
    await model.decide(model.problems[0], .discard)
    await until { model.problems.isEmpty && model.items.map(\.name) == ["a", "b"] }

    shop.set { $0.refuses = false }
    await model.delete([0, 7])
    await until { model.items.map(\.name) == ["b"] && model.waiting == 0 }
    #expect(model.problem == nil)
    run.cancel()
    await run.value
  }

  @Test("a failed fetch without a list states the reason, and ends")
  func failure() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    shop.set { $0.isThere = false }
    let model = RepositoryModel(try open(), .networkOnly)
    await model.run()
    #expect(model.state == .failed(.unreachable("away")))
    shop.set { $0.isThere = true }
    let run = Task { await model.run() }
    await until { model.state == .ready }
    run.cancel()
    await run.value
  }
}
