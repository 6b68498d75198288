import Glibc

/// The processor time of the calling thread.
///
/// Waiting and other threads do not count.
public enum ThreadClock {
  /// The nanoseconds that the thread has run so far.
  public static var nanoseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
