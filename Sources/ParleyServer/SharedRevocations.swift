import CryptoOpenSSL
import GatewayPorts

/// The file of revocations as all loops of a process use it, one at a time.
final class SharedRevocations: Revocations, Sendable {
  private let file: Monitor<RevocationFile>

  init(path: String, log: any LogSink) throws(FileError) {
    file = Monitor(try RevocationFile(path: path, log: log))
  }

  var generation: Int { file.withLock { $0.generation } }

  func refresh(now: Timestamp) { file.withLock { $0.refresh(now: now) } }

  func isRevoked(_ identity: Identity) -> Bool { file.withLock { $0.isRevoked(identity) } }

  func add(_ revocation: Revocation) throws(RevocationError) {
    let failure = file.withLock { file -> RevocationError? in
      do throws(RevocationError) {
        try file.add(revocation)
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

  /// Takes over revocations of other nodes.
  func takeOver(_ revocations: [Revocation]) { file.withLock { $0.takeOver(revocations) } }
}
