// Not compiled by this repository's own builds, which run on Linux.
#if canImport(Network)
  import Dispatch
  import Network

  /// Calls back on the main actor whenever the network becomes available or its path changes.
  final class Reachability: Sendable {
    private let monitor = NWPathMonitor()

    init(_ changed: @escaping @MainActor @Sendable () -> Void) {
      monitor.pathUpdateHandler = { path in
        if path.status == .satisfied { Task { @MainActor in changed() } }
      }
      monitor.start(queue: DispatchQueue(label: "parley.reachability"))
    }

    deinit { monitor.cancel() }
  }
#endif
