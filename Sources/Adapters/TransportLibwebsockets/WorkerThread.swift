import CLibwebsocketsShim
import Glibc

/// A joinable thread with a name.
struct WorkerThread: Sendable {
  private final class Work {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  private let handle: pthread_t

  /// Starts a thread. `nil` when the system gives none.
  init?(name: String, _ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let work = Unmanaged.passRetained(
      Work {
        parley_name_thread(name)
        body()
      })
    let status = pthread_create(
      &thread, nil,
      { argument in
        if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
        return nil
      }, work.toOpaque())
    guard status == 0 else {
      work.release()
      return nil
    }
    handle = thread
  }

  /// Waits for the thread to end. Call once.
  func join() { pthread_join(handle, nil) }

  /// Whether the caller runs on this thread.
  var isCurrent: Bool { pthread_equal(pthread_self(), handle) != 0 }
}

/// Seconds that never go back, cheap enough for every turn of a loop.
func monotonicMilliseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
  return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
}
