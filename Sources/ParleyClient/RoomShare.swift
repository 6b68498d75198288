package import ParleyClientCore

/// A part of the client's use of a room. The room remains open while a share exists, except that
/// the app's own ``Room/close()`` closes it for all.
package final class RoomShare: Sendable {
  package let room: Room
  package let parley: Parley
  private let isPresent: Bool

  init(room: Room, parley: Parley, isPresent: Bool) {
    self.room = room
    self.parley = parley
    self.isPresent = isPresent
  }

  deinit {
    Task { @MainActor [room, parley, isPresent] in parley.release(room, isPresent: isPresent) }
  }
}

/// An object that receives a room's actions.
@MainActor package protocol RoomListener: AnyObject {
  func room(_ room: Room, did action: RoomAction)
}

/// An object that is notified of changed resources.
@MainActor package protocol ResourceListener: AnyObject {
  func resourceChanged(_ id: String, by senderID: String?)
}

/// The objects that are notified of changed resources, referenced weakly.
@MainActor struct ResourceListeners {
  private struct Entry { weak var object: (any ResourceListener)? }

  private var entries: [Entry] = []

  nonisolated init() {}

  mutating func add(_ listener: any ResourceListener) {
    entries.removeAll { $0.object == nil }
    entries.append(Entry(object: listener))
  }

  func tell(of id: String, by senderID: String?) {
    for entry in entries { entry.object?.resourceChanged(id, by: senderID) }
  }
}
