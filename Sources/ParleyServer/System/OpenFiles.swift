import Glibc

/// This process's limit of open files and sockets.
package enum OpenFiles {
  /// Descriptors for connections that are being rejected or closed.
  static let leaving = 1_024

  /// Returns the current limit, and the limit to which it can be raised.
  static func limit() -> (soft: Int, hard: Int) {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return (1_024, 1_024)
    }
    return (Int(clamping: limit.rlim_cur), Int(clamping: limit.rlim_max))
  }

  /// Sets the soft limit to the number needed, up to the hard limit.
  ///
  /// It may raise the limit: the usual 1,024 is meant for programs that use `select`, unlike this
  /// one. It may lower the limit too, so that a leak of descriptors is bounded, and libraries
  /// allocate smaller tables.
  ///
  /// - Returns: The new soft limit.
  @discardableResult
  package static func settle(wanted: Int) -> Int {
    let (soft, hard) = limit()
    let wanted = min(wanted + leaving, hard)
    guard wanted != soft else { return soft }
    var settled = rlimit(rlim_cur: rlim_t(wanted), rlim_max: rlim_t(hard))
    // "Unlimited" is a different value than the maximum integer.
    if hard == Int.max { settled.rlim_max = rlim_t.max }
    guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &settled) == 0 else { return soft }
    return wanted
  }
}
