import ParleyGatewayPorts
import SocketMessages

extension OneLine {
  /// Refuses a title or a name that is not one line.
  static func check(_ text: String, _ subject: String) throws(Response) {
    guard isMet(by: text) else { throw .problem(400, .badMessage, problem(of: subject)) }
  }
}
