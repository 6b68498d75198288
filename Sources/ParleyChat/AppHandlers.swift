public import ParleyClient

/// Signing in and out.
///
/// The app authenticates the person itself; the connection's token function returns the resulting
/// token.
@MainActor public protocol AuthenticationHandler: Sendable {
  /// The signed-in person; `nil` before the first connection, and if tokens have no users.
  var person: ChatPerson.ID? { get }

  /// Connects with a new token, after the person has signed in.
  func signedIn()

  /// Ends the connection, after the person has signed out.
  func signedOut()
}

/// Search for people. The gateway has no directory: an app sets a handler that asks its own server.
@MainActor public protocol PeopleSearchHandler: Sendable {
  /// Returns the people whose names match a text, the best first.
  func people(matching text: String, limit: Int) async throws -> [ChatPerson]
}

/// A person near this one.
public struct NearbyPerson: Sendable, Hashable {
  /// The person.
  public let person: ChatPerson
  /// The distance in metres.
  public let metres: Double

  /// Creates a person at a distance.
  public init(_ person: ChatPerson, metres: Double) {
    self.person = person
    self.metres = metres
  }
}

/// People nearby. The gateway knows no places of people: an app sets a handler.
@MainActor public protocol NearbyUsersHandler: Sendable {
  /// Returns the people within a distance, the nearest first.
  func people(within metres: Double, of place: ChatLocation) async throws -> [NearbyPerson]
}

/// Messages with stickers. The app has their pictures, so it sets a handler.
@MainActor public protocol StickerMessageHandler: Sendable {
  /// Sends a sticker by its name in the app's collection.
  @discardableResult
  func send(
    sticker: String, to thread: ChatThread, _ options: SendOptions
  ) async throws(PublishError) -> ChatMessage.ID
}

/// Threads that everyone may find. The gateway has no list of rooms: an app sets a handler that asks
/// its own server.
@MainActor public protocol PublicThreadHandler: Sendable {
  /// Returns the public threads.
  func threads() async throws -> [ChatThread]

  /// Creates a public thread.
  func create(named name: String) async throws -> ChatThread
}

struct GatewayAuthentication: AuthenticationHandler {
  let parley: Parley

  var person: ChatPerson.ID? { parley.personID.map { ChatPerson.ID($0) } }

  func signedIn() {
    parley.start()
    parley.signedIn()
  }

  func signedOut() { parley.stop() }
}
