import Glibc

/// A value with a lock and a condition: the mailbox between two threads.
///
/// Over `pthread` rather than `Synchronization.Mutex`, in which ThreadSanitizer sees races that
/// are not there on this platform, and which cannot be waited on.
package final class Monitor<Value>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var value: Value

  package init(_ value: sending Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    // Waits are not to last longer because somebody set the clock.
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Calls `body` with the value, alone.
  package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }

  /// Wakes all who wait, to look at the value again.
  package func signal() { pthread_cond_broadcast(condition) }

  /// Waits until `condition` holds, then calls `body` with the value, alone.
  package func wait<Result>(
    until holds: (Value) -> Bool, then body: (inout Value) throws -> Result
  ) rethrows -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while !holds(value) { pthread_cond_wait(condition, mutex) }
    return try body(&value)
  }
}

extension Monitor {
  /// Waits until `condition` holds, or until the time is over.
  package func wait(atMostMilliseconds limit: Int, until holds: (Value) -> Bool) {
    var deadline = timespec()
    clock_gettime(CLOCK_MONOTONIC, &deadline)
    deadline.tv_sec += limit / 1_000
    deadline.tv_nsec += limit % 1_000 * 1_000_000
    if deadline.tv_nsec >= 1_000_000_000 {
      deadline.tv_sec += 1
      deadline.tv_nsec -= 1_000_000_000
    }
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while !holds(value) {
      if pthread_cond_timedwait(condition, mutex, &deadline) != 0 { return }
    }
  }
}

/// Hands a value that is not `Sendable` to the one thread that will own it.
package final class Handover<Value>: @unchecked Sendable {
  private var value: Value?

  package init(_ value: sending Value) { self.value = value }

  /// Works with the value before it is taken, on the thread that hands it over.
  package func prepare<Result: Sendable>(_ body: (Value) throws -> Result) rethrows -> Result {
    guard let value else { preconditionFailure("the value was taken before") }
    return try body(value)
  }

  /// Takes the value. Only once.
  package func take() -> Value {
    guard let taken = value else { preconditionFailure("the value was taken before") }
    value = nil
    return taken
  }
}

/// A thread of the operating system.
package enum Thread {
  private final class Start {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs `body` on a new, detached thread.
  package static func start(_ body: @escaping @Sendable () -> Void) {
    let start = Unmanaged.passRetained(Start(body))
    var thread = pthread_t()
    let failure = pthread_create(
      &thread, nil,
      { raw in
        guard let raw else { return nil }
        Unmanaged<Start>.fromOpaque(raw).takeRetainedValue().body()
        return nil
      }, start.toOpaque())
    precondition(failure == 0, "no thread could be started: error \(failure)")
    pthread_detach(thread)
  }
}
