// Not compiled by this repository's own builds, which run on Linux.
#if canImport(Darwin)
  import Foundation
  import Synchronization

  /// A connection that uses `URLSession`, with the device's trust and proxies.
  final class URLSessionConnection: NSObject, ClientConnection, URLSessionWebSocketDelegate {
    private struct State {
      var opener: CheckedContinuation<Void, any Error>?
      var task: URLSessionWebSocketTask?
      var session: URLSession?
      var subprotocol: String?
    }

    private let state = Mutex(State())

    /// Opens a connection that offers a subprotocol, or none.
    static func open(_ url: URL, subprotocol: String?) async throws -> URLSessionConnection {
      let connection = URLSessionConnection()
      // The session retains its delegate until it is invalidated.
      let session = URLSession(
        configuration: .ephemeral, delegate: connection, delegateQueue: nil)
      let task = session.webSocketTask(with: url, protocols: subprotocol.map { [$0] } ?? [])
      task.maximumMessageSize = 256 << 20
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          connection.state.withLock {
            $0.opener = continuation
            $0.task = task
            $0.session = session
            $0.subprotocol = subprotocol
          }
          task.resume()
        }
      } onCancel: {
        task.cancel()
      }
      return connection
    }

    func send(_ message: [UInt8]) {
      let task = state.withLock { $0.task }
      task?.send(.string(String(decoding: message, as: UTF8.self))) { error in
        if error != nil { task?.cancel() }
      }
    }

    func receive() async throws(ConnectionEnd) -> [UInt8] {
      let task = state.withLock { $0.task }
      guard let task else { throw ConnectionEnd(code: 1006) }
      do {
        while true {
          if case .string(let text) = try await task.receive() { return Array(text.utf8) }
        }
      } catch {
        let code = UInt16(clamping: task.closeCode.rawValue)
        state.withLock { $0.session }?.invalidateAndCancel()
        throw ConnectionEnd(code: code == 0 ? 1006 : code)
      }
    }

    func close() {
      let (task, session) = state.withLock { ($0.task, $0.session) }
      task?.cancel(with: .normalClosure, reason: nil)
      session?.finishTasksAndInvalidate()
    }

    // MARK: URLSessionWebSocketDelegate

    func urlSession(
      _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
      didOpenWithProtocol protocol: String?
    ) {
      let wanted = state.withLock { $0.subprotocol }
      opened(`protocol` == wanted ? .success(()) : .failure(URLError(.badServerResponse)))
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
      opened(.failure(error ?? URLError(.networkConnectionLost)))
    }

    private func opened(_ result: Result<Void, any Error>) {
      let (opener, session) = state.withLock { state in
        let opener = state.opener
        state.opener = nil
        return (opener, state.session)
      }
      // A session retains its delegate, which retains the session, until it is invalidated.
      if case .failure = result { session?.invalidateAndCancel() }
      opener?.resume(with: result)
    }
  }
#endif
