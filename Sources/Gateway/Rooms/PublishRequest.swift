import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// A publication as it was requested.
struct PublishRequest {
  var room: RoomName
  var data: JSONValue
  var key: String?
  var senderID: String?
  var person: PersonID?
  var pushes = false
}

/// The outcome of a publication.
enum PublishResult {
  case published(RoomPosition, isRepeated: Bool)
  case refused(ErrorCode, String)
}
