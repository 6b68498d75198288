import CParleyLinux

/// Memory settings of the whole process.
package enum ProcessMemory {
  /// Makes the allocator return large blocks to the system when they are freed. Call once, before
  /// threads are started.
  ///
  /// Only the program calls it: tests run servers within their own process.
  package static func returnLargeBlocks() { CLinux_returnLargeBlocks() }
}
