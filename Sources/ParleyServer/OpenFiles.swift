import Glibc

/// How many files and sockets this process may have open.
package enum OpenFiles {
  /// Beside connections: the database, the page's files, the loops.
  static let reserve = 64

  /// What the system allows now, and what it could be raised to.
  static func limit() -> (soft: Int, hard: Int) {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return (1_024, 1_024)
    }
    return (Int(clamping: limit.rlim_cur), Int(clamping: limit.rlim_max))
  }

  /// Raises the limit to what is wanted, as far as it may be. The usual 1,024 are there for old
  /// programs that use `select`, which this one does not.
  ///
  /// - Returns: How many may be open from now on.
  @discardableResult
  package static func allow(connections: Int) -> Int {
    let (soft, hard) = limit()
    let wanted = min(max(soft, connections + reserve), hard)
    var raised = rlimit(rlim_cur: rlim_t(wanted), rlim_max: rlim_t(hard))
    guard wanted > soft, hard < Int.max,
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0
    else { return soft }
    return wanted
  }
}
