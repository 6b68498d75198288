import ParleyGatewayPorts
import ParleyTransportLibwebsockets

/// The revocations for one loop of the process, which calls completions on the loop's thread.
///
/// Unchecked: used only on the loop's thread, except for its mailbox.
final class LoopRevocations: Revocations, @unchecked Sendable {
  private let shared: SharedRevocations
  private let mailbox: LoopMailbox
  /// The completions of additions that are not on disk yet, by number.
  private var waiting: [UInt64: (RevocationError?) -> Void] = [:]
  private var nextNumber: UInt64 = 0

  init(_ shared: SharedRevocations, mailbox: LoopMailbox) {
    self.shared = shared
    self.mailbox = mailbox
  }

  var generation: Int { shared.generation }

  func refresh(now: Timestamp) { shared.refresh(now: now) }

  func isRevoked(_ identity: Identity) -> Bool { shared.isRevoked(identity) }

  func age(uptime: Int64) -> Int64 { shared.age(uptime: uptime) }

  func add(_ revocations: [Revocation], then proceed: @escaping (RevocationError?) -> Void) {
    let number = nextNumber
    nextNumber += 1
    waiting[number] = proceed
    shared.add(revocations) { [self] failure in
      mailbox.post { self.waiting.removeValue(forKey: number)?(failure) }
    }
  }
}
