import GatewayPorts
import JSON
import SocketMessages

/// Something to be published, as it was asked for.
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
