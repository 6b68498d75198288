import Observation
import Synchronization

/// Waits until something holds that views could observe.
@MainActor func until(_ condition: @escaping @MainActor () -> Bool) async {
  while !condition() {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let isResumed = Mutex(false)
      _ = withObservationTracking(condition) {
        let isFirst = isResumed.withLock { isResumed in
          defer { isResumed = true }
          return !isResumed
        }
        // The value changes after this.
        if isFirst { Task { @MainActor in continuation.resume() } }
      }
    }
  }
}
