import ParleyClient
import ParleyClientCore
import SocketMessages

/// A delegate's watch of one resource: translates the room's actions into delegate calls.
///
///     away ──live──▶ connected ──line lost, ended, closed──▶ away
@MainActor final class ResourceWatch: RoomListener, ResourceListener {
  let id: String
  private var share: RoomShare?
  private let own: String
  private weak var delegate: (any ResourceDelegate)?
  private var isConnected = false

  init(id: String, share: RoomShare, own: String, delegate: any ResourceDelegate) {
    self.id = id
    self.share = share
    self.own = own
    self.delegate = delegate
  }

  func begin() {
    guard let room = share?.room else { return }
    room.add(self)
    if room.state == .live { connect() }
  }

  func cancel() {
    share?.room.remove(self)
    share = nil
    delegate = nil
  }

  private func connect() {
    guard !isConnected else { return }
    isConnected = true
    delegate?.resourceDidConnect(id)
  }

  private func disconnect(_ reason: ResourceDisconnection) {
    isConnected = false
    delegate?.resource(id, didDisconnect: reason)
  }

  func room(_ room: Room, did action: RoomAction) {
    switch action {
    case .publication(let publication, let epoch):
      guard !isOwn(publication.senderID) else { return }
      delegate?.resource(
        id, didReceive: .updated(ParleyClient.Publication(publication, epoch: epoch)))
    case .gap(let after, let through):
      delegate?.resource(
        id,
        didReceive: .updatesMissed(
          after: ParleyClient.RoomPosition(after), through: ParleyClient.RoomPosition(through)))
    case .status:
      switch room.state {
      case .live: connect()
      case .offline: disconnect(.offline)
      case .failed(let trouble): disconnect(.failed(trouble))
      case .closed: disconnect(.closed)
      case .opening: break
      }
    case .position, .outOfStep, .people, .published, .publishFailed, .publishUnsure, .receipt,
      .receipts, .flagged, .values, .conflict, .signal, .keepChanges:
      break
    }
  }

  func resourceChanged(_ id: String, by senderID: String?) {
    // A cancelled registration has no delegate, so nothing is delivered.
    guard id.isSame(as: self.id), !isOwn(senderID) else { return }
    delegate?.resource(id, didReceive: .changed)
  }

  private func isOwn(_ senderID: String?) -> Bool { senderID.map { $0.isSame(as: own) } ?? false }
}
