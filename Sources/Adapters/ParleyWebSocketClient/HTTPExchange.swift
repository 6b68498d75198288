#if os(Linux)
  import Dispatch
  import Glibc

  /// An HTTP/1.1 request on a separate connection.
  package struct HTTPExchange: Sendable {
    /// The reason why there is no response.
    package enum Failure: Error, Sendable, Hashable {
      case connection(WebSocketFailure)
      case malformed(String)
      /// The connection was lost; the server may have received the request.
      case lost
    }

    package let method: String
    package let url: WebSocketURL
    package var headers: [(name: String, value: String)]
    package let body: [UInt8]
    package var milliseconds: Int64 = 30_000
    package var answerBytesMax = 64 << 20
    /// A file of trusted certificates in PEM form; with `nil` the system's are trusted.
    package var certificatesFile: String?

    package init(
      method: String, url: WebSocketURL, headers: [(name: String, value: String)], body: [UInt8]
    ) {
      self.method = method
      self.url = url
      self.headers = headers
      self.body = body
    }

    /// Sends the request, and waits for the response on a thread that may block.
    package func run() async throws(Failure) -> HTTPAnswer {
      let result: Result<HTTPAnswer, Failure> = await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
          continuation.resume(
            returning: Result { () throws(Failure) -> HTTPAnswer in try self.exchange() })
        }
      }
      return try result.get()
    }

    private var head: [UInt8] {
      var lines = [
        "\(method) \(url.path) HTTP/1.1", "Host: \(url.hostHeader)", "Connection: close",
      ]
      // Omit fields with control characters, which could start another line.
      for (name, value) in headers where (name + value).utf8.allSatisfy({ $0 >= 0x20 }) {
        lines.append("\(name): \(value)")
      }
      if !body.isEmpty || method != "GET" { lines.append("Content-Length: \(body.count)") }
      return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    private func exchange() throws(Failure) -> HTTPAnswer {
      let deadline = Self.now + milliseconds
      let addresses = SocketAddress.all(of: url.host, port: url.port)
      guard !addresses.isEmpty else { throw .connection(.unknownHost) }
      var failure = WebSocketFailure.unknownHost
      for address in addresses {
        guard let wire = ClientSocket(address) else {
          failure = .unreachable(String(cString: strerror(errno)))
          continue
        }
        try wait(for: wire.descriptor, Int32(POLLOUT), deadline)
        let error = wire.connectError
        guard error == 0 else {
          failure = .unreachable(String(cString: strerror(error)))
          continue
        }
        return try exchange(over: wire, deadline)
      }
      throw .connection(failure)
    }

    private func exchange(
      over wire: consuming ClientSocket, _ deadline: Int64
    ) throws(Failure) -> HTTPAnswer {
      do throws(WebSocketFailure) {
        if url.isSecure { try wire.encrypt(for: url.host, trusting: certificatesFile) }
      } catch {
        throw .connection(error)
      }
      while let wanted = try continueHandshake(wire) {
        try wait(for: wire.descriptor, wanted, deadline)
      }
      let request = head + body
      var sent = 0
      sending: while sent < request.count {
        let outcome = request.withUnsafeBytes {
          wire.write(UnsafeRawBufferPointer(rebasing: $0[sent...]))
        }
        switch outcome {
        case .bytes(let count): sent += count
        case .waits(let wanted): try wait(for: wire.descriptor, wanted, deadline)
        // The server may respond and close before it has read the whole request.
        case .ended, .failed: break sending
        }
      }
      return try answer(from: wire, deadline)
    }

    private func continueHandshake(_ wire: borrowing ClientSocket) throws(Failure) -> Int32? {
      do throws(WebSocketFailure) { return try wire.continueHandshake() } catch {
        throw .connection(error)
      }
    }

    private func answer(from wire: borrowing ClientSocket, _ deadline: Int64) throws(Failure)
      -> HTTPAnswer
    {
      var answer = HTTPAnswer(hasBody: method != "HEAD", bodyBytesMax: answerBytesMax)
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
      defer { memory.deallocate() }
      while !answer.isDone {
        switch wire.read(into: memory) {
        case .bytes(let count): try take(memory[..<count], &answer)
        case .waits(let wanted): try wait(for: wire.descriptor, wanted, deadline)
        case .ended: try end(&answer)
        case .failed: throw .lost
        }
      }
      return answer
    }

    private func take(
      _ bytes: Slice<UnsafeMutableRawBufferPointer>, _ answer: inout HTTPAnswer
    ) throws(Failure) {
      do throws(HTTPAnswer.Malformed) {
        try answer.take(bytes)
      } catch {
        throw .malformed(error.reason)
      }
    }

    private func end(_ answer: inout HTTPAnswer) throws(Failure) {
      do throws(HTTPAnswer.Malformed) { try answer.end() } catch { throw .lost }
    }

    private func wait(
      for descriptor: Int32, _ events: Int32, _ deadline: Int64
    ) throws(Failure) {
      while true {
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        let left = deadline - Self.now
        guard left > 0 else { throw .connection(.timedOut) }
        let count = poll(&entry, 1, Int32(clamping: left))
        if count > 0 { return }
        if count < 0, errno != EINTR { throw .lost }
      }
    }

    private static var now: Int64 {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
  }
#endif
