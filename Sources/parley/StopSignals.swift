@preconcurrency import Glibc
import Locks

/// SIGTERM, SIGINT and SIGHUP, waited for instead of handled, so that nothing runs in a signal handler.
struct StopSignals {
  /// Keeps the signals from this thread, and from those that are started from now on.
  init() {
    var set = Self.set
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Returns when the first signal to stop has come; calls `reload` at every SIGHUP before it.
  func wait(reload: () -> Void) {
    while Self.next() == SIGHUP { reload() }
  }

  /// Returns the first of the signals that has come, SIGHUP among them.
  func first() -> Int32 { Self.next() }

  /// From now on a signal ends the process at once, as a person who presses Ctrl-C again expects.
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
