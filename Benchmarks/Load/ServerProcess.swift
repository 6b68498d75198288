import Glibc

/// What the system says about the server's process: processor time and memory.
struct ServerProcess {
  /// 0 when nobody said which process it is.
  let id: Int

  /// Seconds of processor time of all its threads so far.
  func processorSeconds() -> Double {
    guard id != 0, let folder = opendir("/proc/\(id)/task") else { return 0 }
    defer { closedir(folder) }
    var nanoseconds = 0.0
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard !name.hasPrefix("."),
        let line = Self.read("/proc/\(id)/task/\(name)/schedstat"),
        let first = line.split(separator: " ").first
      else { continue }
      nanoseconds += Double(first) ?? 0
    }
    return nanoseconds / 1_000_000_000
  }

  /// Bytes of memory it has in use.
  func residentBytes() -> Int {
    guard id != 0, let line = Self.read("/proc/\(id)/statm") else { return 0 }
    let fields = line.split(separator: " ")
    return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(getpagesize()) : 0
  }

  /// The largest number of bytes of memory that it had in use since it began.
  func largestResidentBytes() -> Int {
    guard id != 0, let status = Self.read("/proc/\(id)/status"),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
    else { return 0 }
    let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
    return words.count > 1 ? (Int(words[1]) ?? 0) * 1_024 : 0
  }

  private static func read(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
  }
}

/// Seconds of processor time of this program.
func ownProcessorSeconds() -> Double {
  var usage = rusage()
  getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
    + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1_000_000
}
