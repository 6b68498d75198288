public import Observation
import ParleyClientCore
import SocketMessages

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A room: a name under which messages are published, and its subscribers.
///
///     for await update in parley.room("orders").updates { await reload() }
@MainActor @Observable public final class Room: Identifiable {
  /// The room's name.
  public nonisolated let name: String
  /// The room's name.
  public nonisolated var id: String { name }
  /// The state.
  public private(set) var state = RoomState.opening
  /// The newest publication's place: keep it, and pass it to ``Parley/room(_:isPresent:from:)`` in
  /// the next process, to hear of what comes between.
  public private(set) var position: RoomPosition?
  /// The people present, in the order of their ids; only if the room was opened with
  /// `isPresent`.
  public private(set) var people: [Person] = []
  /// The ids of the people who type.
  public private(set) var typists: [String] = []
  /// Whether this person types, for the others to see. It ends by itself with the connection.
  public var isTyping = false {
    didSet {
      if isTyping != oldValue { parley?.handle(.core(.room(name, .typing(isTyping)))) }
    }
  }

  @ObservationIgnored private var screen = RoomScreen()
  @ObservationIgnored private var listeners: [Listener] = []
  /// Parts of the client that use the room beside the app, and how many of them are present in it.
  @ObservationIgnored var shares = 0
  @ObservationIgnored var presentShares = 0
  /// Whether the app itself has opened it, and as present.
  @ObservationIgnored var isApps = false
  @ObservationIgnored var isAppsPresent = false
  /// Whether it was subscribed to as present last.
  @ObservationIgnored var isPresent = false
  @ObservationIgnored private weak var parley: Parley?

  init(name: String, parley: Parley) {
    self.name = name
    self.parley = parley
  }

  /// Publications from now on, or from when the room is followed if it is not yet, in order, each once.
  ///
  /// An app that fetches what the room is about waits for ``opened()`` first, so that nothing is
  /// published between the two.
  ///
  /// 1,000 publications wait for the loop. When more come, the older half is dropped for one `gap`.
  public var updates: Updates<RoomUpdate> {
    Updates(feed: screen.updateFeed(), owner: parley ?? self, started: screen.startFeed())
  }

  /// Waits until the room is followed.
  public func opened() async throws(NoteTrouble) {
    guard let parley else { return }
    defer { withExtendedLifetime(parley) {} }
    let states = screen.stateFeed()
    while try !screen.isOpened() {
      guard await states.next() != nil else { return }
    }
  }

  /// Publishes JSON, and waits until the server has stored it; while the server is not there, until
  /// it is. Up to 1,000 may wait in a room.
  ///
  /// - Parameters:
  ///   - json: Any JSON value.
  ///   - key: A name of your own: under one key it is published once, however often it is tried. One
  ///     is made if you give none.
  ///   - senderID: A name by which your own app can know it again, and ignore it.
  /// - Returns: Its place.
  @discardableResult
  public func publish(
    json: [UInt8], key: String? = nil, senderID: String? = nil
  ) async throws(PublishError) -> RoomPosition {
    try await publish(json: json, key: key, senderID: senderID, notifies: false)
  }

  /// Publishes JSON, and has followers who are offline notified if so asked.
  package func publish(
    json: [UInt8], key: String?, senderID: String?, notifies: Bool
  ) async throws(PublishError) -> RoomPosition {
    guard let parley else { throw .closed }
    defer { withExtendedLifetime(parley) {} }
    let key = key ?? RoomScreen.newKey()
    let (event, answer) = try screen.publish(
      json, in: name, key: key, senderID: senderID, pushes: notifies)
    parley.handle(.core(.room(name, event)))
    guard let result = await answer.next() else { throw .cancelled }
    return try result.get()
  }

  /// Publishes a value as JSON, and waits until the server has stored it.
  @discardableResult
  public func publish(
    _ value: some Encodable, key: String? = nil, senderID: String? = nil
  ) async throws(PublishError) -> RoomPosition {
    guard let json = try? JSONEncoder().encode(value) else { throw .notJSON }
    return try await publish(json: Array(json), key: key, senderID: senderID)
  }

  /// Unsubscribes. Publishing under way continues.
  public func close() {
    parley?.handle(.core(.room(name, .unsubscribe)))
    parley?.forget(self)
  }

  func take(_ action: RoomAction) {
    screen.take(action)
    if state != screen.state { state = screen.state }
    if position != screen.position { position = screen.position }
    if case .people = action { listPeople() }
    for listener in listeners { listener.object?.room(self, did: action) }
  }

  private struct Listener { weak var object: (any RoomListener)? }

  /// Tells an object of each of the room's actions, in order, after the room's own state follows it.
  /// It is not kept.
  package func add(_ listener: any RoomListener) {
    listeners.removeAll { $0.object == nil }
    listeners.append(Listener(object: listener))
  }

  package func remove(_ listener: any RoomListener) {
    listeners.removeAll { $0.object == nil || $0.object === listener }
  }

  /// Callers that wait for answers.
  var publishing: Publishing { screen.publishing }

  private func listPeople() {
    guard let machine = parley?.machine else { return }
    let listed = machine.people(inRoom: name)
    let typing = machine.typists(inRoom: name)
    let renewed = people.renewed(by: listed, id: { $0.personID }, name: { $0.name })
    if !renewed.elementsEqual(people, by: ===) { people = renewed }
    for (person, other) in zip(people, listed) {
      person.set(
        name: other.name, color: other.color, selections: [],
        isWriting: typing.contains(other.personID))
    }
    if typists != typing { typists = typing }
  }
}
