#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Sends requests with the client's token, and reads the answers.
actor RequestSender {
  private let transport: (any RequestTransport)?
  private let source: TokenSource?
  private let timeout: Duration
  /// The token of the last request.
  private var token: String?

  init(transport: (any RequestTransport)?, token source: TokenSource?, timeout: Duration) {
    self.transport = transport
    self.source = source
    self.timeout = timeout
  }

  /// The server's error.
  private struct Problem: Decodable {
    let code: String
    let message: String?
  }

  /// Sends a request, and decodes the answer.
  func value<Value: Decodable & Sendable>(_ request: ServerRequest) async throws(RequestError)
    -> Value
  {
    let answer = try await answer(to: request)
    guard let value = try? JSONDecoder().decode(Value.self, from: Data(answer.body)) else {
      throw .notParley(status: answer.status)
    }
    return value
  }

  /// Sends a request; returns a successful answer.
  @discardableResult
  func answer(to request: ServerRequest) async throws(RequestError) -> ServerAnswer {
    var answer = try await send(request)
    // The token may have expired meanwhile: the token function has a new one.
    if answer.status == 401, source != nil {
      token = nil
      answer = try await send(request)
    }
    guard !(200..<300).contains(answer.status) else { return answer }
    guard let problem = try? JSONDecoder().decode(Problem.self, from: Data(answer.body)) else {
      throw .notParley(status: answer.status)
    }
    if problem.code == "unknownDocument" { throw .unknownNote }
    throw .refused(Refusal(code: problem.code, message: problem.message))
  }

  private func send(_ request: ServerRequest) async throws(RequestError) -> ServerAnswer {
    guard let transport else {
      throw .noAnswer(.unreachable("the client's transport sends no requests over HTTP"))
    }
    if token == nil, let source {
      token = try await within("the token function") { try await source() }
      guard token != nil else { throw .noAnswer(.stopped(.noToken)) }
    }
    var request = request
    if let token { request.headers.append(("Authorization", "Bearer \(token)")) }
    return try await within("the server") { [request] in try await transport.send(request) }
  }

  /// Returns the result of some work, for which a caller waits at most the timeout.
  private func within<Value: Sendable>(
    _ name: String, _ work: @escaping @Sendable () async throws -> Value
  ) async throws(RequestError) -> Value {
    let feed = Feed<Result<Value, any Error>>(bound: 1)
    let working = Task {
      do { feed.put(.success(try await work())) { Array($0) } } catch {
        feed.put(.failure(error)) { Array($0) }
      }
    }
    let alarm = Task { [timeout] in
      try? await ContinuousClock().sleep(for: timeout)
      feed.finish()
    }
    defer {
      working.cancel()
      alarm.cancel()
    }
    switch await feed.next() {
    case .success(let value)?: return value
    case .failure(let error)?: throw .noAnswer(.unreachable("\(name) failed: \(error)"))
    case nil where Task.isCancelled: throw .cancelled
    case nil: throw .noAnswer(.unreachable("\(name) has not answered"))
    }
  }
}
