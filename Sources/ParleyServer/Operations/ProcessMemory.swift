import CLinux

/// The memory of the whole process.
package enum ProcessMemory {
  /// Has large blocks given back to the system as soon as they are free. Once, before threads are started.
  ///
  /// The program's affair and not a server's: tests have servers in their own process.
  package static func returnLargeBlocks() { CLinux_returnLargeBlocks() }
}
