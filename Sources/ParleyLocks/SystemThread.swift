#if canImport(Glibc)
  import Glibc

  /// A thread of the operating system, to be joined once.
  package struct SystemThread: Sendable {
    private final class Work {
      let body: @Sendable () -> Void

      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private let handle: pthread_t

    /// Runs `body` on a new thread. `nil` when the system gives none.
    package init?(_ body: @escaping @Sendable () -> Void) {
      let work = Unmanaged.passRetained(Work(body))
      var thread = pthread_t()
      let failure = pthread_create(
        &thread, nil,
        { raw in
          if let raw { Unmanaged<Work>.fromOpaque(raw).takeRetainedValue().body() }
          return nil
        }, work.toOpaque())
      guard failure == 0 else {
        work.release()
        return nil
      }
      handle = thread
    }

    /// Runs `body` on a new, detached thread.
    package static func start(_ body: @escaping @Sendable () -> Void) {
      guard let thread = Self(body) else { preconditionFailure("no thread could be started") }
      pthread_detach(thread.handle)
    }

    /// Waits for the thread to end.
    package func join() { pthread_join(handle, nil) }

    /// Whether the caller runs on this thread.
    package var isCurrent: Bool { pthread_equal(pthread_self(), handle) != 0 }
  }
#endif
