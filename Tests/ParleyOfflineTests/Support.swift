import Foundation
import Observation
import ParleyClient
import Synchronization

/// Waits until something holds that views could observe.
@MainActor func until(_ condition: @escaping @MainActor () -> Bool) async {
  while !condition() {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let isResumed = Mutex(false)
      _ = withObservationTracking(condition) {
        let isFirst = isResumed.withLock { isResumed in
          defer { isResumed = true }
          return !isResumed
        }
        // The value changes after this.
        if isFirst { Task { @MainActor in continuation.resume() } }
      }
    }
  }
}

/// A program of the build that these tests are part of, with its output line by line.
final class Helper {
  private let process = Process()
  private let input = Pipe()
  private let lines = Feed<String>(bound: 100_000)

  /// The file of a program of this build.
  static func program(_ name: String) -> URL {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    return tests.deletingLastPathComponent().appendingPathComponent(name)
  }

  convenience init(
    _ name: String, _ arguments: [String], environment: [String: String] = [:]
  ) throws {
    try self.init(Self.program(name), arguments, environment: environment)
  }

  init(_ program: URL, _ arguments: [String], environment: [String: String] = [:]) throws {
    process.executableURL = program
    process.arguments = arguments
    if !environment.isEmpty {
      process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    }
    let output = Pipe()
    process.standardOutput = output
    process.standardInput = input
    try process.run()
    // A thread of its own waits: those of tasks are few.
    let (handle, lines) = (output.fileHandleForReading, lines)
    Thread.detachNewThread {
      var line = Data()
      while let byte = try? handle.read(upToCount: 1), !byte.isEmpty {
        if byte == Data("\n".utf8) {
          lines.put(String(decoding: line, as: UTF8.self)) { Array($0) }
          line = Data()
        } else {
          line += byte
        }
      }
      lines.finish()
    }
  }

  deinit {
    process.terminate()
    process.waitUntilExit()
  }

  func write(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }

  /// The next line; `nil` at the end.
  func line() async -> String? { await lines.next() }

  /// Reads on until it prints a line. Only the newest list is printed where several come at once.
  func shows(_ wanted: String) async -> Bool {
    while let line = await line() {
      if line == wanted { return true }
    }
    return false
  }

  /// Ends it as a crash does.
  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
