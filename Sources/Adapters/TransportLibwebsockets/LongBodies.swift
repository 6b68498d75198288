/// An account of the bodies of requests that are longer than those of others, while they are read.
///
/// Such a body may take its client minutes to send, and is held in memory meanwhile: their lengths are
/// reserved before any of them is read.
final class LongBodies: Sendable {
  /// The length of one body, given back when its owner lets go.
  final class Reservation: Sendable {
    private let account: LongBodies
    private let byteCount: Int

    fileprivate init(_ account: LongBodies, _ byteCount: Int) {
      self.account = account
      self.byteCount = byteCount
    }

    deinit { account.held.withLock { $0 -= byteCount } }
  }

  private let byteCountMax: Int
  private let held = Locked(0)

  /// Makes an account of none.
  init(byteCountMax: Int) { self.byteCountMax = byteCountMax }

  /// Reserves room for a body; `nil` if there is not enough. One that is alone always finds room.
  func reserve(_ byteCount: Int) -> Reservation? {
    let isTaken = held.withLock { held in
      guard held == 0 || byteCount <= byteCountMax - held else { return false }
      held += byteCount
      return true
    }
    return isTaken ? Reservation(self, byteCount) : nil
  }
}
