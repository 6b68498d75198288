import Foundation
import Glibc
import Synchronization

/// A line to PostgreSQL that can be cut: before a request reaches the server, or before its answer
/// returns.
final class PostgresProxy: Sendable {
  /// The fate of the next bytes that come by.
  enum Trouble {
    case none
    /// The next bytes of a client are not passed on, and its connection ends.
    case loseRequest
    /// The next bytes of the server that hold these words are not passed on, and the connection ends.
    case loseAnswer(String)
    /// Nothing more of the server is passed on, on connections that are open now; they stay open.
    case silence
    /// All connections end at once, and new ones are refused.
    case down
    /// The same, once the next bytes of the server have been passed on.
    case downAfterAnswer
  }

  /// The folder of the socket, to be named as `host`.
  let folder: String
  private let target: String
  private let listener: Int32
  private let trouble = Mutex(Trouble.none)
  private let troubles = Atomic(0)
  private let befallen = DispatchSemaphore(value: 0)
  private let connections = Atomic(0)

  /// Begins to listen.
  init(to server: PostgresServer) throws {
    // Goes with the server's.
    folder = server.folder + "/line-\(UUID().uuidString.prefix(8))"
    target = server.folder + "/.s.PGSQL.5432"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let path = folder + "/.s.PGSQL.5432"
    guard Self.with(path, { bind(listener, $0, $1) }) == 0, listen(listener, 16) == 0 else {
      throw PostgresServer.Failure(description: "no socket at \(path)")
    }
    let accepting = Thread { [self] in accept() }
    accepting.start()
  }

  deinit {
    close(listener)
  }

  /// Has something befall the next bytes.
  func bring(_ trouble: Trouble) { self.trouble.withLock { $0 = trouble } }

  /// The number of times that something has befallen a connection.
  var troubleCount: Int { troubles.load(ordering: .acquiring) }

  /// Waits for the next trouble of a connection, or takes one that was not waited for.
  func waitForTrouble() { befallen.wait() }

  /// The number of connections that were made.
  var connectionCount: Int { connections.load(ordering: .acquiring) }

  private func accept() {
    while true {
      let client = Glibc.accept(listener, nil, nil)
      guard client >= 0 else { return }
      let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      let isDown = trouble.withLock { if case .down = $0 { true } else { false } }
      guard !isDown, Self.with(target, { connect(server, $0, $1) }) == 0 else {
        close(client)
        close(server)
        continue
      }
      connections.add(1, ordering: .releasing)
      let forwarding = Thread { [self] in forward(client, server) }
      forwarding.start()
    }
  }

  private func forward(_ client: Int32, _ server: Int32) {
    defer {
      close(client)
      close(server)
    }
    var isSilent = false
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      var waiting = [
        pollfd(fd: client, events: Int16(POLLIN), revents: 0),
        pollfd(fd: server, events: Int16(POLLIN), revents: 0),
      ]
      poll(&waiting, 2, 20)
      if trouble.withLock({ if case .down = $0 { true } else { false } }) { return }
      for (place, from) in [client, server].enumerated() where waiting[place].revents != 0 {
        let count = read(from, &buffer, buffer.count)
        guard count > 0 else { return }
        let isAnswer = place == 1
        let text = String(decoding: buffer[..<count], as: UTF8.self)
        let (isCut, silences) = trouble.withLock { trouble in
          switch trouble {
          case .loseRequest where !isAnswer:
            trouble = .none
            return (true, false)
          case .loseAnswer(let words) where isAnswer && text.contains(words):
            trouble = .none
            return (true, false)
          case .downAfterAnswer where isAnswer:
            trouble = .down
            return (false, false)
          case .silence where isAnswer:
            trouble = .none
            return (false, true)
          default: return (false, false)
          }
        }
        if isCut || silences {
          troubles.add(1, ordering: .releasing)
          befallen.signal()
        }
        if isCut { return }
        isSilent = isSilent || silences
        if isSilent, isAnswer { continue }
        var sent = 0
        while sent < count {
          let more = buffer[sent..<count].withUnsafeBytes {
            send(isAnswer ? client : server, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
          }
          guard more > 0 else { return }
          sent += more
        }
      }
    }
  }

  private static func with<Result>(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(100)) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
