import Glibc

/// Nanoseconds of the monotonic clock.
func nanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Ends the program with a sentence.
func fail(_ text: String) -> Never {
  let bytes = Array("parley-load: \(text)\n".utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
  exit(1)
}

/// The last error of a system call, in words.
func lastError() -> String { String(cString: strerror(errno)) }
