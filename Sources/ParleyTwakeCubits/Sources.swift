public import ParleyDialectModels

/// The server's messages, as an app's REST client has them.
public protocol MessagesSource: Sendable {
  /// Fetches the newest messages of a channel or a thread, or those before a message.
  func messages(
    in place: MessagesPlace, before message: Twake.Message?
  ) async throws -> [Twake.Message]
  /// Fetches a message; `nil` if it is gone.
  func message(_ id: String, in place: MessagesPlace) async throws -> Twake.Message?
  /// Sends a message. Under one key it is sent once, however often it is tried.
  func send(
    _ text: String, attachments: [Twake.File], to place: MessagesPlace, key: String
  ) async throws -> Twake.Message
  /// Changes a message's text and attachments.
  func edit(
    _ message: Twake.Message, text: String, attachments: [Twake.File]
  ) async throws -> Twake.Message
  /// Chooses a reaction, or takes it back with an empty one.
  func react(to message: Twake.Message, _ reaction: String) async throws
  /// Removes a message.
  func delete(_ message: Twake.Message) async throws
}

/// A channel, or a thread of it.
public struct MessagesPlace: Sendable, Hashable {
  /// The channel.
  public let channelID: String
  /// The thread; `nil` for the channel itself.
  public let threadID: String?

  /// Names a place.
  public init(channelID: String, threadID: String? = nil) {
    self.channelID = channelID
    self.threadID = threadID
  }
}

/// The server's channels.
public protocol ChannelsSource: Sendable {
  /// Fetches the channels of a workspace; direct ones are those of the workspace `direct`.
  func channels(companyID: String, workspaceID: String) async throws -> [Twake.Channel]
  /// Makes a channel. Under one key it is made once.
  func create(_ channel: Twake.Channel, key: String) async throws -> Twake.Channel
  /// Changes a channel.
  func edit(_ channel: Twake.Channel) async throws -> Twake.Channel
  /// Removes a channel.
  func delete(_ channel: Twake.Channel) async throws
  /// Fetches a channel's members.
  func members(of channel: Twake.Channel) async throws -> [Twake.Account]
  /// Adds members.
  func add(_ users: [String], to channel: Twake.Channel) async throws
  /// Removes members.
  func remove(_ users: [String], from channel: Twake.Channel) async throws
}

/// The server's companies and workspaces.
public protocol CompaniesSource: Sendable {
  /// Fetches the user's companies.
  func companies() async throws -> [Twake.Company]
  /// Fetches a company's workspaces.
  func workspaces(of companyID: String) async throws -> [Twake.Workspace]
  /// Fetches a workspace's people.
  func members(of workspaceID: String) async throws -> [Twake.Account]
  /// Makes a workspace. Under one key it is made once.
  func create(
    workspace name: String, in companyID: String, members: [String], key: String
  ) async throws -> Twake.Workspace
}

/// The server's people, and logging in.
public protocol AccountsSource: Sendable {
  /// Trades a name and a password for tokens.
  func authenticate(_ username: String, _ password: String) async throws -> Twake.Authentication
  /// Trades a refresh token for newer tokens.
  func refresh(_ tokens: Twake.Authentication) async throws -> Twake.Authentication
  /// Fetches what the app needs at first: companies, workspaces, people.
  func synchronise() async throws
  /// Fetches a person; without an id the person who is signed in.
  func account(_ id: String?) async throws -> Twake.Account
}

/// The app's storage on the device. Lists are kept under names; models as their JSON.
public protocol CubitStorage: Sendable {
  /// Returns what was kept under a name; `nil` if nothing was.
  func read(_ name: String) async -> [UInt8]?
  /// Keeps a value in place of what was there.
  func write(_ value: [UInt8], for name: String) async
  /// Forgets everything, also what is still being written.
  func clear() async
}

/// A storage that ends with the process.
public actor MemoryCubitStorage: CubitStorage {
  private var values: [String: [UInt8]] = [:]

  /// Makes an empty one.
  public init() {}

  /// Returns what was kept under a name.
  public func read(_ name: String) -> [UInt8]? { values[name] }
  /// Keeps a value.
  public func write(_ value: [UInt8], for name: String) { values[name] = value }
  /// Forgets everything.
  public func clear() { values = [:] }
}
