#if os(Linux)
  import Dispatch
  import Glibc
  import ParleyLocks

  /// The thread that serves all connections of a process. It is started with the first connection,
  /// and waits in `poll` while there is no work.
  ///
  /// It references connections weakly: a connection that its caller has released is ended.
  final class PollThread: Sendable {
    private struct Arrival: Sendable {
      let url: WebSocketURL
      let options: WebSocketConnection.Options
      weak let connection: WebSocketConnection?
      let addresses: [SocketAddress]
    }

    private struct State {
      var isRunning = false
      var isWoken = false
      var arrivals: [Arrival] = []
      var closings: [WebSocketConnection] = []
    }

    private let state = Locked(State())
    /// A pipe; a byte written to it wakes the thread.
    private let wakePipe: (read: Int32, write: Int32)

    static let shared = PollThread()

    private init() {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else {
        fatalError("a pipe cannot be created; raise the limit of open files")
      }
      for end in ends {
        _ = fcntl(end, F_SETFL, O_NONBLOCK)
        _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      }
      wakePipe = (ends[0], ends[1])
    }

    /// Opens a connection, which receives the result.
    func open(
      _ url: WebSocketURL, _ options: WebSocketConnection.Options,
      _ addresses: [SocketAddress]?, for connection: WebSocketConnection
    ) {
      // Resolving a name blocks.
      DispatchQueue.global().async { [weak connection] in
        let addresses = addresses ?? SocketAddress.all(of: url.host, port: url.port)
        guard !addresses.isEmpty else {
          connection?.opened(.failure(.unknownHost))
          return
        }
        self.state.withLock {
          $0.arrivals.append(
            Arrival(url: url, options: options, connection: connection, addresses: addresses))
        }
        self.start()
        self.wake()
      }
    }

    /// Retains a connection until it has ended, even if its caller releases it.
    func keepWhileClosing(_ connection: WebSocketConnection) {
      let isKept = state.withLock { state in
        if state.isRunning { state.closings.append(connection) }
        return state.isRunning
      }
      if isKept { wake() }
    }

    /// Wakes the thread to send the messages of connections.
    func wake() {
      let isFirst = state.withLock { state in
        defer { state.isWoken = true }
        return state.isRunning && !state.isWoken
      }
      if isFirst { _ = write(wakePipe.write, "!", 1) }
    }

    private func start() {
      let isFirst = state.withLock { state in
        defer { state.isRunning = true }
        return !state.isRunning
      }
      guard isFirst else { return }
      var thread = pthread_t()
      let failure = pthread_create(
        &thread, nil,
        { _ in
          PollThread.shared.run()
          return nil
        }, nil)
      guard failure == 0 else {
        // Connections need the thread; the next attempt tries to start it again.
        let arrivals = state.withLock { state in
          defer { state.arrivals = [] }
          state.isRunning = false
          return state.arrivals
        }
        for arrival in arrivals {
          arrival.connection?.opened(.failure(.unreachable("the system has no thread left")))
        }
        return
      }
      pthread_detach(thread)
    }

    private func run() {
      // Writing to a closed connection must return an error, not end the process.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGPIPE)
      pthread_sigmask(SIG_BLOCK, &signals, nil)
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
      let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 16)
      var links: [Link] = []
      var closings: [WebSocketConnection] = []
      while true {
        let (arrivals, newClosings) = state.withLock { state in
          defer {
            state.arrivals = []
            state.closings = []
            state.isWoken = false
          }
          return (state.arrivals, state.closings)
        }
        closings += newClosings
        for arrival in arrivals {
          guard let connection = arrival.connection else { continue }
          links.append(
            Link(
              connection, url: arrival.url, options: arrival.options,
              addresses: arrival.addresses, now: Self.now))
        }
        var waits: [pollfd] = [pollfd(fd: wakePipe.read, events: Int16(POLLIN), revents: 0)]
        var deadline: Int64?
        for link in links {
          link.turn(now: Self.now, reading: memory, joiningIn: scratch)
          if link.isOver { continue }
          waits.append(pollfd(fd: link.descriptor, events: link.events, revents: 0))
          if let time = link.deadline { deadline = min(deadline ?? time, time) }
        }
        links.removeAll { $0.isOver }
        closings.removeAll { connection in !links.contains { $0.serves(connection) } }
        let timeout = deadline.map { Int32(clamping: max(0, $0 - Self.now)) } ?? -1
        poll(&waits, nfds_t(waits.count), timeout)
        if waits[0].revents != 0 {
          var byte: UInt8 = 0
          while read(wakePipe.read, &byte, 1) > 0 {}
        }
        for (link, wait) in zip(links, waits.dropFirst()) { link.happened(wait.revents) }
      }
    }

    private static var now: Int64 {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
  }

  /// An address to connect to.
  package struct SocketAddress: Sendable {
    let family: Int32
    let bytes: [UInt8]

    /// Resolves the addresses of a host, in the order in which to try them. Blocks.
    package static func all(of host: String, port: UInt16) -> [SocketAddress] {
      var hints = addrinfo()
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
      var first: UnsafeMutablePointer<addrinfo>?
      guard getaddrinfo(host, String(port), &hints, &first) == 0 else { return [] }
      defer { freeaddrinfo(first) }
      var addresses: [SocketAddress] = []
      var next = first
      while let entry = next?.pointee, addresses.count < 16 {
        if let address = entry.ai_addr {
          let bytes = UnsafeRawBufferPointer(start: address, count: Int(entry.ai_addrlen))
          addresses.append(SocketAddress(family: entry.ai_family, bytes: Array(bytes)))
        }
        next = entry.ai_next
      }
      return addresses
    }

    /// Whether a host is an address, not a name.
    static func isAddress(_ host: String) -> Bool {
      var room = in6_addr()
      return inet_pton(AF_INET, host, &room) == 1 || inet_pton(AF_INET6, host, &room) == 1
    }
  }
#endif
