import GatewayPorts
import TransportLibwebsockets

/// The revocations as one loop of the process uses them: it receives the results of its additions on its own thread.
///
/// Unchecked: used on the loop's thread alone, but for the calls to its mailbox.
final class LoopRevocations: Revocations, @unchecked Sendable {
  private let shared: SharedRevocations
  private let mailbox: LoopMailbox
  /// Callers that wait for the disk, by the numbers of their requests.
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

  func add(_ revocations: [Revocation], then goOn: @escaping (RevocationError?) -> Void) {
    let number = nextNumber
    nextNumber += 1
    waiting[number] = goOn
    shared.add(revocations) { [self] failure in
      mailbox.post { self.waiting.removeValue(forKey: number)?(failure) }
    }
  }
}
