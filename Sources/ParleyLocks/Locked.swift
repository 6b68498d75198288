#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A value behind a `pthread_mutex_t`.
///
/// ThreadSanitizer understands this lock. In `Synchronization.Mutex` it sees races that are not there:
/// on Linux a thread that waits is given the lock by the kernel (`FUTEX_LOCK_PI`), which the sanitizer
/// does not see (Swift 6.3, `Synchronization/Mutex/LinuxImpl.swift`).
package final class Locked<Value>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var value: Value

  package init(_ value: sending Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Calls `body` with the value, alone.
  package func withLock<Result, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}
