import Observation
public import ParleyClient

/// Time that the system grants an app after it has left the screen.
@MainActor public protocol BackgroundTime: AnyObject {
  /// Requests time. The system calls `expired` shortly before the time ends.
  func begin(_ expired: @escaping @MainActor @Sendable () -> Void)
  /// Returns the time; the system may suspend the app.
  func end()
}

/// Passes an app's phases to a client: in the background its edits are stored and sent, in the
/// foreground it reconnects.
///
/// `View.followScenePhase(of:)` uses it; an app with another life cycle calls it.
@MainActor public final class PhaseFollower {
  private let parley: Parley
  private let time: (any BackgroundTime)?
  private var isSending = false

  /// Creates a follower.
  ///
  /// - Parameter time: The time for sending in the background; with `nil` edits are only stored.
  public init(_ parley: Parley, time: (any BackgroundTime)?) {
    self.parley = parley
    self.time = time
  }

  /// Stores the edits, and requests time until the server has confirmed them.
  public func enterBackground() {
    parley.willSuspend()
    guard let time, !isSending, parley.unsaved > 0 else { return }
    isSending = true
    time.begin { [weak self] in
      self?.parley.willSuspend()
      self?.finish()
    }
    watch()
  }

  /// Probes the connection, which may have been lost while the app was suspended.
  public func enterForeground() {
    finish()
    parley.networkChanged()
  }

  private func watch() {
    guard isSending else { return }
    let unsaved = withObservationTracking {
      parley.unsaved
    } onChange: { [weak self] in
      // The observed value changes after this call.
      Task { @MainActor in self?.watch() }
    }
    if unsaved == 0 { finish() }
  }

  private func finish() {
    guard isSending else { return }
    isSending = false
    time?.end()
  }
}
