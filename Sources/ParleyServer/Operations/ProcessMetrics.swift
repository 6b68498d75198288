import Glibc

/// Metrics of this process, under the names that all Prometheus clients use.
struct ProcessMetrics {
  /// Memory in use, in bytes.
  var residentBytes = 0
  /// Address space, in bytes.
  var virtualBytes = 0
  /// Open files and sockets.
  var openFiles = 0
  /// Maximum open files and sockets.
  var openFilesMax = 0
  /// Processor time since the start, in seconds.
  var processorSeconds = 0.0

  /// Reads the current values from the system.
  static func now() -> ProcessMetrics {
    var metrics = ProcessMetrics()
    if let text = try? Files.text(at: "/proc/self/statm") {
      let pages = text.split(separator: " ")
      let pageBytes = Int(sysconf(Int32(_SC_PAGESIZE)))
      if pages.count > 1 {
        metrics.virtualBytes = (Int(pages[0]) ?? 0) * pageBytes
        metrics.residentBytes = (Int(pages[1]) ?? 0) * pageBytes
      }
    }
    if let folder = opendir("/proc/self/fd") {
      while let entry = readdir(folder) {
        if entry.pointee.d_name.0 != CChar(bitPattern: UInt8(ascii: ".")) { metrics.openFiles += 1 }
      }
      closedir(folder)
      // The descriptor of the folder itself, opened for counting.
      metrics.openFiles -= 1
    }
    metrics.openFilesMax = OpenFiles.limit().soft
    metrics.processorSeconds = processorSecondsNow()
    return metrics
  }

  /// Returns the processor time since the start, in seconds; cheap enough to read every second.
  static func processorSecondsNow() -> Double {
    var usage = rusage()
    guard getrusage(RUSAGE_SELF.rawValue, &usage) == 0 else { return 0 }
    return [usage.ru_utime, usage.ru_stime].reduce(0) {
      $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1_000_000
    }
  }
}
