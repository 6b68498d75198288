public import ParleyDialectModels
import ParleyJSON

/// The user's selections and token, for all cubits of an app.
@MainActor public final class Globals: Cubit<Globals.Values> {
  /// The values.
  public struct Values: Sendable, Hashable {
    /// The selected server, such as `https://chat.twake.app`.
    public var host = ""
    /// The selected company.
    public var companyID: String?
    /// The selected workspace.
    public var workspaceID: String?
    /// The kind of channels that are listed.
    public var channelsType = Twake.ChannelsType.commons
    /// The selected channel.
    public var channelID: String?
    /// The selected thread.
    public var threadID: String?
    /// The token for requests.
    public var token: String?
    /// The device's token for push notifications.
    public var fcmToken: String?
    /// The user who is signed in.
    public var userID: String?
    /// Whether there is a connection to the server; a ``TwakeSocket`` sets it. It is not stored.
    public var isNetworkConnected = false

    /// Creates values without a selection.
    public init() {}
  }

  private let storage: (any CubitStorage)?
  /// The last started write; the next one waits for it.
  private var writing: Task<Void, Never>?
  private static let name = "globals"

  /// Creates globals. The app passes in values of an earlier process, or calls ``restore()``.
  ///
  /// - Parameter storage: Each change is stored there; `nil` stores nothing.
  public init(_ values: Values = Values(), storage: (any CubitStorage)? = nil) {
    self.storage = storage
    super.init(values)
  }

  /// The number of sign-outs; responses to earlier requests are dropped, and not stored.
  package private(set) var session = 0

  /// Shows the values that an earlier process has stored. Call it before anything else.
  public func restore() async {
    guard let bytes = await storage?.read(Self.name), let fields = JSONFields(bytes) else { return }
    var values = Values()
    values.read(fields)
    emit(values)
  }

  /// Clears the values: no user is signed in. The server and the device's token remain.
  package func endSession() {
    session += 1
    set { values in
      var cleared = Values()
      cleared.host = values.host
      cleared.fcmToken = values.fcmToken
      cleared.isNetworkConnected = values.isNetworkConnected
      values = cleared
    }
  }

  /// Changes values.
  public func set(_ change: (inout Values) -> Void) {
    var values = state
    change(&values)
    guard values != state else { return }
    let isStored = values.fields != state.fields
    emit(values)
    if isStored { store() }
  }

  /// Returns once all changes are stored.
  public func stored() async { await writing?.value }

  private func store() {
    guard let storage else { return }
    writing = Task { [writing, weak self] in
      await writing?.value
      // After a burst of changes, the newest values are written.
      guard let bytes = self?.state.fields.json else { return }
      await storage.write(bytes, for: Self.name)
    }
  }
}

extension Globals.Values {
  /// The stored values, with the wire's field names. The token is stored by
  /// ``AuthenticationCubit``.
  fileprivate var fields: JSONFields {
    let optional: [(String, String?)] = [
      ("company_id", companyID), ("workspace_id", workspaceID), ("channel_id", channelID),
      ("thread_id", threadID), ("fcm_token", fcmToken), ("user_id", userID),
    ]
    var fields: JSONFields = [
      "host": JSONValue(host), "channels_type": JSONValue(channelsType.rawValue),
    ]
    for (name, value) in optional {
      if let value { fields.append(.init(name, JSONValue(value))) }
    }
    return fields
  }

  fileprivate mutating func read(_ fields: JSONFields) {
    host = fields["host"]?.string ?? ""
    channelsType = fields["channels_type"]?.string.map { .init(rawValue: $0) } ?? .commons
    companyID = fields["company_id"]?.string
    workspaceID = fields["workspace_id"]?.string
    channelID = fields["channel_id"]?.string
    threadID = fields["thread_id"]?.string
    fcmToken = fields["fcm_token"]?.string
    userID = fields["user_id"]?.string
  }
}
