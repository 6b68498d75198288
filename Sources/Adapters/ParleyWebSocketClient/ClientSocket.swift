#if os(Linux)
  import CParleyClientTLS
  import Glibc

  /// A non-blocking socket, encrypted or not. `deinit` closes the socket.
  struct ClientSocket: ~Copyable {
    /// The result of reading or writing.
    enum Outcome {
      case bytes(Int)
      case waits(Int32)
      case ended
      case failed
    }

    let descriptor: Int32
    private var context: OpaquePointer?
    private var ssl: OpaquePointer?

    /// Starts connecting. Returns `nil` and sets `errno` if that fails.
    init?(_ address: SocketAddress) {
      let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
      let descriptor = socket(address.family, type, 0)
      guard descriptor >= 0 else { return nil }
      var on: Int32 = 1
      setsockopt(
        descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
      let result = address.bytes.withUnsafeBytes {
        connect(
          descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self),
          socklen_t($0.count))
      }
      guard result == 0 || errno == EINPROGRESS else {
        let reason = errno
        Glibc.close(descriptor)
        errno = reason
        return nil
      }
      // Set `descriptor` last: `deinit` runs as soon as all properties are set, even if `init` then
      // returns `nil`, and would close the descriptor a second time.
      self.descriptor = descriptor
    }

    deinit {
      if let ssl { parley_client_tls_close(ssl) }
      if let context { parley_client_tls_destroy(context) }
      Glibc.close(descriptor)
    }

    /// The error of the connection attempt, once the socket is writable; 0 if it succeeded.
    var connectError: Int32 {
      var error: Int32 = 0
      var size = socklen_t(MemoryLayout<Int32>.size)
      return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno
    }

    /// Starts TLS.
    mutating func encrypt(for host: String, trusting file: String?) throws(WebSocketFailure) {
      guard let context = parley_client_tls_create(file) else {
        throw file.map { .badCertificates(file: $0) } ?? .encryption
      }
      self.context = context
      ssl = parley_client_tls_open(
        context, descriptor, host, SocketAddress.isAddress(host) ? 1 : 0)
      if ssl == nil { throw .encryption }
    }

    /// Continues the TLS handshake.
    ///
    /// - Returns: The events to wait for; `nil` once it is complete.
    func continueHandshake() throws(WebSocketFailure) -> Int32? {
      guard let ssl else { return nil }
      switch parley_client_tls_shake(ssl) {
      case 1: return nil
      case Int32(parley_client_tls_wants_read): return POLLIN
      case Int32(parley_client_tls_wants_write): return POLLOUT
      default:
        throw certificateError(to: ssl).map { .certificate($0) } ?? .encryption
      }
    }

    private func certificateError(to ssl: OpaquePointer) -> CertificateError? {
      switch parley_client_tls_objection_kind(ssl) {
      case Int32(parley_client_tls_no_objection): nil
      case Int32(parley_client_tls_unknown_authority): .unknownAuthority
      case Int32(parley_client_tls_wrong_host): .wrongHost
      case Int32(parley_client_tls_expired): .expired
      case Int32(parley_client_tls_not_yet_valid): .notYetValid
      default: .other(parley_client_tls_objection(ssl).map { String(cString: $0) } ?? "")
      }
    }

    func read(into memory: UnsafeMutableRawBufferPointer) -> Outcome {
      guard let start = memory.baseAddress else { return .failed }
      if let ssl { return outcome(parley_client_tls_read(ssl, start, Int32(memory.count))) }
      while true {
        let count = recv(descriptor, start, memory.count, 0)
        if count > 0 { return .bytes(count) }
        if count == 0 { return .ended }
        if errno == EINTR { continue }
        return errno == EAGAIN ? .waits(POLLIN) : .failed
      }
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
      guard let start = bytes.baseAddress else { return .bytes(0) }
      if let ssl {
        return outcome(parley_client_tls_write(ssl, start, Int32(clamping: bytes.count)))
      }
      while true {
        let count = send(descriptor, start, bytes.count, Int32(MSG_NOSIGNAL))
        if count >= 0 { return .bytes(count) }
        if errno == EINTR { continue }
        return errno == EAGAIN ? .waits(POLLOUT) : .failed
      }
    }

    /// Shuts down the sending side.
    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    private func outcome(_ result: Int32) -> Outcome {
      switch result {
      case 1...: .bytes(Int(result))
      case Int32(parley_client_tls_ended): .ended
      case Int32(parley_client_tls_wants_read): .waits(POLLIN)
      case Int32(parley_client_tls_wants_write): .waits(POLLOUT)
      default: .failed
      }
    }
  }
#endif
