import ParleyDialectModels
import ParleyTwakeCubits
import Testing

@MainActor @Suite("Globals", .timeLimit(.minutes(30)))
struct GlobalsTests {
  @Test(
    "changes are stored, but for the token and the connection; the next process restores them")
  func stored() async {
    let storage = MemoryCubitStorage()
    let globals = Globals(storage: storage)
    globals.set {
      $0.host = "https://chat.example.org"
      $0.companyID = "c"
      $0.workspaceID = "w"
      $0.channelsType = .directs
      $0.channelID = "e\u{301}"
      $0.threadID = "t"
      $0.fcmToken = "f"
      $0.userID = "u"
      $0.token = "secret"
      $0.isNetworkConnected = true
    }
    await globals.stored()
    let next = Globals(storage: storage)
    await next.restore()
    var expected = globals.state
    expected.token = nil
    expected.isNetworkConnected = false
    #expect(next.state == expected)
    #expect(next.state.channelID?.utf8.elementsEqual("e\u{301}".utf8) == true)
    let bytes = await storage.read("globals") ?? []
    #expect(!String(decoding: bytes, as: UTF8.self).contains("secret"))
    next.set { $0.threadID = nil }
    await next.stored()
    let third = Globals(storage: storage)
    await third.restore()
    #expect(third.state.threadID == nil && third.state.channelID != nil)
  }

  @Test("what is no stored value changes nothing", arguments: ["", "[]", "x", #"{"host":1}"#])
  func damaged(text: String) async {
    let storage = MemoryCubitStorage()
    await storage.write(Array(text.utf8), for: "globals")
    let globals = Globals(storage: storage)
    await globals.restore()
    #expect(globals.state == Globals.Values())
  }
}
