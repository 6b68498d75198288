/// The name of a channel of Pusher's protocol; its beginning says who may subscribe.
public struct PusherChannel: Sendable, Hashable {
  /// The kinds of channels.
  public enum Kind: Sendable, Hashable {
    /// Open to every client that knows the app's key.
    case open
    /// A subscriber shows a signature of the app.
    case restricted
    /// The same, and subscribers see each other.
    case presence
    /// The same as `restricted`, with encrypted data, which the server cannot read.
    case encrypted
    /// A signed-in user's own.
    case user(id: String)
  }

  /// The name as it is written.
  public let name: String
  /// The kind that its beginning says.
  public let kind: Kind
  /// Whether a subscriber is sent the last event.
  public let isCache: Bool

  /// Bytes of a name, at most.
  public static let bytesMax = 200
  private static let userPrefix = "#server-to-user-"

  /// Reads a name: letters, digits and `_-=@,.;`, or the name of a user's own channel; `nil` for another text.
  public init?(_ name: String) {
    guard !name.isEmpty, name.utf8.count <= Self.bytesMax else { return nil }
    self.name = name
    if name.utf8.starts(with: Self.userPrefix.utf8) {
      let id = String(name.utf8.dropFirst(Self.userPrefix.utf8.count)) ?? ""
      guard !id.isEmpty, id.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else { return nil }
      (kind, isCache) = (.user(id: id), false)
      return
    }
    guard name.utf8.allSatisfy(Self.isAllowed) else { return nil }
    // The longer beginning first.
    let kinds: [(String, Kind)] = [
      ("private-encrypted-", .encrypted), ("private-", .restricted), ("presence-", .presence),
    ]
    let found = kinds.first { name.utf8.starts(with: $0.0.utf8) }
    kind = found?.1 ?? .open
    isCache = name.utf8.dropFirst(found?.0.utf8.count ?? 0).starts(with: "cache-".utf8)
  }

  /// The channel of a user's own.
  public init?(ofUser id: String) { self.init(Self.userPrefix + id) }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "_-=@,.;".utf8.contains(byte)
    }
  }

  /// Whether a subscriber shows a signature of the app.
  public var isSigned: Bool {
    switch kind {
    case .restricted, .presence, .encrypted: true
    case .open, .user: false
    }
  }

  /// Whether subscribers may send events to each other.
  public var takesClientEvents: Bool {
    switch kind {
    case .restricted, .presence: true
    case .open, .encrypted, .user: false
    }
  }
}
