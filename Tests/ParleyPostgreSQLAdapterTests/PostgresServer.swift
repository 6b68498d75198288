import CParleyPostgres
import Foundation
import Synchronization
import Testing

/// PostgreSQL, started for these tests: its data in a folder of its own, no port, ended with them.
final class PostgresServer: Sendable {
  struct Failure: Error, CustomStringConvertible { let description: String }

  /// A server for all tests, each of which has a database of its own.
  static let shared = Result { try PostgresServer() }

  /// The folder of the socket.
  let folder: String
  private let command: [String]
  private let process: Mutex<Process?>
  private let databases = Atomic(0)

  /// Starts a server; PostgreSQL refuses to run as root, so root starts it as another user.
  init(_ settings: [String] = []) throws {
    let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    folder = "\(parent)/parley-pg-\(UUID().uuidString.prefix(8))"
    guard let binaries = Self.binaries else {
      throw Failure(description: "expected PostgreSQL's initdb; install the package postgresql")
    }
    try Self.run(["mkdir", "-m", "755", folder])
    if getuid() == 0 { try Self.run(["chown", Self.user, folder]) }
    let data = folder + "/data"
    try Self.run(
      Self.asUser([
        binaries + "/initdb", "-D", data, "-U", "parley", "-A", "trust", "-E", "UTF8", "--locale=C",
        "--no-sync",
      ]))
    command = Self.asUser(
      [
        binaries + "/postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", "-c",
        "shared_buffers=32MB", "-c", "max_connections=60", "-c", "log_destination=stderr", "-c",
        "max_wal_size=64MB",
      ] + settings)
    try Data().write(to: URL(fileURLWithPath: folder + ".log"))
    let process = try Self.start(command, log: folder + ".log")
    self.process = Mutex(process)
    Self.running.withLock { $0.append(self) }
    Self.endWithTests
    try waitUntilReady(process)
  }

  private static func start(_ command: [String], log: String) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.currentDirectoryURL = URL(fileURLWithPath: "/")
    process.standardError = FileHandle(forWritingAtPath: log) ?? FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    return process
  }

  /// Restarts as a standby of itself that takes its own place.
  func promote() throws {
    let ended = process.withLock { process in process.take() }
    if let ended {
      kill(ended.processIdentifier, SIGINT)
      ended.waitUntilExit()
    }
    try Self.run(Self.asUser(["touch", folder + "/data/standby.signal"]))
    let started = try Self.start(command, log: folder + ".log")
    process.withLock { $0 = started }
    try waitUntilReady(started)
    try execute("SELECT pg_promote(true)")
  }

  /// Crashes a process of the server: all processes end, and the server recovers from its log.
  func crash(process id: String) throws {
    let witness = PQconnectdb(address(of: "postgres"))
    defer { PQfinish(witness) }
    guard let id = Int32(id), kill(id, SIGKILL) == 0 else {
      throw Failure(description: "there is no process \(id)")
    }
    // Until the server has noticed it takes connections, and ends them a moment later: the one of before tells.
    while case let result = PQexec(witness, "SELECT 1"), PQresultStatus(result) == PGRES_TUPLES_OK {
      PQclear(result)
      poll(nil, 0, 5)
    }
    while (try? execute("SELECT 1")) != ["1"] { poll(nil, 0, 5) }
  }

  /// Ends the server, and removes its files.
  func stop() {
    guard let process = process.withLock({ process in process.take() }) else { return }
    // A fast end: connections are closed.
    kill(process.processIdentifier, SIGINT)
    process.waitUntilExit()
    try? Self.run(["rm", "-rf", folder, folder + ".log"])
  }

  /// Makes an empty database and returns its address.
  func newDatabase(user: String = "parley") throws -> String {
    let name = "test\(databases.add(1, ordering: .relaxed).newValue)"
    try execute("CREATE DATABASE \(name) TEMPLATE template0")
    return address(of: name, user: user)
  }

  /// The address of a database.
  func address(of name: String, user: String = "parley") -> String {
    "postgres:///\(name)?host=\(folder)&user=\(user)"
  }

  /// Runs a statement in a database, and returns the first column of its rows.
  @discardableResult
  func execute(_ sql: String, in address: String? = nil) throws -> [String] {
    let connection = PQconnectdb(address ?? self.address(of: "postgres"))
    defer { PQfinish(connection) }
    guard PQstatus(connection) == CONNECTION_OK else {
      throw Failure(description: String(cString: PQerrorMessage(connection)))
    }
    let result = PQexec(connection, sql)
    defer { PQclear(result) }
    guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
      throw Failure(description: String(cString: PQresultErrorMessage(result)))
    }
    return (0..<PQntuples(result)).map { String(cString: PQgetvalue(result, $0, 0)) }
  }

  // MARK: Starting

  private static let user = "postgres"

  private static let running = Mutex<[PostgresServer]>([])

  private static let endWithTests: Void = {
    atexit {
      for server in PostgresServer.running.withLock({ $0 }) { server.stop() }
    }
  }()

  private static var binaries: String? {
    let root = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    return versions.compactMap(Int.init).max().map { "\(root)/\($0)/bin" }
  }

  private static func asUser(_ command: [String]) -> [String] {
    getuid() == 0
      ? ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups"] + command : command
  }

  private static func run(_ command: [String]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.currentDirectoryURL = URL(fileURLWithPath: "/")
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(
        description: "\(command[0]) failed: \(String(decoding: text, as: UTF8.self))")
    }
  }

  private func waitUntilReady(_ process: Process) throws {
    while PQping(address(of: "postgres")) != PQPING_OK {
      guard process.isRunning else {
        let log = (try? String(contentsOfFile: folder + ".log", encoding: .utf8)) ?? ""
        throw Failure(description: "PostgreSQL did not start: \(log)")
      }
      poll(nil, 0, 20)
    }
  }
}
