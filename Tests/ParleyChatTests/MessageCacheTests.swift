import ParleyJSON
import ParleyOTWorkloads
import ParleyChat
import ParleyClient
import SocketMessages
import Testing

@Suite("Messages on the device")
struct MessageCacheTests {
  private func message(
    _ offset: Int, _ text: String = "tea", in thread: ChatThread = "t", epoch: Epoch = "e",
    by person: String = "u-ben"
  ) -> ChatMessage {
    let data = JSONValue(Array("\"\(text)\"".utf8)) ?? .null
    let publication = ParleyModel.Publication(
      offset: offset, time: Int64(offset), personID: PersonID(person), data: data)
    return ChatMessage(ParleyClient.Publication(publication, epoch: epoch), in: thread)
  }

  private func offsets(_ cache: MessageCache, _ thread: ChatThread = "t") -> [Int] {
    cache.found("tea", in: thread, limit: .max).map(\.id.position.offset)
  }

  @Test("pages make one ordered list, in whichever order they arrive", arguments: 1...50)
  func order(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var cache = MessageCache()
    var expected: Set<Int> = []
    for _ in 0..<20 {
      let start = 1 + random.below(40)
      let page = start..<start + 1 + random.below(6)
      expected.formUnion(page)
      cache.put(page.map { message($0) })
      #expect(offsets(cache) == expected.sorted(by: >))
      #expect(cache.bytes == expected.count * 5)
    }
  }

  @Test("the newest messages and the threads used last are kept, within a number of bytes")
  func bounds() {
    var bounds = MessageCache.Bounds()
    bounds.messages = 3
    bounds.threads = 2
    bounds.bytes = 25
    var cache = MessageCache(bounds)
    cache.put((1...5).map { message($0) })
    #expect(offsets(cache) == [5, 4, 3])
    cache.put([message(1, in: "u")])
    cache.put([message(6)])
    cache.put([message(1, in: "v")])
    #expect(offsets(cache, "u") == [])
    #expect(offsets(cache) == [6, 5, 4])
    #expect(cache.bytes == 20)
    // The thread that was used longest ago goes as a whole for one that is too large.
    cache.put([message(2, "tea and cakes", in: "v")])
    #expect(offsets(cache) == [])
    #expect(cache.count == 2)
    cache.put([message(3, "tea for more than there is room", in: "v")])
    #expect(cache.count == 0)
    #expect(cache.bytes == 0)
  }

  @Test("messages of a new epoch replace the messages of the former epoch")
  func epochs() {
    var cache = MessageCache()
    cache.put([message(1), message(2)])
    cache.put([message(1, epoch: "f")])
    #expect(offsets(cache) == [1])
    #expect(cache.bytes == 5)
  }

  @Test("forgetting a person removes their messages from all threads")
  func forgetting() {
    var cache = MessageCache()
    cache.put([message(1), message(2, by: "u-cid")])
    cache.put([message(1, in: "u")])
    cache.forget(.init("u-ben"))
    #expect(cache.found("tea", in: nil, limit: 9).map(\.sender) == [.init("u-cid")])
    #expect(cache.bytes == 5)
  }

  @Test("a search finds texts that contain all words, in any case and order")
  func words() {
    var cache = MessageCache()
    cache.put([message(1, "Green TEA, please"), message(2, "black tea"), message(3, "Éclair")])
    #expect(cache.found("tea green", in: nil, limit: 9).map(\.id.position.offset) == [1])
    #expect(cache.found("e\u{301}clair", in: nil, limit: 9).map(\.id.position.offset) == [3])
    #expect(cache.found("\n", in: nil, limit: 9) == [])
    #expect(cache.found("tea", in: nil, limit: 0) == [])
    #expect(cache.found("tea", in: nil, limit: 1).map(\.id.position.offset) == [2])
  }

  @Test("names that look alike are distinct threads and people")
  func exactness() {
    #expect(ChatThread("\u{e9}") != ChatThread("e\u{301}"))
    #expect(Set([ChatPerson.ID("\u{e9}"), ChatPerson.ID("e\u{301}")]).count == 2)
  }
}
