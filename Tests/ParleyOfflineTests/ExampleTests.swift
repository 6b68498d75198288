import Foundation
import ParleyClient
import ParleyOffline
import Testing

@Suite("The example of a list", .timeLimit(.minutes(30)))
struct ExampleTests {
  @Test("the example shows others' changes, and stores its own ones without a server")
  func list() async throws {
    let parley = try GatewayProgram()
    let room = await ParleyService(parley.address, as: "api").room("items")
    let backEnd = try BackEnd { collection, sender in
      Task { try await room.publish(["changed": collection], senderID: sender) }
    }
    defer { backEnd.close() }
    let proxy = try CuttingProxy(to: backEnd.port)
    defer { proxy.close() }
    let folder = TemporaryFolder()
    let api = "http://127.0.0.1:\(proxy.port)"
    var list = try Helper("parley-example-offline-list", [parley.address, api, folder.path])
    #expect(await list.shows(""))
    list.write("add milk")
    #expect(await list.shows("1 milk"))
    // Another user, on another device.
    let other = try Outbox(
      OfflineStore(folder: folder.path + "-other"), user: "ann",
      sender: RESTService(backEnd.address))
    defer { try? FileManager.default.removeItem(atPath: folder.path + "-other") }
    let body = Array(#"{"name":"tea","done":false}"#.utf8)
    try await other.add(MutationDraft(.create, "items", .temporary(), body: body))
    #expect(await list.shows("1 milk, 2 tea"))
    proxy.cut()
    list.write("done 1")
    #expect(await list.shows("1 milk ✓, 2 tea"))
    list.write("add rice")
    #expect(await list.shows("1 milk ✓, 2 tea, * rice"))
    list.kill()
    // The next process shows all of it, without a server.
    list = try Helper("parley-example-offline-list", [parley.address, api, folder.path])
    #expect(await list.shows("1 milk ✓, 2 tea, * rice"))
    proxy.mend()
    #expect(await list.shows("1 milk ✓, 2 tea, 3 rice"))
    #expect(backEnd.things("items").count == 3)
    #expect(backEnd.made.count == 4)
  }

  @Test("the example has fewer than 60 lines")
  func length() throws {
    let file = GatewayProgram.root.appendingPathComponent("Examples/OfflineList/main.swift")
    #expect(try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n").count <= 60)
  }
}
