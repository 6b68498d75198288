package import ParleyClientCore

/// A room in use by a part of the client. It is open for as long as the share is there, whatever the
/// app or other parts do with it; the app's own ``Room/close()`` ends it for all.
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

/// An object that follows a room step by step.
@MainActor package protocol RoomListener: AnyObject {
  func room(_ room: Room, did action: RoomAction)
}

/// An object that hears of resources that have changed.
@MainActor package protocol ResourceListener: AnyObject {
  func resourceChanged(_ id: String, by senderID: String?)
}

/// The objects that hear of resources. Those that are gone are forgotten.
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
