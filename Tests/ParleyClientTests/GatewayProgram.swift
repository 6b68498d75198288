import Foundation
import Glibc
import ParleyLocks

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The built program, serving on a free port of this machine from a data folder of its own.
final class GatewayProgram: Sendable {
  struct Failure: Error, CustomStringConvertible { let description: String }

  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// `PARLEY_PROGRAM`, or the program of the build that these tests are part of: it is beside them.
  static var program: URL {
    if let path = ProcessInfo.processInfo.environment["PARLEY_PROGRAM"] {
      return URL(fileURLWithPath: path)
    }
    if let tests = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
      let program = URL(fileURLWithPath: tests).deletingLastPathComponent()
        .appendingPathComponent("parley")
      if FileManager.default.isExecutableFile(atPath: program.path) { return program }
    }
    #if DEBUG
      let folder = "debug"
    #else
      let folder = "release"
    #endif
    return root.appendingPathComponent(".build/\(folder)/parley")
  }

  let folder: URL
  let port: UInt16
  private let process: Process

  convenience init(_ flags: String...) throws { try self.init(in: Self.newFolder(), flags: flags) }

  /// A new folder for a server's files.
  static func newFolder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("parley-client-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  /// Serves from a folder, which goes with it.
  init(in folder: URL, flags: [String]) throws {
    self.folder = folder
    try Data("a secret for these tests, of 32 bytes or more\n".utf8)
      .write(to: folder.appendingPathComponent("secret"))
    let program = Self.program
    guard FileManager.default.isExecutableFile(atPath: program.path) else {
      throw Failure(description: "no program at \(program.path): build it, or set PARLEY_PROGRAM")
    }
    process = Process()
    process.executableURL = program
    process.currentDirectoryURL = folder
    process.environment = ["PATH": "/usr/bin:/bin"]
    process.arguments =
      ["serve", "--port", "0", "--data-dir", "data", "--web-dir"]
      + [Self.root.appendingPathComponent("Web").path] + flags
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    var output = Data()
    while true {
      let more = pipe.fileHandleForReading.availableData
      output += more
      let lines = String(decoding: output, as: UTF8.self)
      if let match = lines.firstMatch(of: /listening on \S+:(\d+)\n/), let port = UInt16(match.1) {
        self.port = port
        return
      }
      guard !more.isEmpty else { throw Failure(description: "it ended: \(lines)") }
    }
  }

  deinit {
    process.terminate()
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: folder)
  }

  var address: String { "ws://127.0.0.1:\(port)" }

  /// Makes a note under an id.
  func makeNote(_ id: String, token: String? = nil) async throws {
    guard let url = URL(string: "http://127.0.0.1:\(port)/api/notes/\(id)") else { return }
    var request = URLRequest(url: url)
    request.httpMethod = "PUT"
    request.httpBody = Data(#"{"title":"A note"}"#.utf8)
    if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
    let (_, response) = try await URLSession.shared.data(for: request)
    let status = (response as? HTTPURLResponse)?.statusCode
    guard status == 201 else { throw Failure(description: "making a note: \(status ?? 0)") }
  }

  /// Changes a room's values over HTTP, and blocks until they are stored.
  func change(_ room: String, _ operations: String) {
    guard let url = URL(string: "http://127.0.0.1:\(port)/api/rooms/\(room)/values") else { return }
    var request = URLRequest(url: url)
    request.httpMethod = "PATCH"
    request.httpBody = Data(#"{"values":\#(operations)}"#.utf8)
    let stored = DispatchSemaphore(value: 0)
    URLSession.shared.dataTask(with: request) { _, _, _ in stored.signal() }.resume()
    stored.wait()
  }

  /// A token for a person, signed by the secret of ``init(_:)``'s folder.
  func token(
    for user: String, document: String = "*=all", room: String = "*=all", lasting: String = "1h",
    audience: String = "parley"
  ) throws -> String {
    let process = Process()
    process.executableURL = Self.program
    process.arguments = [
      "token", "make", "--user", user, "--document", document, "--room", room, "--expires-in",
      lasting,
      "--audience", audience, "--secret", folder.appendingPathComponent("secret").path,
    ]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

/// A network that a test cuts: forwards TCP to a port, on threads of its own.
final class CuttingProxy: Sendable {
  private struct State {
    var sockets: [Int32] = []
    var isOpen = true
    var isOver = false
  }

  let port: UInt16
  private let listener: Int32
  private let target: UInt16
  private let state = Locked(State())

  init(to target: UInt16) throws {
    self.target = target
    let listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    self.listener = listener
    var address = Self.loopback(port: 0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, size) == 0 && listen(listener, 16) == 0
          && getsockname(listener, address, &size) == 0
      }
    }
    guard bound else { throw GatewayProgram.Failure(description: "no port for a proxy") }
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread { [self] in accepting() }
  }

  var address: String { "ws://127.0.0.1:\(port)" }

  /// Ends all connections, and takes no more of them.
  func cut() {
    state.withLock { state in
      state.isOpen = false
      for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
    }
  }

  /// Takes connections again.
  func mend() { state.withLock { $0.isOpen = true } }

  /// Ends all connections; new ones are taken.
  func interrupt() {
    cut()
    mend()
  }

  /// Ends it; its thread goes, too.
  func close() {
    cut()
    state.withLock { $0.isOver = true }
    shutdown(listener, Int32(SHUT_RDWR))
  }

  private static func loopback(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    address.sin_port = port.bigEndian
    return address
  }

  private func accepting() {
    while true {
      let client = accept(listener, nil, nil)
      if state.withLock({ $0.isOver }) || client < 0 {
        if client >= 0 { Glibc.close(client) }
        Glibc.close(listener)
        return
      }
      let server = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = Self.loopback(port: target)
      let isConnected = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      let isTaken = state.withLock { state in
        guard state.isOpen, isConnected else { return false }
        state.sockets += [client, server]
        return true
      }
      guard isTaken else {
        Glibc.close(client)
        Glibc.close(server)
        continue
      }
      // Each end is closed once both directions are done.
      let directions = Locked(2)
      let shared = Shared(directions: directions)
      Thread.detachNewThread { [self] in forward(client, server, shared) }
      Thread.detachNewThread { [self] in forward(server, client, shared) }
    }
  }

  private final class Shared: Sendable {
    let directions: Locked<Int>
    init(directions: Locked<Int>) { self.directions = directions }
  }

  private func forward(_ from: Int32, _ to: Int32, _ shared: Shared) {
    var bytes = [UInt8](repeating: 0, count: 16 << 10)
    reading: while true {
      let count = read(from, &bytes, bytes.count)
      guard count > 0 else { break }
      var sent = 0
      while sent < count {
        let more = bytes[sent..<count].withUnsafeBytes {
          send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard more > 0 else { break reading }
        sent += more
      }
    }
    shutdown(from, Int32(SHUT_RDWR))
    shutdown(to, Int32(SHUT_RDWR))
    let isLast = shared.directions.withLock { left in
      left -= 1
      return left == 0
    }
    guard isLast else { return }
    state.withLock { state in state.sockets.removeAll { $0 == from || $0 == to } }
    Glibc.close(from)
    Glibc.close(to)
  }
}
