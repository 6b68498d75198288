import Gateway
import ParleyGatewayPorts

/// Programs that write over HTTP, to any node.
extension Simulation {
  mutating func addWriters(to ids: [DocumentID]) {
    for index in 0..<plan.writers {
      writers.append(
        SimulatedWriter(
          name: "writer-\(index)", documentID: ids[index % ids.count],
          token: plan.usesTokens ? TimedTokens.endless : nil))
    }
  }

  /// Returns the document of a mark's author. Authors are numbered: seats first, then writers.
  func documentID(ofAuthor author: Int) -> DocumentID {
    author < seats.count
      ? seats[author].documentID : writers[author - seats.count].documentID
  }

  /// Lets a writer begin a change, send or resend a request, or lose a connection.
  mutating func stepWriter() {
    let index = random.below(writers.count)
    let writer = writers[index]
    if writer.isSettled {
      let mark = marks.next(for: seats.count + index)
      if !mark.isEmpty { writer.add(mark) }
    } else if let request = writer.asked.first, random.chance(30) {
      trace?("writer \(index) loses the line of request \(request.id.rawValue)")
      writer.forget(request)
      if !nodes[request.node].isFrozen {
        nodes[request.node].gateway.abandoned(request.id)
        perform(request.node)
      }
    }
    // Mostly wait for the reply before resending.
    if writer.asked.isEmpty || random.chance(15) { ask(writer) }
  }

  /// Sends a writer's next request to any node that is not paused.
  mutating func ask(_ writer: SimulatedWriter) {
    guard writer.asked.count < 4, let node = nodeToConnect() else { return }
    let id = RequestID(nextRequest)
    guard let asked = writer.ask(id, at: node) else { return }
    nextRequest += 1
    trace?("request \(id.rawValue) to node \(node): \(String(decoding: asked.body, as: UTF8.self))")
    asked.body.withUnsafeBytes { condense($0) }
    if !nodes[node].gateway.request(id, head: asked.head, body: asked.body) {
      mistakes.append("a node does not know a request of a writer's")
    }
    perform(node)
  }

  /// Handles a node's response to a request.
  mutating func answered(_ id: RequestID, _ answer: Response) {
    trace?("answer to \(id.rawValue): \(answer.status)")
    answer.body.withUnsafeBytes { condense($0) }
    for (index, writer) in writers.enumerated() {
      do throws(SimulatedClientError) {
        try writer.take(answer, to: id) { scalars in random.below(scalars + 1) }
      } catch {
        mistakes.append("writer \(index): \(error)")
      }
    }
  }

  /// Removes the requests to a node that has died, which are never answered.
  func forgetRequests(of node: Int) {
    for writer in writers {
      for request in writer.asked where request.node == node { writer.forget(request) }
    }
  }
}
