import Glibc

/// The processor time of the calling thread.
///
/// Time in which the thread waits, or in which others run, does not count.
public enum ThreadClock {
  /// Nanoseconds that the thread has run so far.
  public static var nanoseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
