// This repository's own builds, which run on Linux, do not compile it. `make apple-check` compares
// it with declarations written from Apple's documentation.
#if canImport(SwiftUI)
  public import ParleyClient
  public import SwiftUI

  #if canImport(UIKit)
    import UIKit
  #endif

  @available(iOSApplicationExtension, unavailable)
  @available(tvOSApplicationExtension, unavailable)
  extension View {
    /// Passes the app's phases to a client. In the background its edits are stored, and sent within
    /// the time that the system grants; in the foreground it reconnects at once.
    ///
    ///     WindowGroup { NoteView(note: parley.note("n-1")).followScenePhase(of: parley) }
    public func followScenePhase(of parley: Parley) -> some View {
      modifier(ScenePhaseModifier(parley))
    }
  }

  @available(iOSApplicationExtension, unavailable)
  @available(tvOSApplicationExtension, unavailable)
  private struct ScenePhaseModifier: ViewModifier {
    @State private var follower: PhaseFollower
    @Environment(\.scenePhase) private var phase

    init(_ parley: Parley) {
      #if canImport(UIKit) && !os(watchOS)
        _follower = State(initialValue: PhaseFollower(parley, time: ApplicationTime()))
      #else
        _follower = State(initialValue: PhaseFollower(parley, time: nil))
      #endif
    }

    func body(content: Content) -> some View {
      content.onChange(of: phase) { _, phase in
        if phase == .background { follower.enterBackground() }
        if phase == .active { follower.enterForeground() }
      }
    }
  }

  #if canImport(UIKit) && !os(watchOS)
    /// A background task of the app.
    @available(iOSApplicationExtension, unavailable)
    @available(tvOSApplicationExtension, unavailable)
    @MainActor private final class ApplicationTime: BackgroundTime {
      private var task = UIBackgroundTaskIdentifier.invalid

      func begin(_ expired: @escaping @MainActor @Sendable () -> Void) {
        task = UIApplication.shared.beginBackgroundTask(
          withName: "Parley: sending edits", expirationHandler: expired)
      }

      func end() {
        // The system may have refused the task.
        if task != .invalid { UIApplication.shared.endBackgroundTask(task) }
        task = .invalid
      }
    }
  #endif
#endif
