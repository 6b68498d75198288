import Foundation
import Glibc
import ParleyJSON
import Synchronization

/// A small back end over HTTP: collections of JSON objects, changed once under each `Idempotency-Key`.
final class BackEnd: Sendable {
  struct Request: Sendable {
    let method: String
    let path: String
    let headers: [String: String]
    let body: [UInt8]

    var line: String { "\(method) \(path)" }
  }

  struct State: Sendable {
    var things: [String: [(id: Int64, fields: JSONFields)]] = [:]
    var lastID: Int64 = 0
    var answers: [String: (Int, [UInt8])] = [:]
    var requests: [Request] = []
    var made: [String] = []
    var token: String?
    /// Statuses of the next requests, in place of answers.
    var failures: [(status: Int, headers: String)] = []
    /// Requests that are made, and whose connection is cut before the answer.
    var lostAnswers = 0
    /// The bytes that answer each request, in place of everything else.
    var raw: [UInt8]?
  }

  let state = Mutex(State())
  let port: UInt16
  private let listener: Int32
  /// Called after each change, with the collection and the sender's name.
  private let changed: @Sendable (String, String?) -> Void

  init(changed: @escaping @Sendable (String, String?) -> Void = { _, _ in }) throws {
    self.changed = changed
    let listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    self.listener = listener
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, size) == 0 && listen(listener, 64) == 0
          && getsockname(listener, address, &size) == 0
      }
    }
    guard bound else { throw GatewayProgram.Failure(description: "no port for a back end") }
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread { [self] in accepting() }
  }

  var address: String { "http://127.0.0.1:\(port)" }

  /// Ends its thread, which keeps it.
  func close() { shutdown(listener, Int32(SHUT_RDWR)) }

  /// The requests that changed something, those that were repeated left out.
  var made: [String] { state.withLock { $0.made } }

  func things(_ collection: String) -> [String] {
    state.withLock { state in
      (state.things[collection] ?? []).map { text(Self.json($0)) }
    }
  }

  private static func json(_ thing: (id: Int64, fields: JSONFields)) -> [UInt8] {
    var fields = thing.fields
    fields.append(.init("id", JSONValue(Int(thing.id))))
    return fields.json
  }

  // MARK: Connections

  private func accepting() {
    while true {
      let client = accept(listener, nil, nil)
      guard client >= 0 else { break }
      Thread.detachNewThread { [self] in
        serve(client)
        Glibc.close(client)
      }
    }
    Glibc.close(listener)
  }

  private func serve(_ client: Int32) {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      if let request = Self.request(bytes) {
        if let raw = state.withLock({ $0.raw }) {
          _ = raw.withUnsafeBytes {
            Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
          }
        } else if let (status, headers, body) = answer(request) {
          let head =
            "HTTP/1.1 \(status) X\r\nContent-Length: \(body.count)\r\n\(headers)Connection: close\r\n\r\n"
          let all = Array(head.utf8) + body
          _ = all.withUnsafeBytes {
            Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
          }
        }
        return
      }
      let count = Glibc.read(client, &buffer, buffer.count)
      guard count > 0 else { return }
      bytes += buffer[..<count]
    }
  }

  private static func request(_ bytes: [UInt8]) -> Request? {
    let whole = String(decoding: bytes, as: UTF8.self)
    guard let end = whole.range(of: "\r\n\r\n") else { return nil }
    let lines = whole[..<end.lowerBound].split(separator: "\r\n")
    let words = lines[0].split(separator: " ")
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
    }
    let body = Array(whole[end.upperBound...].utf8)
    guard body.count >= Int(headers["content-length"] ?? "0") ?? 0 else { return nil }
    return Request(
      method: String(words[0]), path: String(words[1]), headers: headers, body: body)
  }

  private func answer(_ request: Request) -> (Int, String, [UInt8])? {
    var news: String?
    let answer = state.withLock { state -> (Int, String, [UInt8])? in
      state.requests.append(request)
      if let token = state.token, request.headers["authorization"] != "Bearer \(token)" {
        return (401, "", [])
      }
      if !state.failures.isEmpty {
        let failure = state.failures.removeFirst()
        return (failure.status, failure.headers, Array(#"{"message":"no"}"#.utf8))
      }
      guard request.method != "GET" else {
        let (status, body) = Self.read(request, state)
        return (status, "", body)
      }
      let key = request.headers["idempotency-key"] ?? ""
      if let (status, body) = state.answers[key] { return (status, "", body) }
      let (status, body) = Self.change(request, &state)
      if status < 300 {
        state.answers[key] = (status, body)
        state.made.append(request.line + " " + text(request.body))
        news = String(request.path.split(separator: "/")[0])
        if state.lostAnswers > 0 {
          state.lostAnswers -= 1
          return nil
        }
      }
      return (status, "", body)
    }
    if let news { changed(news, request.headers["x-sender-id"]) }
    return answer
  }

  private static func read(_ request: Request, _ state: State) -> (Int, [UInt8]) {
    let path = request.path.split(separator: "?")[0].split(separator: "/").map(String.init)
    let all = state.things[path[0]] ?? []
    if path.count > 1 {
      guard let thing = all.first(where: { "\($0.id)" == path[1] }) else { return (404, []) }
      return (200, json(thing))
    }
    return (200, JSONValue(all.map { JSONValue(trusted: json($0)) }).utf8)
  }

  private static func change(_ request: Request, _ state: inout State) -> (Int, [UInt8]) {
    let path = request.path.split(separator: "/").map(String.init)
    let fields = JSONFields(request.body) ?? JSONFields()
    if path.count == 1 {
      state.lastID += 1
      state.things[path[0], default: []].append((state.lastID, fields))
      return (201, json((state.lastID, fields)))
    }
    guard let index = state.things[path[0]]?.firstIndex(where: { "\($0.id)" == path[1] }),
      var thing = state.things[path[0]]?[index]
    else { return (404, []) }
    let version = thing.fields["version"]?.integer
    if let base = request.headers["if-match"], let version, base != "\"\(version)\"" {
      return (412, json(thing))
    }
    if path.count > 2 { return (201, Array("{}".utf8)) }
    if request.method == "DELETE" {
      state.things[path[0]]?.remove(at: index)
      return (204, [])
    }
    for field in fields.all {
      thing.fields.remove(field.name)
      thing.fields.append(field)
    }
    if let version {
      thing.fields.remove("version")
      thing.fields.append(.init("version", JSONValue(version + 1)))
    }
    state.things[path[0]]?[index] = thing
    return (200, json(thing))
  }
}
