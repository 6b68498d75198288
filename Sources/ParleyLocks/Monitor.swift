#if canImport(Glibc)
  import Glibc

  /// A value with a lock and a condition: the mailbox between two threads.
  ///
  /// Over `pthread`, as ``Locked``; a `Synchronization.Mutex` cannot be waited on, either.
  package final class Monitor<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    package init(_ value: sending Value) {
      self.value = value
      mutex = .allocate(capacity: 1)
      condition = .allocate(capacity: 1)
      pthread_mutex_init(mutex, nil)
      // A change of the system's clock must not make waits longer.
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

    /// Changes the value, and wakes all who wait to look at it again.
    package func change(_ body: (inout Value) -> Void) {
      withLock(body)
      signal()
    }

    /// Wakes all who wait, to look at the value again.
    package func signal() { pthread_cond_broadcast(condition) }

    /// Waits until `condition` holds.
    package func wait(until holds: (Value) -> Bool) { wait(until: holds, then: { _ in }) }

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
      wait(atMostMilliseconds: limit, until: holds, then: { _ in })
    }

    /// Waits until `condition` holds, or until the time is over, then calls `body` with the value, alone.
    package func wait<Result>(
      atMostMilliseconds limit: Int, until holds: (Value) -> Bool,
      then body: (inout Value) throws -> Result
    ) rethrows -> Result {
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
        if pthread_cond_timedwait(condition, mutex, &deadline) != 0 { break }
      }
      return try body(&value)
    }
  }
#endif
