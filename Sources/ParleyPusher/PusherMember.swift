public import ParleyJSON

/// A subscriber of a presence channel, as described by the app.
public struct PusherMember: Sendable, Hashable {
  /// The user's id.
  public let userID: String
  /// The description that other subscribers receive.
  public let info: JSONValue?

  /// Maximum bytes of a user's id.
  public static let idBytesMax = 128
  /// Maximum bytes of a description.
  public static let infoBytesMax = 1_024

  /// Creates a member with a description.
  public init(userID: String, info: JSONValue?) {
    self.userID = userID
    self.info = info
  }

  /// Parses `{"user_id", "user_info"}`; `nil` for other data. The id may be a number.
  public init?(channelData: String) {
    guard let parts = JSONValue(channelData.utf8)?.values(of: "user_id", "user_info"),
      let id = parts[0].flatMap(Self.id)
    else { return nil }
    let info = parts[1].flatMap { $0.isNull ? nil : $0 }
    guard info?.utf8.count ?? 0 <= Self.infoBytesMax else { return nil }
    self.init(userID: id, info: info)
  }

  /// Returns a user's id, which may be a number; `nil` for any other value.
  static func id(_ value: JSONValue) -> String? {
    let id = value.string ?? value.integer.map { String($0) }
    guard let id, (1...idBytesMax).contains(id.utf8.count) else { return nil }
    return id
  }

  /// The display name for clients of other protocols.
  public var name: String {
    info?.value(of: "name")?.string.flatMap { $0.isEmpty ? nil : $0 } ?? userID
  }
}
