import Glibc

/// Returns the nanoseconds of the monotonic clock.
func nanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Prints an error message and ends the program with status 1.
func fail(_ text: String) -> Never {
  let bytes = Array("parley-load: \(text)\n".utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
  exit(1)
}

/// Returns the error message of the last failed system call.
func lastError() -> String { String(cString: strerror(errno)) }
