public import Observation
import ParleyClientCore
import ParleyJSON
import SocketMessages

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
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
  /// The newest publication's position. Store it, and pass it to ``Parley/room(_:isPresent:from:)``
  /// in the next process, to receive the publications missed between.
  public private(set) var position: RoomPosition?
  /// The people present, in the order of their ids; empty unless the room was opened with
  /// `isPresent`.
  public private(set) var people: [Person] = []
  /// The ids of the people who are typing.
  public private(set) var typists: [String] = []
  /// Whether this person is shown as typing. For others it ends when the connection is lost.
  public var isTyping = false {
    didSet {
      if isTyping != oldValue { parley?.handle(.core(.room(name, .typing(isTyping)))) }
    }
  }

  @ObservationIgnored var screen = RoomScreen()
  @ObservationIgnored private var listeners: [Listener] = []
  /// The number of shares of the room by parts of the client, and of those that are present in it.
  @ObservationIgnored var shares = 0
  @ObservationIgnored var presentShares = 0
  /// Whether the app itself has opened the room, and as present.
  @ObservationIgnored var isOpenedByApp = false
  @ObservationIgnored var isAppPresent = false
  /// Whether the last subscription was made as present.
  @ObservationIgnored var isPresent = false
  @ObservationIgnored weak var parley: Parley?
  /// The values as JSON, and the typed views of them, by their types.
  @ObservationIgnored private var valuesByName: [ValueName: JSONValue] = [:]
  @ObservationIgnored private var hasValues = false
  @ObservationIgnored private var valueViews: [ObjectIdentifier: any ValueView] = [:]
  /// The values that have changed before a change of this client, by the change's key.
  @ObservationIgnored var conflicts: [String: NamedValues] = [:]
  /// The names of changes of values without an answer, by their keys.
  @ObservationIgnored private var changeNames: [String: [String]] = [:]
  /// Called with the names and the error of each own change of values that fails, also of an earlier
  /// process.
  public var onRefusedChange: (([String], ValueError) -> Void)?
  /// Notifies callers that wait for values of each action.
  @ObservationIgnored var stirs = Feeds<Void>()
  /// The last undo or redo, for which the next one waits.
  @ObservationIgnored var reverting: Task<Bool, any Error>?
  /// Whether there is a change to undo, and one to redo.
  var hasSteps = (undo: false, redo: false)

  init(name: String, parley: Parley) {
    self.name = name
    self.parley = parley
  }

  /// The room's publications, in order and each once, from now on or from the subscription if that
  /// is later.
  ///
  /// An app that fetches the room's subject awaits ``opened()`` first, so that it misses no
  /// publication between.
  ///
  /// At most 1,000 publications are buffered. Beyond that, the older half is replaced by one `gap`.
  public var updates: Updates<RoomUpdate> {
    Updates(feed: screen.updateFeed(), owner: parley ?? self, started: screen.startFeed())
  }

  /// Waits until the room is subscribed.
  ///
  /// - Throws: `noAnswer` if the connection has stopped or was missing for the client's timeout.
  public func opened() async throws(RoomError) {
    guard let parley else { throw .closed }
    defer { withExtendedLifetime(parley) {} }
    if try screen.isOpened() { return }
    let states = screen.stateFeed()
    let wait = parley.beginWait(on: states)
    defer { _ = parley.endWait(wait) }
    while try !screen.isOpened() {
      guard await states.next() == nil else { continue }
      if let reason = parley.endWait(wait) { throw .noAnswer(reason) }
      throw screen.state == .closed ? .closed : .cancelled
    }
  }

  /// Publishes JSON, and waits until the server has stored it. Maximum waiting publications in a
  /// room: 1,000.
  ///
  /// - Parameters:
  ///   - json: Any JSON value.
  ///   - key: The idempotency key: under one key the server publishes once, however often it is
  ///     retried. By default a random one.
  ///   - senderID: An id by which your own app can recognise the publication, and ignore it.
  /// - Returns: The publication's position.
  /// - Throws: `noAnswer` if the connection has stopped or was missing for the client's timeout. The
  ///   publication remains queued then; the same `key` never publishes twice.
  @discardableResult
  public func publish(
    json: [UInt8], key: String? = nil, senderID: String? = nil
  ) async throws(PublishError) -> RoomPosition {
    try await publish(json: json, key: key, senderID: senderID, notifies: false)
  }

  /// Publishes JSON, and optionally notifies followers who are offline.
  package func publish(
    json: [UInt8], key: String?, senderID: String?, notifies: Bool
  ) async throws(PublishError) -> RoomPosition {
    guard let parley else { throw .closed }
    defer { withExtendedLifetime(parley) {} }
    let key = key ?? RoomScreen.newKey()
    let (event, answer) = try screen.publish(
      json, in: name, key: key, senderID: senderID, pushes: notifies)
    parley.handle(.core(.room(name, event)))
    return try await parley.result(of: answer)
  }

  /// Publishes a value as JSON, and waits until the server has stored it.
  @discardableResult
  public func publish(
    _ value: some Encodable, key: String? = nil, senderID: String? = nil
  ) async throws(PublishError) -> RoomPosition {
    guard let json = try? JSONEncoder().encode(value) else { throw .notJSON }
    return try await publish(json: Array(json), key: key, senderID: senderID)
  }

  // MARK: Values

  /// The room's values of a type: shared state that every member sees and changes.
  ///
  /// Names whose values are of other types are not among them.
  public func values<Value: Codable & Sendable>(
    of type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder(),
    encoder: JSONEncoder = JSONEncoder()
  ) -> SharedValues<Value> {
    if let known = valueViews[ObjectIdentifier(type)] as? SharedValues<Value> { return known }
    let view = SharedValues<Value>(room: self, decoder: decoder, encoder: encoder)
    valueViews[ObjectIdentifier(type)] = view
    if hasValues { view.take(valuesByName.mapValues { .some($0) }) }
    parley?.handle(.core(.room(name, .followValues)))
    return view
  }

  /// Sends a signal to the other subscribers: at most 4 KiB, not stored, dropped without a connection.
  public func signal(_ signal: String, json: [UInt8]) throws(PublishError) {
    guard let data = JSONValue(json) else { throw .notJSON }
    parley?.handle(.core(.room(name, .signal(name: signal, data))))
  }

  private func takeValues(_ action: RoomAction) {
    switch action {
    case .values(let update):
      for (name, value) in update.changed { valuesByName[name] = value }
      hasValues = true
      for view in valueViews.values { view.take(update.changed) }
    case .conflict(let key, let values, _): conflicts[key] = values
    case .keepChanges(let changes):
      changeNames = Dictionary(
        changes.map { ($0.key, $0.publication.values?.all.map(\.name.text) ?? []) }
      ) { $1 }
    case .publishFailed(let key, let code): refused(key, .refused(Refusal(code)))
    case .publishUnsure(let key): refused(key, .unsure)
    default: break
    }
  }

  /// Reports that a change of values has failed.
  private func refused(_ key: String, _ error: PublishError) {
    guard let names = changeNames[key] else { return }
    let offsets = conflicts[key].map { $0.all.map { ($0.name.text, $0.offset) } }
    onRefusedChange?(
      names, offsets.map { .conflict(Dictionary($0) { $1 }) } ?? .failed(error))
    // A change of an earlier process has no caller that takes it.
    if !publishing.isWaiting(for: key) { conflicts[key] = nil }
  }

  /// Unsubscribes. Publications that wait are still sent.
  public func close() {
    parley?.handle(.core(.room(name, .unsubscribe)))
    parley?.forget(self)
    screen.close()
    stirs.finish()
    if state != .closed { state = .closed }
  }

  func take(_ action: RoomAction) {
    takeValues(action)
    screen.take(action)
    if state != screen.state { state = screen.state }
    if position != screen.position { position = screen.position }
    if case .people = action { listPeople() }
    if hasValues { noteSteps() }
    stirs.put(()) { _ in [()] }
    for listener in listeners { listener.object?.room(self, did: action) }
  }

  private struct Listener { weak var object: (any RoomListener)? }

  /// Notifies an object of each of the room's actions, in order, after the room's own state was
  /// updated. The object is referenced weakly.
  package func add(_ listener: any RoomListener) {
    listeners.removeAll { $0.object == nil }
    listeners.append(Listener(object: listener))
  }

  package func remove(_ listener: any RoomListener) {
    listeners.removeAll { $0.object == nil || $0.object === listener }
  }

  /// Callers that wait for results.
  var publishing: Publishing { screen.publishing }

  private func listPeople() {
    guard let machine = parley?.machine else { return }
    let listed = machine.people(inRoom: name)
    let typing = machine.typists(inRoom: name)
    let renewed = people.renewed(by: listed, id: { $0.personID.text }, name: { $0.name })
    if !renewed.elementsEqual(people, by: ===) { people = renewed }
    for (person, other) in zip(people, listed) {
      if person.personID == nil { person.personID = other.personID.text }
      person.set(
        name: other.name, color: other.color, selections: [],
        isWriting: typing.contains(other.personID.text))
    }
    if typists != typing { typists = typing }
  }
}
