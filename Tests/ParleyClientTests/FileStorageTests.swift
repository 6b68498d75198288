import Foundation
import ParleyClient
import Synchronization
import Testing

@Suite("A storage of files")
struct FileStorageTests {
  @Test("a storage that is refused closes its lock once, and no file of another part of the app")
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
