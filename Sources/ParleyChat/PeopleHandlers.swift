public import ParleyClient
import ParleyClientCore
import SocketMessages

/// The people in threads, and their presence.
///
/// The gateway has no list of contacts; a person knows the people of their threads. Presence
/// requires tokens that grant `presence` in the thread's room.
@MainActor public protocol ContactHandler: Sendable {
  /// Returns the people present in a thread, this person included, while the loop runs: the current
  /// list at once, then each changed list. While the loop runs, this person is shown as present to
  /// the others. Only the newest list is buffered.
  func people(in thread: ChatThread) -> AsyncStream<[ChatPerson]>
}

/// People who are typing.
@MainActor public protocol TypingHandler: Sendable {
  /// Reports whether the person is typing in a thread. A lost connection also ends typing.
  func setTyping(_ isTyping: Bool, in thread: ChatThread)

  /// Returns the other people who are typing in a thread: the current list at once, then each
  /// changed list. Only the newest list is buffered.
  func typists(in thread: ChatThread) -> AsyncStream<[ChatPerson.ID]>
}

/// The time at which a person was online last.
public enum LastOnline: Sendable, Hashable {
  /// The person is online.
  case now
  /// The last connection ended at this time, in milliseconds since 1970.
  case at(Int64)
  /// The server has no record of a connection.
  case never
}

/// The times at which people were online last.
@MainActor public protocol LastOnlineHandler: Sendable {
  /// Returns when people were last online. People who do not belong to the thread are omitted.
  /// People belong to it as followers or former subscribers, and so must the caller.
  ///
  /// - Complexity: One request, with a size proportional to the number of people.
  func lastOnline(
    of people: Set<ChatPerson.ID>, in thread: ChatThread
  ) async throws(RequestError) -> [ChatPerson.ID: LastOnline]
}

/// Blocking of people, whose messages and presence are then hidden.
@MainActor public protocol BlockingHandler: Sendable {
  /// Blocks a person: the server sends nothing more from them. They are not notified.
  ///
  /// - Returns: All blocked people.
  @discardableResult
  func block(_ person: ChatPerson.ID) async throws(RequestError) -> Set<ChatPerson.ID>

  /// Unblocks a person.
  ///
  /// - Returns: All blocked people.
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
  /// The threads in which the person is typing, with their rooms.
  private var typing: [ChatThread: RoomShare] = [:]

  init(parley: Parley) { self.parley = parley }

  func setTyping(_ isTyping: Bool, in thread: ChatThread) {
    guard isTyping else {
      typing.removeValue(forKey: thread)?.room.isTyping = false
      return
    }
    // If the app has closed the room meanwhile, open it again.
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
