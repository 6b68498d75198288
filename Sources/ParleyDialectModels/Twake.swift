/// The models of the Twake family, with the wire's field names.
///
/// Apps of this family store and receive them. They are for clients and backends in Swift, and for
/// ``DomainRouter``; the server does not use them.
public enum Twake {
  /// Returns the channel of a Socket.IO room or a resource's path, such as
  /// `previous::channels/ID/messages/updates`; `nil` if it names none.
  public static func channelID(inRoom room: String) -> String? {
    let parts = room.split { $0 == "/" || $0 == ":" }
    guard let place = parts.lastIndex(of: "channels"), place + 1 < parts.count else { return nil }
    return String(parts[place + 1])
  }
}
