@preconcurrency import Glibc
import ParleyLocks

/// Waits for SIGTERM, SIGINT and SIGHUP, which are blocked and so need no signal handler.
struct StopSignals {
  /// Blocks the signals in this thread, and in threads that are started later.
  init() {
    var set = Self.set
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Waits for the first SIGTERM or SIGINT, and calls `reload` for each SIGHUP before it.
  func wait(reload: () -> Void) {
    while Self.next() == SIGHUP { reload() }
  }

  /// Waits for any of the signals, and returns its number.
  func first() -> Int32 { Self.next() }

  /// Makes the next SIGTERM or SIGINT end the process at once, as users expect of a second Ctrl-C.
  func endAtNext() {
    SystemThread.start {
      while true {
        let signal = Self.next()
        if signal != SIGHUP { _exit(128 + signal) }
      }
    }
  }

  private static var set: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGTERM)
    sigaddset(&set, SIGINT)
    sigaddset(&set, SIGHUP)
    return set
  }

  private static func next() -> Int32 {
    var set = Self.set
    var signal: Int32 = 0
    sigwait(&set, &signal)
    return signal
  }
}
