public import ParleyClient
import ParleyClientCore
import SocketMessages

/// People, and whether they are there.
///
/// The gateway keeps no list of contacts; a person knows the people of their threads. Sees and
/// shows people where tokens grant `presence` in the thread's room.
@MainActor public protocol ContactHandler: Sendable {
  /// Returns who is in a thread, oneself among them, while the loop runs: the present list at once,
  /// and again with each change. The person who reads is seen there, too. Only the newest list waits
  /// for the loop.
  func people(in thread: ChatThread) -> AsyncStream<[ChatPerson]>
}

/// People who are typing.
@MainActor public protocol TypingHandler: Sendable {
  /// Says that the person types in a thread, or has stopped. It ends with the connection's end, and
  /// otherwise when it is said.
  func setTyping(_ isTyping: Bool, in thread: ChatThread)

  /// Returns who else types in a thread: the present list at once, and again with each change. Only
  /// the newest waits for the loop.
  func typists(in thread: ChatThread) -> AsyncStream<[ChatPerson.ID]>
}

/// The time at which a person was online last.
public enum LastOnline: Sendable, Hashable {
  /// The person is online.
  case now
  /// The last connection ended at this time, in milliseconds since 1970.
  case at(Int64)
  /// The server knows of no connection.
  case never
}

/// The times at which people were online last.
@MainActor public protocol LastOnlineHandler: Sendable {
  /// Returns when people were online last. People that the asker may not see are left out: both
  /// have to belong to the thread, by following it or having subscribed to it.
  ///
  /// - Complexity: One request, whose size is in proportion to the people.
  func lastOnline(
    of people: Set<ChatPerson.ID>, in thread: ChatThread
  ) async throws(RequestError) -> [ChatPerson.ID: LastOnline]
}

/// People whose messages and presence a person does not want to see.
@MainActor public protocol BlockingHandler: Sendable {
  /// Blocks a person: the server sends nothing more of theirs. They are not notified.
  ///
  /// - Returns: All people who are blocked now.
  @discardableResult
  func block(_ person: ChatPerson.ID) async throws(RequestError) -> Set<ChatPerson.ID>

  /// Lets a person through again.
  ///
  /// - Returns: All people who are blocked now.
  @discardableResult
  func unblock(_ person: ChatPerson.ID) async throws(RequestError) -> Set<ChatPerson.ID>

  /// Returns all people who are blocked.
  func blocked() async throws(RequestError) -> Set<ChatPerson.ID>
}

struct GatewayContacts: ContactHandler {
  let parley: Parley

  func people(in thread: ChatThread) -> AsyncStream<[ChatPerson]> {
    RoomFollower<[ChatPerson]>.states(parley.share(room: thread.name, isPresent: true)) { room in
      room.people.map { ChatPerson(id: .init($0.id), name: $0.name, color: $0.color) }
    }
  }
}

@MainActor final class GatewayTyping: TypingHandler {
  private let parley: Parley
  /// The threads in which the person types, with their rooms.
  private var typing: [ChatThread: RoomShare] = [:]

  init(parley: Parley) { self.parley = parley }

  func setTyping(_ isTyping: Bool, in thread: ChatThread) {
    guard isTyping else {
      typing.removeValue(forKey: thread)?.room.isTyping = false
      return
    }
    // A room that the app has closed meanwhile is opened again.
    if let share = typing[thread], share.room.state != .closed { return }
    let share = parley.share(room: thread.name)
    typing[thread] = share
    share.room.isTyping = true
  }

  func typists(in thread: ChatThread) -> AsyncStream<[ChatPerson.ID]> {
    RoomFollower<[ChatPerson.ID]>.states(parley.share(room: thread.name)) { room in
      room.typists.map { ChatPerson.ID($0) }
    }
  }
}

struct GatewayLastOnline: LastOnlineHandler {
  let parley: Parley

  func lastOnline(
    of people: Set<ChatPerson.ID>, in thread: ChatThread
  ) async throws(RequestError) -> [ChatPerson.ID: LastOnline] {
    let request = ClientMessage.LastOnline(
      room: thread.name,
      people: people.map(\.name).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    let reply = try await parley.ask(.lastOnline(request), \.lastOnline)
    var times: [ChatPerson.ID: LastOnline] = [:]
    for item in reply.people {
      times[ChatPerson.ID(item.personID)] =
        item.isOnline ? .now : item.time.map { .at($0) } ?? .never
    }
    return times
  }
}

struct GatewayBlocking: BlockingHandler {
  let parley: Parley
  let messages: MessageStore

  func block(_ person: ChatPerson.ID) async throws(RequestError) -> Set<ChatPerson.ID> {
    let blocked = try await ask(.block(.init(personID: person.name, isBlocked: true)))
    messages.forget(person)
    return blocked
  }

  func unblock(_ person: ChatPerson.ID) async throws(RequestError) -> Set<ChatPerson.ID> {
    try await ask(.block(.init(personID: person.name, isBlocked: false)))
  }

  func blocked() async throws(RequestError) -> Set<ChatPerson.ID> { try await ask(.blocks) }

  private func ask(_ request: RoomRequest) async throws(RequestError) -> Set<ChatPerson.ID> {
    let reply = try await parley.ask(request, \.blocks)
    return Set(reply.people.map { ChatPerson.ID($0) })
  }
}
