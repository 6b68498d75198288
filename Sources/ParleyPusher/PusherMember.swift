public import ParleyJSON

/// A subscriber of a presence channel as the app describes it.
public struct PusherMember: Sendable, Hashable {
  /// The user's id.
  public let userID: String
  /// The description that others are shown.
  public let info: JSONValue?

  /// Bytes of a user's id, at most.
  public static let idBytesMax = 128
  /// Bytes of that description, at most.
  public static let infoBytesMax = 1_024

  /// Makes a member.
  public init(userID: String, info: JSONValue?) {
    self.userID = userID
    self.info = info
  }

  /// Reads `{"user_id", "user_info"}`; `nil` for other data. An id may be a number.
  public init?(channelData: String) {
    guard let parts = JSONValue(channelData.utf8)?.values(of: "user_id", "user_info"),
      let id = parts[0].flatMap(Self.id)
    else { return nil }
    let info = parts[1].flatMap { $0.isNull ? nil : $0 }
    guard info?.utf8.count ?? 0 <= Self.infoBytesMax else { return nil }
    self.init(userID: id, info: info)
  }

  /// Reads a user's id, which may be a number; `nil` for another value.
  static func id(_ value: JSONValue) -> String? {
    let id = value.string ?? value.integer.map { String($0) }
    guard let id, (1...idBytesMax).contains(id.utf8.count) else { return nil }
    return id
  }

  /// The name that others of other protocols see.
  public var name: String {
    info?.value(of: "name")?.string.flatMap { $0.isEmpty ? nil : $0 } ?? userID
  }
}
