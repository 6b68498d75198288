import ParleyHTTP1
import Testing

/// The states of a connection as scripts: each line has an event, and the connection's actions.
///
/// | word | happens |
/// | --- | --- |
/// | `in` | bytes arrive, `|` for a line break |
/// | `answer` | the owner answers a request, numbered from 0, perhaps as the last |
/// | `socket` | the socket takes so many bytes in one write |
/// | `at` | the time passes a deadline |
/// | `take`, `refuse body` | the owner decides about a longer body |
/// | `upgrade`, `refuse`, `stop`, `end`, `cut` | the owner, or the end of the peer's side |
@Suite("States of a connection")
struct StateTests {
  @Test(
    arguments: [
      """
      in GET /a HTTP/1.1|Host: x|| → request /a
      answer 0 → 200 keep-alive
      at 30000 → close, stops reading
      """,
      """
      in GET /a HTTP/1.1|Ho → nothing
      at 10000 → rejected, 408 close, end sending
      at 12000 → close, stops reading
      """,
      """
      in GET /a HTTP/1.1|Host: x||POST /b HTTP/1.1|Host: x|Content-Length: 2|| → request /a, stops reading
      answer 0 → 200 keep-alive, reads
      in xy → request /b, stops reading
      answer 1 → 200 keep-alive, reads
      """,
      """
      in GET /a HTTP/1.1|Host: x||POST /b HTTP/1.1|Host: x|Content-Length: 2||xy → request /a, stops reading
      answer 0 last → 200 close, end sending, reads
      """,
      """
      in POST /b HTTP/1.1|Host: x|Content-Length: 9000|Expect: 100-continue|| → asks 9000, stops reading
      take 9000 → 100, reads
      at 10000 → rejected, 408 close, end sending
      """,
      """
      in POST /b HTTP/1.1|Host: x|Content-Length: 9000||xy → asks 9000, stops reading
      refuse body → 413 close, end sending, reads
      end → close, stops reading
      """,
      """
      in GET /ws HTTP/1.1|Host: x|Upgrade: websocket|Connection: Upgrade|\
      Sec-WebSocket-Version: 13|Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==||ab → upgrade /ws, stops reading
      upgrade 0 → 101, rest ab
      at 100000 → nothing
      """,
      """
      in GET /ws HTTP/1.1|Host: x|Upgrade: websocket|Connection: Upgrade|\
      Sec-WebSocket-Version: 13|Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==|| → upgrade /ws, stops reading
      answer 0 → 200 close, end sending, reads
      """,
      """
      in GET /ws HTTP/1.1|Host: x|Upgrade: websocket|Connection: Upgrade|\
      Sec-WebSocket-Version: 13|Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==|| → upgrade /ws, stops reading
      end → abandoned, close
      """,
      """
      in GET /a HTTP/1.1|Host: x||GET /b HTTP/1.1|Host: x|| → request /a, request /b
      end → stops reading
      answer 1 → nothing
      answer 0 → 200 keep-alive, 200 close, close
      """,
      """
      in GET /a HTTP/1.1|Host: x|| → request /a
      end → stops reading
      at 30000 → abandoned, close
      """,
      """
      in GET /a HTTP/1.1|Host: x|| → request /a
      stop → stops reading
      in GET /b HTTP/1.1|Host: x|| → nothing
      answer 0 → 200 close, end sending, reads
      """,
      """
      stop → close, stops reading
      """,
      """
      socket 0 → nothing
      in GET /a HTTP/1.1|Host: x|Connection: close|| → request /a, stops reading
      answer 0 → reads
      socket 1000 → 200 close, end sending
      at 2000 → close, stops reading
      """,
      """
      socket 0 → nothing
      in GET /a HTTP/1.1|Host: x|| → request /a
      answer 0 → nothing
      at 30000 → close, stops reading
      """,
      """
      in GET /a HTTP/1.1|Host: x|| → request /a
      refuse → stops reading
      answer 0 → 200 keep-alive, 503 close, end sending, reads
      """,
      """
      in GET /a HTTP/1.1|Host: x|| → request /a
      cut → abandoned, close, stops reading
      refuse → nothing
      stop → nothing
      """,
    ])
  func script(_ script: String) {
    var limits = HTTPLimits()
    limits.bodyBytesMax = 1_000
    limits.asksForLongerBodies = true
    var run = Run(limits)
    let lines = script.split(separator: "\n").map { line in
      let step = line.prefix { $0 != "→" }
      return step + "→ " + run.perform(step.split(separator: " ").map(String.init))
    }
    #expect(lines.joined(separator: "\n") == script)
  }

  /// A connection, and what of it was seen.
  private struct Run {
    var peer: Peer
    var seenCount = 0
    var ending = HTTPServerConnection.Ending.none
    var isReading = true

    init(_ limits: HTTPLimits) {
      peer = Peer(limits)
      peer.answer = { _, _ in nil }
      peer.upgrades = false
      peer.decide = { _, _, _, _ in }
    }

    /// Performs a step, and returns the connection's actions.
    mutating func perform(_ words: [String]) -> String {
      var actions: [String] = []
      let number = words.count > 1 ? Int(words[1]) : nil
      let closes = words.last == "last"
      switch words[0] {
      case "in":
        let text = words.dropFirst().joined(separator: " ")
        peer.feed(text.replacing("|", with: "\r\n"))
      case "answer": peer.respond(number ?? 0, HTTPResponse(status: 200, closes: closes))
      case "socket": peer.takes = number ?? 0
      case "at":
        peer.now = Int64(number ?? 0)
        if let event = peer.connection.expired(now: peer.now) { peer.handle(event) }
      case "take": peer.connection.takeBody(bytesMax: number ?? 0, now: peer.now)
      case "refuse":
        if words.count > 1 {
          peer.connection.refuseBody(now: peer.now)
        } else {
          peer.connection.refuse(with: HTTPResponse(status: 503), now: peer.now)
        }
      case "upgrade":
        let accepted = peer.connection.upgrade(peer.requests[number ?? 0].number, accept: "x")
        peer.output += accepted?.response ?? []
        actions = accepted.map { ["rest " + String(decoding: $0.rest, as: UTF8.self)] } ?? []
      case "stop": peer.connection.stop(now: peer.now)
      case "end": peer.connection.peerEnded(now: peer.now)
      case "cut": peer.connection.cut()
      default: return "no such step"
      }
      peer.proceed()
      return seen(actions)
    }

    private mutating func seen(_ own: [String]) -> String {
      var actions = peer.seen[seenCount...].map { seen in
        switch seen {
        case .request(_, let path, _, _, _, _): "request \(path)"
        case .upgrade(let path, _): "upgrade \(path)"
        case .asksForBody(_, let count): "asks \(count.map(String.init) ?? "chunks")"
        case .rejected: "rejected"
        case .abandoned: "abandoned"
        }
      }
      seenCount = peer.seen.count
      actions += peer.text.split(separator: "HTTP/1.1 ").map { response in
        let end = response.contains("connection: close") ? " close" : ""
        return response.prefix(3) + (response.contains("keep-alive") ? " keep-alive" : end)
      }
      peer.output = []
      actions += own
      if peer.connection.ending != ending {
        ending = peer.connection.ending
        actions.append(ending == .close ? "close" : "end sending")
      }
      if peer.connection.wantsInput != isReading {
        isReading.toggle()
        actions.append(isReading ? "reads" : "stops reading")
      }
      return actions.isEmpty ? "nothing" : actions.joined(separator: ", ")
    }
  }
}
