import CLibwebsocketsShim
import Glibc

/// Connections that the loop has closed while their clients may still be sending, on their way to
/// the lobby.
///
/// Closing a socket with unread bytes resets the connection, and the client may lose the response.
/// So the lobby reads on, and throws away what comes, until the client closes or a deadline passes.
final class Departures: Sendable {
  private struct State {
    var descriptors: [Int32] = []
    /// What wakes the lobby; -1 while there is none.
    var wakeUp: Int32 = -1
  }

  private let state = Locked(State())

  /// As many may wait for the lobby at once; beyond, sockets are closed as they are.
  private static let waitingMax = 1_024

  /// Hands over a socket that the lobby closes in the end.
  func add(_ descriptor: Int32) {
    let isTaken = state.withLock { state in
      guard state.wakeUp >= 0, state.descriptors.count < Self.waitingMax else { return false }
      state.descriptors.append(descriptor)
      eventfd_write(state.wakeUp, 1)
      return true
    }
    if !isTaken { _ = close(descriptor) }
  }

  /// Takes sockets from now on, and wakes the lobby by `wakeUp` for each.
  func open(_ wakeUp: Int32) { state.withLock { $0.wakeUp = wakeUp } }

  /// Returns the sockets handed over since the last call.
  func collect() -> [Int32] {
    state.withLock { state in
      defer { state.descriptors = [] }
      return state.descriptors
    }
  }

  /// Takes no more sockets, and closes those not collected.
  func shut() {
    let rest = state.withLock { state in
      defer { state = State() }
      return state.descriptors
    }
    for descriptor in rest { _ = close(descriptor) }
  }
}
