import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// A publication as it was requested.
struct PublishRequest {
  var room: RoomName
  /// The data; `nil` for a publication that only changes values.
  var data: JSONValue? = nil
  /// The change of the room's values; `nil` for none.
  var change: ValueChange?
  /// The position that the room's head must have.
  var ifPosition: RoomPosition?
  /// The client to whose connections values may be bound.
  var client: String?
  var key: String?
  var senderID: String?
  var person: PersonID?
  var pushes = false

  /// Whether the publication depends on what the room contains.
  var hasConditions: Bool { ifPosition != nil || !(change?.ifOffsets ?? [:]).isEmpty }
}

extension ValueRefusal {
  /// The code of the refusal.
  var code: ErrorCode {
    switch self {
    case .conflict: .conflict
    case .valueTooLarge, .tooManyBytes, .tooDeep: .tooLarge
    case .tooManyNames: .tooMany
    case .notAnInteger, .numberTooLarge: .badOperation
    }
  }
}

/// The outcome of a publication.
enum PublishResult {
  case published(RoomPosition, isRepeated: Bool)
  case refused(ErrorCode, String)
  /// A condition of the publication does not hold.
  case unmet(UnmetCondition)
}
