import Testing
import ParleyWebSocketClient

@Suite("Messages that wait for the caller")
struct InboxTests {
  @Test("messages are returned in order, and counted")
  func order() {
    var inbox = Inbox()
    for number in 0..<200 { inbox.append([UInt8](repeating: 0, count: number)) }
    #expect(inbox.byteCount == 200 * 199 / 2)
    for number in 0..<200 { #expect(inbox.popFirst()?.count == number) }
    #expect(inbox.popFirst() == nil)
    #expect(inbox.byteCount == 0)
  }

  @Test("a caller that is always one message behind uses bounded memory")
  func behind() {
    var inbox = Inbox()
    inbox.append([1])
    for _ in 0..<10_000 {
      inbox.append([1])
      #expect(inbox.popFirst() == [1])
      #expect(inbox.storageCount <= 200)
    }
  }
}
