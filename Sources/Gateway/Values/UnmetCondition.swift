import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// The condition of a publication that does not hold, with what the publisher needs to decide again.
enum UnmetCondition {
  /// The room's head is not the required position.
  case position(RoomPosition)
  /// Values have another last change than required.
  case values(NamedValues, String)

  init(_ conflicts: [ValueName: RoomValue?], _ message: String) {
    var bytes = 0
    let items = conflicts.sorted { $0.key < $1.key }.map { name, value in
      bytes += value?.value.utf8.count ?? 0
      return NamedValues.Item(
        name, bytes <= Self.bytesMax ? value?.value : nil, offset: value?.offset ?? 0)
    }
    self = .values(NamedValues(items), message)
  }

  /// Maximum bytes of the current values; beyond it, only their offsets are sent.
  private static let bytesMax = 256 << 10

  /// The code of the refusal.
  var code: ErrorCode {
    switch self {
    case .position: .outdated
    case .values: .conflict
    }
  }

  /// The refusal in words.
  var message: String {
    switch self {
    case .position(let head):
      "the room's head is at offset \(head.offset); look at what was published, and decide again"
    case .values(_, let message): message
    }
  }
}
