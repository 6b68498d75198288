import Glibc

/// The limit of open files and sockets of this process.
package enum OpenFiles {
  /// Sockets of clients that are being turned away or seen off.
  static let leaving = 1_024

  /// Returns the present limit, and the one to which it can be raised.
  static func limit() -> (soft: Int, hard: Int) {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return (1_024, 1_024)
    }
    return (Int(clamping: limit.rlim_cur), Int(clamping: limit.rlim_max))
  }

  /// Sets the soft limit to what is needed, as far as the hard one allows, up or down.
  ///
  /// Up, for the usual 1,024 are there for old programs that use `select`, which this one does not.
  /// Down, lest a fault use up descriptors without a bound; and libraries keep tables of as many as there
  /// may be.
  ///
  /// - Returns: How many may be open from now on.
  @discardableResult
  package static func settle(wanted: Int) -> Int {
    let (soft, hard) = limit()
    let wanted = min(wanted + leaving, hard)
    guard wanted != soft else { return soft }
    var settled = rlimit(rlim_cur: rlim_t(wanted), rlim_max: rlim_t(hard))
    // No limit at all is another number than the largest.
    if hard == Int.max { settled.rlim_max = rlim_t.max }
    guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &settled) == 0 else { return soft }
    return wanted
  }
}
