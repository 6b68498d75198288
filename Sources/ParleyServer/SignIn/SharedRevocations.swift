import CryptoOpenSSL
import GatewayPorts

/// The file of revocations as all loops of a process use it, one at a time.
final class SharedRevocations: Revocations, Sendable {
  private let file: Monitor<RevocationFile>
  /// The uptime at which the others' list was complete; `nil` before it ever was.
  private let completeAt = Monitor<Int64?>(nil)
  private let hasOthers: Bool

  /// Reads the file, if there is one.
  ///
  /// - Parameter hasOthers: Whether other gateways take back what this one is to hold to.
  init(path: String, hasOthers: Bool, log: any LogSink) throws(FileError) {
    file = Monitor(try RevocationFile(path: path, log: log))
    self.hasOthers = hasOthers
  }

  /// Takes note that at a time all was known that the others had taken back.
  func complete(at uptime: Int64) {
    completeAt.withLock { $0 = max($0 ?? uptime, uptime) }
  }

  func age(uptime: Int64) -> Int64 {
    guard hasOthers else { return 0 }
    return completeAt.withLock { $0 }.map { max(0, uptime - $0) } ?? .max
  }

  var generation: Int { file.withLock { $0.generation } }

  func refresh(now: Timestamp) { file.withLock { $0.refresh(now: now) } }

  func isRevoked(_ identity: Identity) -> Bool { file.withLock { $0.isRevoked(identity) } }

  func add(_ revocations: [Revocation]) throws(RevocationError) {
    let failure = file.withLock { file -> RevocationError? in
      do throws(RevocationError) {
        try file.add(revocations)
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
  }

  /// Takes some of those that other nodes are to be told of.
  func takeUntold(atMost limit: Int) -> [Revocation] {
    file.withLock { $0.takeUntold(atMost: limit) }
  }

  /// Puts back those that they could not be told of.
  func putBack(_ revocations: [Revocation]) { file.withLock { $0.putBack(revocations) } }

  /// Has other nodes be told of all of them once more.
  func tellAgain() { file.withLock { $0.tellAgain() } }

  /// Takes over revocations of other nodes.
  func takeOver(_ revocations: [Revocation]) { file.withLock { $0.takeOver(revocations) } }
}
