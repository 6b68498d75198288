import Foundation
import Glibc

/// A NATS server of the tests' own, on a port that the system chooses.
final class NATSServer {
  struct Failure: Error, CustomStringConvertible { let description: String }

  let port: Int
  private var process: Process
  private let arguments: [String]

  init(_ arguments: [String] = []) throws {
    port = try Self.freePort()
    self.arguments = ["-a", "127.0.0.1", "-p", "\(port)"] + arguments
    process = try Self.run(self.arguments)
    try waitUntilReady()
  }

  deinit { stop() }

  var address: String { "nats://127.0.0.1:\(port)" }

  /// Ends the server as a crash would.
  func stop() {
    guard process.isRunning else { return }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Starts it again on the same port.
  func startAgain() throws {
    process = try Self.run(arguments)
    try waitUntilReady()
  }

  /// Stops the process, or continues it.
  func pause(_ stops: Bool) { kill(process.processIdentifier, stops ? SIGSTOP : SIGCONT) }

  // MARK: A stranger

  /// Opens a connection on which nothing has been said.
  func limitedClient() throws -> Int32 {
    let end = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard Self.with(port, { Glibc.connect(end, $0, $1) }) == 0 else {
      throw Failure(description: "nats-server does not accept connections")
    }
    return end
  }

  func say(_ text: String, on line: Int32) { say(Array(text.utf8), on: line) }

  func say(_ bytes: [UInt8], on line: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(line, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Waits for the next message, and returns its subject and its bytes.
  func hear(on line: Int32) throws -> (subject: String, bytes: [UInt8]) {
    var all: [UInt8] = []
    while true {
      var buffer = [UInt8](repeating: 0, count: 4_096)
      let count = read(line, &buffer, buffer.count)
      guard count > 0 else { throw Failure(description: "nats-server has ended the connection") }
      all += buffer.prefix(count)
      let lines = all.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      guard let place = lines.firstIndex(where: { $0.starts(with: Array("MSG ".utf8)) }),
        place + 1 < lines.count
      else { continue }
      let words = String(decoding: lines[place], as: UTF8.self).split { $0 == " " || $0 == "\r" }
      guard words.count == 4, let length = Int(words[3]) else { continue }
      let start = lines[place + 1].startIndex
      guard all.count >= start + length else { continue }
      return (String(words[1]), Array(all[start..<start + length]))
    }
  }

  private static func run(_ arguments: [String]) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.environment = ["PATH": "/usr/sbin:/usr/bin:/bin"]
    process.arguments = ["nats-server"] + arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }

  private func waitUntilReady() throws {
    while true {
      let end = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(end) }
      if Self.with(port, { connect(end, $0, $1) }) == 0 { return }
      guard process.isRunning else {
        throw Failure(description: "nats-server did not start; install the package nats-server")
      }
      poll(nil, 0, 10)
    }
  }

  private static func freePort() throws -> Int {
    let end = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(end) }
    guard with(0, { bind(end, $0, $1) }) == 0 else { throw Failure(description: "no free port") }
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) {
      _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(end, $0, &length) }
    }
    return Int(UInt16(bigEndian: address.sin_port))
  }

  private static func with<Result>(
    _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}
