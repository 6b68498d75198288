import Foundation
import Observation
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
  let process = Process()
  private let output = Pipe()
  private let input = Pipe()

  init(_ name: String, _ arguments: [String]) throws {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.executableURL = tests.deletingLastPathComponent().appendingPathComponent(name)
    process.arguments = arguments
    process.standardOutput = output
    process.standardInput = input
    try process.run()
  }

  deinit {
    process.terminate()
    process.waitUntilExit()
  }

  func write(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }

  /// The next line; `nil` at the end.
  func line() -> String? {
    var line = Data()
    while let byte = try? output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty {
      if byte == Data("\n".utf8) { return String(decoding: line, as: UTF8.self) }
      line += byte
    }
    return nil
  }

  /// Ends it as a crash does.
  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
