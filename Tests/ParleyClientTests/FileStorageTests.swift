import Foundation
import ParleyClient
import Synchronization
import Testing

@Suite("A storage of files")
struct FileStorageTests {
  @Test("a refused storage closes its lock once, and closes no file that another thread opened")
  func refused() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("parley-files-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let first = try FileStorage(folder: folder)
    let watcher = Watcher()
    watcher.start()
    for _ in 0..<3_000 {
      do throws(FileStorage.Failure) {
        _ = try FileStorage(folder: folder)
        Issue.record("a second storage on the folder")
      } catch {}
    }
    #expect(watcher.end() == 0)
    withExtendedLifetime(first) {}
  }

  @Test("a folder and missing folders above it are created, and only the owner may use them")
  func folders() async throws {
    let base = FileManager.default.temporaryDirectory
      .appendingPathComponent("parley-files-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: base) }
    let storage = try FileStorage(folder: base + "/app//notes/")
    try await storage.write([1], for: "k")
    for folder in ["", "/app", "/app/notes"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: base + folder)
      #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700, "\(folder)")
    }
    #expect(throws: FileStorage.Failure.self) {
      try FileStorage(folder: base + "/app/notes/lock/x")
    }
    #expect(throws: FileStorage.Failure.self) { try FileStorage(folder: "") }
  }

  @Test("any name, even one with slashes or dots, becomes one folder in the app's data")
  func names() {
    let program = CommandLine.arguments[0].split(separator: "/").last.map { String($0) } ?? ""
    func path(_ name: String, _ variables: [String: String]) -> String {
      DataFolder.path(named: name) { variables[$0] }
    }
    #expect(path("ann", ["HOME": "/folder/a"]) == "/folder/a/.local/share/\(program)/=ann")
    #expect(
      path("../é", ["HOME": "/h", "XDG_DATA_HOME": "/d"]) == "/d/\(program)/=%2e%2e%2f%c3%a9")
    #expect(path("a", ["HOME": "/h", "XDG_DATA_HOME": "d"]) == "/h/.local/share/\(program)/=a")
  }

  /// A thread that opens files, and counts those that another thread has closed.
  private final class Watcher: Sendable {
    private let isEnding = Atomic(false)
    private let lost = Atomic(0)
    private let ended = DispatchSemaphore(value: 0)

    func start() {
      Thread.detachNewThread { [self] in
        while !isEnding.load(ordering: .relaxed) {
          let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
          guard file >= 0 else { continue }
          if close(file) != 0 { lost.add(1, ordering: .relaxed) }
        }
        ended.signal()
      }
    }

    func end() -> Int {
      isEnding.store(true, ordering: .relaxed)
      ended.wait()
      return lost.load(ordering: .relaxed)
    }
  }
}
