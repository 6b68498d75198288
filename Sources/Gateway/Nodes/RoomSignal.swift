import ParleyGatewayPorts
import ParleyJSON

/// An event for a room's subscribers that rooms do not store, such as the position of a pointer.
/// Among a client's signals of one name, only the newest is relevant.
struct RoomSignal: Equatable {
  /// The client that sent it; `nil` for a backend.
  var client: String?
  /// The person who sent it; `nil` for a backend.
  var person: PersonID?
  /// The name that the sender chose.
  var name: String
  var data: JSONValue

  /// Maximum bytes of the data.
  static let bytesMax = 4_096
}

/// The signals of a turn of the loop. At its end, the newest signal of each client and name is
/// sent.
struct WaitingSignals {
  private struct Key: Hashable {
    let room: RoomName
    let client: ExactName
    let name: ExactName
  }

  /// A signal, and the connection that sent it.
  struct Item {
    let room: RoomName
    var signal: RoomSignal
    /// The sender's connection, which is not sent the signal.
    let sender: ConnectionID?
  }

  private var items: [Item] = []
  private var places: [Key: Int] = [:]

  /// Maximum signals of a turn. Beyond it, they are sent before its end.
  static let countMax = 4_096

  var isEmpty: Bool { items.isEmpty }
  var isFull: Bool { items.count >= Self.countMax }

  /// Adds a signal. Returns whether it replaces an earlier one.
  mutating func add(_ signal: RoomSignal, in room: RoomName, from sender: ConnectionID?) -> Bool {
    let key = Key(
      room: room, client: ExactName(signal.client ?? ""), name: ExactName(signal.name))
    if let place = places[key] {
      items[place].signal = signal
      return true
    }
    places[key] = items.count
    items.append(Item(room: room, signal: signal, sender: sender))
    return false
  }

  /// Removes and returns the signals, in the order of their first arrival.
  mutating func takeAll() -> [Item] {
    defer { self = WaitingSignals() }
    return items
  }
}
