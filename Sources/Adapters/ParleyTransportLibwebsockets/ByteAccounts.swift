package import ParleyGatewayPorts
import ParleyLocks

/// The accounts of memory that is held for clients, shared by the loops of a process.
package final class ByteAccounts: Sendable {
  /// The account of incomplete messages and bodies.
  package let reception: ByteAccount
  /// The account of uploads being read, with their whole lengths.
  package let uploads: ByteAccount
  /// The account of response bodies that wait for their readers.
  package let responses: ResponseAccount
  private let earlyRefusals = Locked(0)

  /// Creates empty accounts.
  package init(_ configuration: LibwebsocketsTransport.Configuration) {
    reception = ByteAccount(bytesMax: configuration.receptionBytesMax)
    uploads = ByteAccount(bytesMax: configuration.uploadBytesMax)
    responses = ResponseAccount(bytesMax: configuration.responseBytesMax)
  }

  /// Counts a message that is too long for a client without a token, or a body refused by its head.
  func countEarlyRefusal() { earlyRefusals.withLock { $0 += 1 } }

  /// The bytes held now, and the refusals since the start.
  package var usage: MemoryUsage {
    var usage = MemoryUsage()
    (usage.receptionBytes, usage.receptionRefusals) = reception.counts
    (usage.uploadBytes, usage.uploadRefusals) = uploads.counts
    (usage.responseBytes, usage.responseRefusals) = responses.counts
    usage.earlyRefusals = earlyRefusals.withLock { $0 }
    return usage
  }
}

/// The memory that a transport holds for clients, and its refusals.
public struct MemoryUsage: Sendable, Equatable {
  /// Bytes of incomplete messages and bodies.
  public var receptionBytes = 0
  /// Bytes reserved for uploads being read.
  public var uploadBytes = 0
  /// Bytes of responses that wait for their readers.
  public var responseBytes = 0
  /// Messages and bodies refused by the reception account.
  public var receptionRefusals = 0
  /// Refused uploads.
  public var uploadRefusals = 0
  /// Responses replaced by a refusal.
  public var responseRefusals = 0
  /// Messages that were too long for a client without a token, and bodies refused by their heads.
  public var earlyRefusals = 0

  /// Creates zero counts.
  public init() {}
}

/// A kind of memory that a transport holds for clients.
public enum MemoryKind: String, Sendable, CaseIterable {
  /// Incomplete messages and bodies.
  case reception
  /// Uploads being read.
  case uploads
  /// Responses that wait for their readers.
  case responses
}

/// An account of bytes, shared fairly by the parties that they are counted against.
package final class ByteAccount: Sendable {
  /// Reserved bytes of one party, which are released with the last reference.
  package final class Reservation: Sendable {
    private let account: ByteAccount
    private let byteCount: Int
    private let limitedClient: LimitedClient?

    fileprivate init(_ account: ByteAccount, _ byteCount: Int, _ limitedClient: LimitedClient?) {
      self.account = account
      self.byteCount = byteCount
      self.limitedClient = limitedClient
    }

    deinit { account.give(byteCount, of: limitedClient) }
  }

  private struct State {
    var shares: FairShares<LimitedClient>
    var refusals = 0
  }

  private let state: Locked<State>

  /// - Parameter bytesMax: Maximum bytes of all parties; 0 disables the limit.
  package init(bytesMax: Int) {
    state = Locked(State(shares: FairShares(capacity: bytesMax)))
  }

  /// Adds bytes of a party. Returns whether they are within its share; if not, nothing is added.
  package func take(_ byteCount: Int, for limitedClient: LimitedClient?) -> Bool {
    state.withLock { state in
      guard state.shares.take(byteCount, for: limitedClient) != nil else { return true }
      state.refusals += 1
      return false
    }
  }

  /// Releases bytes that were added for the same party.
  package func give(_ byteCount: Int, of limitedClient: LimitedClient?) {
    state.withLock { $0.shares.give(byteCount, for: limitedClient) }
  }

  /// Reserves bytes until the reservation is released; `nil` if they exceed the party's share. Any
  /// number can be reserved while the account is empty.
  package func reserve(_ byteCount: Int, for limitedClient: LimitedClient?) -> Reservation? {
    let taken: (byteCount: Int, limitedClient: LimitedClient?)? = state.withLock { state in
      if state.shares.take(byteCount, for: limitedClient) == nil {
        return (byteCount, limitedClient)
      }
      let all = min(byteCount, state.shares.capacity)
      if state.shares.held == 0, state.shares.take(all, for: nil) == nil { return (all, nil) }
      state.refusals += 1
      return nil
    }
    return taken.map { Reservation(self, $0.byteCount, $0.limitedClient) }
  }

  /// The bytes held now, and the refusals since the start.
  package var counts: (held: Int, refusals: Int) {
    state.withLock { ($0.shares.held, $0.refusals) }
  }
}

/// An account of response bodies that wait for their readers.
///
/// Equal bodies are stored once, so they count once. Each party owes the lengths of the bodies that
/// wait for it: as in ``FairShares``, it may owe as much as remains for all others. Its first body
/// is limited only by the capacity, so that a text of any size can be read.
package final class ResponseAccount: Sendable {
  private struct State {
    var held = 0
    var owed: [LimitedClient: Int] = [:]
    var refusals = 0
  }

  private let state = Locked(State())
  private let bytesMax: Int

  /// Minimum bytes of a long body. Long bodies leave a quarter of the capacity to others, so that
  /// slow readers of files do not block short responses.
  package static let longBytesMin = 1 << 20

  /// - Parameter bytesMax: Maximum bytes of all bodies together.
  package init(bytesMax: Int) { self.bytesMax = bytesMax }

  /// Adds a body of a party. Returns whether there is room for it. A body in an empty account
  /// always has room.
  ///
  /// - Parameters:
  ///   - isKept: Whether an equal body is already stored.
  ///   - isAlreadyOwed: Whether an equal body already waits for the party.
  package func take(
    _ byteCount: Int, for limitedClient: LimitedClient?, isKept: Bool = false,
    isAlreadyOwed: Bool = false
  ) -> Bool {
    state.withLock { state in
      let more = isKept ? 0 : byteCount
      let own = limitedClient.flatMap { state.owed[$0] } ?? 0
      guard fits(more, state.held),
        limitedClient == nil || isAlreadyOwed || own == 0
          || FairShares<LimitedClient>.isWithinShare(
            own + byteCount, leaving: bytesMax - state.held - more)
      else {
        state.refusals += 1
        return false
      }
      state.held += more
      if let limitedClient, !isAlreadyOwed { state.owed[limitedClient] = own + byteCount }
      return true
    }
  }

  private func fits(_ more: Int, _ held: Int) -> Bool {
    let most = more >= Self.longBytesMin ? bytesMax - bytesMax / 4 : bytesMax
    return more == 0 || held == 0 || more <= most - held
  }

  /// Releases a body.
  ///
  /// - Parameters:
  ///   - isKept: Whether the body remains stored for others.
  ///   - isAlreadyOwed: Whether an equal body still waits for the party.
  package func give(
    _ byteCount: Int, of limitedClient: LimitedClient?, isKept: Bool = false,
    isAlreadyOwed: Bool = false
  ) {
    state.withLock { state in
      if !isKept { state.held -= byteCount }
      precondition(state.held >= 0, "released more than was taken")
      guard let limitedClient, !isAlreadyOwed, byteCount > 0 else { return }
      let rest = (state.owed[limitedClient] ?? 0) - byteCount
      precondition(rest >= 0, "released more than the stranger owes")
      state.owed[limitedClient] = rest == 0 ? nil : rest
    }
  }

  /// The bytes held now, and the refusals since the start.
  package var counts: (held: Int, refusals: Int) {
    state.withLock { ($0.held, $0.refusals) }
  }
}
