import Gateway
import ParleyGatewayPorts
import ParleyServer
import Testing

@Suite("The order of concurrent reads")
struct ReadQueueTests {
  private static let step = StoreRequest.folders(
    .list(after: nil, limit: 1, counting: FolderCounting(notes: [], folders: []), work: 1))
  private static let text = StoreRequest.text(id: "n", at: .revision(1))

  private func queue(_ items: [(UInt64, StoreRequest)]) -> ReadQueue {
    var queue = ReadQueue()
    for (ticket, request) in items { queue.append((StoreTicket(rawValue: ticket), request)) }
    return queue
  }

  /// Returns the numbers of the tickets in the order in which the reads are taken.
  private func tickets(_ queue: inout ReadQueue) -> [UInt64] {
    let numbers = Dictionary(
      uniqueKeysWithValues: (0...200 as ClosedRange<UInt64>).map { (StoreTicket(rawValue: $0), $0) }
    )
    var tickets: [UInt64] = []
    while let ticket = queue.popFirst()?.ticket { tickets.append(numbers[ticket] ?? 0) }
    return tickets
  }

  @Test("reads of one note precede steps of lists, and each kind is in order")
  func order() {
    var all = queue([(1, Self.step), (2, Self.text), (3, Self.step), (4, .note(id: "n"))])
    #expect(all.count == 4)
    #expect(tickets(&all) == [2, 4, 1, 3])
    #expect(all.isEmpty)
  }

  @Test("a step is done after a limited number of other reads")
  func patience() {
    var all = queue([(1, Self.step), (2, Self.step)] + (3..<103).map { ($0, Self.text) })
    let tickets = tickets(&all)
    let reads = ReadQueue.readsBeforeStep
    #expect(tickets.firstIndex(of: 1) == reads && tickets.firstIndex(of: 2) == 2 * reads + 1)
    #expect(tickets.filter { $0 > 2 } == Array(3..<103))
    #expect(tickets.count == 102)
  }

  @Test("which reads are steps", arguments: [true, false])
  func steps(isStep: Bool) {
    let requests: [StoreRequest] =
      isStep
      ? [
        Self.step, .list, .notes(after: nil, limit: 1), .deleted(.list(after: nil, limit: 1)),
        .folders(.notes(in: .none, after: nil, limit: 1)),
      ]
      : [Self.text, .note(id: "n"), .versions(id: "n"), .folders(.of(["n"]))]
    for request in requests {
      #expect(request.traits.way == (isStep ? .step : .aside))
    }
  }
}
