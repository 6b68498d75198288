public import ParleyDialectModels

/// A source of messages, implemented by the app's REST client.
public protocol MessagesSource: Sendable {
  /// Fetches the newest messages of a channel or a thread, or the messages before one.
  func messages(
    in place: MessagesPlace, before message: Twake.Message?
  ) async throws -> [Twake.Message]
  /// Fetches a message; `nil` if it is deleted.
  func message(_ id: String, in place: MessagesPlace) async throws -> Twake.Message?
  /// Sends a message. Under one key it is sent once, however often it is retried.
  func send(
    _ text: String, attachments: [Twake.File], to place: MessagesPlace, key: String
  ) async throws -> Twake.Message
  /// Edits a message's text and attachments.
  func edit(
    _ message: Twake.Message, text: String, attachments: [Twake.File]
  ) async throws -> Twake.Message
  /// Sets the user's reaction; an empty one removes it.
  func react(to message: Twake.Message, _ reaction: String) async throws
  /// Deletes a message.
  func delete(_ message: Twake.Message) async throws
}

/// A channel, or one of its threads.
public struct MessagesPlace: Sendable, Hashable {
  /// The channel.
  public let channelID: String
  /// The thread; `nil` for the channel itself.
  public let threadID: String?

  /// Creates a place.
  public init(channelID: String, threadID: String? = nil) {
    self.channelID = channelID
    self.threadID = threadID
  }
}

/// A source of channels.
public protocol ChannelsSource: Sendable {
  /// Fetches the channels of a workspace; the workspace `direct` contains the direct ones.
  func channels(companyID: String, workspaceID: String) async throws -> [Twake.Channel]
  /// Creates a channel. Under one key it is created once.
  func create(_ channel: Twake.Channel, key: String) async throws -> Twake.Channel
  /// Edits a channel.
  func edit(_ channel: Twake.Channel) async throws -> Twake.Channel
  /// Deletes a channel.
  func delete(_ channel: Twake.Channel) async throws
  /// Fetches a channel's members.
  func members(of channel: Twake.Channel) async throws -> [Twake.Account]
  /// Adds members.
  func add(_ users: [String], to channel: Twake.Channel) async throws
  /// Removes members.
  func remove(_ users: [String], from channel: Twake.Channel) async throws
}

/// A source of companies and workspaces.
public protocol CompaniesSource: Sendable {
  /// Fetches the user's companies.
  func companies() async throws -> [Twake.Company]
  /// Fetches a company's workspaces.
  func workspaces(of companyID: String) async throws -> [Twake.Workspace]
  /// Fetches a workspace's people.
  func members(of workspaceID: String) async throws -> [Twake.Account]
  /// Creates a workspace. Under one key it is created once.
  func create(
    workspace name: String, in companyID: String, members: [String], key: String
  ) async throws -> Twake.Workspace
}

/// A source of accounts and tokens.
public protocol AccountsSource: Sendable {
  /// Exchanges a name and a password for tokens.
  func authenticate(_ username: String, _ password: String) async throws -> Twake.Authentication
  /// Exchanges a refresh token for new tokens.
  func refresh(_ tokens: Twake.Authentication) async throws -> Twake.Authentication
  /// Fetches the data that the app needs first: companies, workspaces, people.
  func synchronise() async throws
  /// Fetches a person's account; without an id, the signed-in user's.
  func account(_ id: String?) async throws -> Twake.Account
}

/// The app's storage on the device: JSON of models and lists, by name.
public protocol CubitStorage: Sendable {
  /// Returns the value stored under a name; `nil` if missing.
  func read(_ name: String) async -> [UInt8]?
  /// Stores a value, replacing the former one.
  func write(_ value: [UInt8], for name: String) async
  /// Deletes all values, including those still being written.
  func clear() async
}

/// A storage in memory.
public actor MemoryCubitStorage: CubitStorage {
  private var values: [String: [UInt8]] = [:]

  /// Creates an empty storage.
  public init() {}

  /// Returns the value stored under a name; `nil` if missing.
  public func read(_ name: String) -> [UInt8]? { values[name] }
  /// Stores a value.
  public func write(_ value: [UInt8], for name: String) { values[name] = value }
  /// Deletes all values.
  public func clear() { values = [:] }
}
