import Glibc

/// The processor time and memory of the servers' processes, summed.
struct ServerProcess {
  /// The process ids; empty unless the options name them.
  let ids: [Int]

  /// Returns the processor time of all threads so far, in seconds.
  func processorSeconds() -> Double { ids.reduce(0) { $0 + Self.processorSeconds(of: $1) } }

  /// Returns the resident memory in bytes.
  func residentBytes() -> Int { ids.reduce(0) { $0 + Self.residentBytes(of: $1) } }

  /// Returns the sum of the peak resident memory of each process in bytes.
  func largestResidentBytes() -> Int { ids.reduce(0) { $0 + Self.largestResidentBytes(of: $1) } }

  private static func processorSeconds(of id: Int) -> Double {
    guard let folder = opendir("/proc/\(id)/task") else { return 0 }
    defer { closedir(folder) }
    var nanoseconds = 0.0
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard !name.hasPrefix("."),
        let line = read("/proc/\(id)/task/\(name)/schedstat"),
        let first = line.split(separator: " ").first
      else { continue }
      nanoseconds += Double(first) ?? 0
    }
    return nanoseconds / 1_000_000_000
  }

  private static func residentBytes(of id: Int) -> Int {
    guard let line = read("/proc/\(id)/statm") else { return 0 }
    let fields = line.split(separator: " ")
    return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(getpagesize()) : 0
  }

  private static func largestResidentBytes(of id: Int) -> Int {
    guard let status = read("/proc/\(id)/status"),
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

/// Returns this program's processor time in seconds.
func ownProcessorSeconds() -> Double {
  var usage = rusage()
  getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
    + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1_000_000
}
