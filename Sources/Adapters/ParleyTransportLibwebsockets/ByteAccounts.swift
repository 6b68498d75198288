package import ParleyGatewayPorts
import ParleyLocks

/// The accounts of memory that clients can have the server hold, shared by the loops of a process.
package final class ByteAccounts: Sendable {
  /// Parts of messages and bodies that have not come whole.
  package let reception: ByteAccount
  /// Lengths of the uploads that are being read.
  package let uploads: ByteAccount
  /// Bodies of responses that wait for their readers.
  package let responses: ResponseAccount
  private let earlyRefusals = Locked(0)

  /// Creates accounts that hold nothing.
  package init(_ configuration: LibwebsocketsTransport.Configuration) {
    reception = ByteAccount(bytesMax: configuration.receptionBytesMax)
    uploads = ByteAccount(bytesMax: configuration.uploadBytesMax)
    responses = ResponseAccount(bytesMax: configuration.responseBytesMax)
  }

  /// Counts a message that is too long before a token, or a body that its head refuses.
  func countEarlyRefusal() { earlyRefusals.withLock { $0 += 1 } }

  /// The bytes that are held now, and the refusals since the start.
  package var usage: MemoryUsage {
    var usage = MemoryUsage()
    (usage.receptionBytes, usage.receptionRefusals) = reception.counts
    (usage.uploadBytes, usage.uploadRefusals) = uploads.counts
    (usage.responseBytes, usage.responseRefusals) = responses.counts
    usage.earlyRefusals = earlyRefusals.withLock { $0 }
    return usage
  }
}

/// The memory that clients have a transport hold, and what it has refused to hold.
public struct MemoryUsage: Sendable, Equatable {
  /// Bytes of messages and bodies that have not come whole.
  public var receptionBytes = 0
  /// Bytes reserved for uploads that are being read.
  public var uploadBytes = 0
  /// Bytes of responses that wait for their readers.
  public var responseBytes = 0
  /// Messages and bodies refused for the first.
  public var receptionRefusals = 0
  /// Uploads refused.
  public var uploadRefusals = 0
  /// Responses replaced by a refusal.
  public var responseRefusals = 0
  /// Messages that were too long before a token, and bodies refused by their heads.
  public var earlyRefusals = 0

  /// Creates counts of zero.
  public init() {}
}

/// A kind of memory that clients can have a transport hold.
public enum MemoryKind: String, Sendable, CaseIterable {
  /// Messages and bodies that have not come whole.
  case reception
  /// Uploads that are being read.
  case uploads
  /// Responses that wait for their readers.
  case responses
}

/// An account of bytes that strangers hold.
package final class ByteAccount: Sendable {
  /// Bytes of one holder, which are given back when the last reference to them ends.
  package final class Reservation: Sendable {
    private let account: ByteAccount
    private let byteCount: Int
    private let stranger: Stranger?

    fileprivate init(_ account: ByteAccount, _ byteCount: Int, _ stranger: Stranger?) {
      self.account = account
      self.byteCount = byteCount
      self.stranger = stranger
    }

    deinit { account.give(byteCount, of: stranger) }
  }

  private struct State {
    var shares: FairShares<Stranger>
    var refusals = 0
  }

  private let state: Locked<State>

  /// - Parameter bytesMax: The bytes that all may hold; 0 disables the limit.
  package init(bytesMax: Int) {
    state = Locked(State(shares: FairShares(capacity: bytesMax)))
  }

  /// Takes bytes for a stranger. Returns whether they are within its share.
  package func take(_ byteCount: Int, for stranger: Stranger?) -> Bool {
    state.withLock { state in
      guard state.shares.take(byteCount, for: stranger) != nil else { return true }
      state.refusals += 1
      return false
    }
  }

  /// Gives bytes back that were taken for the same stranger.
  package func give(_ byteCount: Int, of stranger: Stranger?) {
    state.withLock { $0.shares.give(byteCount, for: stranger) }
  }

  /// Takes bytes until the reservation ends; `nil` if they are not within the stranger's share. Any number is taken while
  /// nothing else is held.
  package func reserve(_ byteCount: Int, for stranger: Stranger?) -> Reservation? {
    let taken: (byteCount: Int, stranger: Stranger?)? = state.withLock { state in
      if state.shares.take(byteCount, for: stranger) == nil { return (byteCount, stranger) }
      let all = min(byteCount, state.shares.capacity)
      if state.shares.held == 0, state.shares.take(all, for: nil) == nil { return (all, nil) }
      state.refusals += 1
      return nil
    }
    return taken.map { Reservation(self, $0.byteCount, $0.stranger) }
  }

  /// The bytes that are held now, and the refusals since the start.
  package var counts: (held: Int, refusals: Int) {
    state.withLock { ($0.shares.held, $0.refusals) }
  }
}

/// An account of the bodies of responses that wait for their readers.
///
/// Equal bodies are kept once, so all together they count once. Each stranger that waits for a body owes its length: as
/// in ``FairShares``, it may owe as much as remains for all others. Its first body is bounded by the capacity alone, so
/// that a text of any size can be read.
package final class ResponseAccount: Sendable {
  private struct State {
    var held = 0
    var owed: [Stranger: Int] = [:]
    var refusals = 0
  }

  private let state = Locked(State())
  private let bytesMax: Int

  /// Bodies of this length leave a quarter to shorter ones, so that slow readers of files keep no short answers waiting.
  package static let longBytesMin = 1 << 20

  /// - Parameter bytesMax: The bytes that all bodies may have together.
  package init(bytesMax: Int) { self.bytesMax = bytesMax }

  /// Takes a body for a stranger. Returns whether there is room for it. A body that is alone is always taken.
  ///
  /// - Parameters:
  ///   - isKept: Whether an equal body is there already.
  ///   - isOwed: Whether the stranger waits for an equal body already.
  package func take(
    _ byteCount: Int, for stranger: Stranger?, isKept: Bool = false, isOwed: Bool = false
  ) -> Bool {
    state.withLock { state in
      let more = isKept ? 0 : byteCount
      let own = stranger.flatMap { state.owed[$0] } ?? 0
      guard fits(more, state.held),
        stranger == nil || isOwed || own == 0
          || FairShares<Stranger>.isWithinShare(
            own + byteCount, leaving: bytesMax - state.held - more)
      else {
        state.refusals += 1
        return false
      }
      state.held += more
      if let stranger, !isOwed { state.owed[stranger] = own + byteCount }
      return true
    }
  }

  private func fits(_ more: Int, _ held: Int) -> Bool {
    let most = more >= Self.longBytesMin ? bytesMax - bytesMax / 4 : bytesMax
    return more == 0 || held == 0 || more <= most - held
  }

  /// Gives a body back.
  ///
  /// - Parameters:
  ///   - isKept: Whether it is still kept for others.
  ///   - isOwed: Whether the stranger still waits for an equal one.
  package func give(
    _ byteCount: Int, of stranger: Stranger?, isKept: Bool = false, isOwed: Bool = false
  ) {
    state.withLock { state in
      if !isKept { state.held -= byteCount }
      precondition(state.held >= 0, "released more than was taken")
      guard let stranger, !isOwed, byteCount > 0 else { return }
      let rest = (state.owed[stranger] ?? 0) - byteCount
      precondition(rest >= 0, "released more than the stranger owes")
      state.owed[stranger] = rest == 0 ? nil : rest
    }
  }

  /// The bytes that are held now, and the refusals since the start.
  package var counts: (held: Int, refusals: Int) {
    state.withLock { ($0.held, $0.refusals) }
  }
}
