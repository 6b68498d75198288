/// The name of a channel of the Pusher protocol. Its prefix determines who may subscribe.
public struct PusherChannel: Sendable, Hashable {
  /// The kind of a channel.
  public enum Kind: Sendable, Hashable {
    /// A public channel: every client that knows the app's key may subscribe.
    case open
    /// A private channel: a subscription requires the app's signature.
    case restricted
    /// A private channel whose subscribers see each other.
    case presence
    /// A private channel with encrypted data, which the server cannot read.
    case encrypted
    /// The channel of one signed-in user.
    case user(id: String)
  }

  /// The name, with its prefix.
  public let name: String
  /// The kind that the prefix determines.
  public let kind: Kind
  /// Whether a new subscriber receives the last event.
  public let isCache: Bool

  /// Maximum bytes of a name.
  public static let bytesMax = 200
  private static let userPrefix = "#server-to-user-"

  /// Parses a name: letters, digits and `_-=@,.;`, or a user's channel; `nil` for any other text.
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
    // Compare the longer prefix first.
    let kinds: [(String, Kind)] = [
      ("private-encrypted-", .encrypted), ("private-", .restricted), ("presence-", .presence),
    ]
    let found = kinds.first { name.utf8.starts(with: $0.0.utf8) }
    kind = found?.1 ?? .open
    isCache = name.utf8.dropFirst(found?.0.utf8.count ?? 0).starts(with: "cache-".utf8)
  }

  /// Creates the channel of a user.
  public init?(ofUser id: String) { self.init(Self.userPrefix + id) }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "_-=@,.;".utf8.contains(byte)
    }
  }

  /// Whether a subscription requires the app's signature.
  public var isSigned: Bool {
    switch kind {
    case .restricted, .presence, .encrypted: true
    case .open, .user: false
    }
  }

  /// Whether the protocol allows client events on the channel.
  public var takesClientEvents: Bool {
    switch kind {
    case .restricted, .presence: true
    case .open, .encrypted, .user: false
    }
  }
}
