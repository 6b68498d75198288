public import OTCore
import SocketMessages

/// Another person who has a note open.
public struct NotePerson: Sendable, Equatable {
  /// The client's id.
  public let clientID: String
  /// The person's name.
  public var name: String
  /// The person's colour, `#rrggbb`.
  public var color: String?
  /// The person's carets, in scalars of the text on the screen.
  public var selections: [Selection]
  /// Whether the person has just edited the text.
  public var isWriting: Bool
  /// The person's id in this note, the same on all devices of one user; the client's id for people
  /// without an account.
  public var personID: String

  /// Whether the id is that of a user, and not of this client alone.
  public var hasOwnID: Bool { !personID.isSame(as: clientID) }
}

/// The other people who have a note open, sorted by the bytes of their client ids.
struct NotePeople: Sendable {
  private(set) var all: [NotePerson] = []
  /// The number of people, this client included; `nil` if all are named.
  private(set) var count: Int?
  /// The people shown as writing, each with the end of that time.
  private var writers: [(clientID: String, until: Int64)] = []

  /// The next time at which a person is no longer shown as writing.
  var deadline: Int64? {
    var next: Int64?
    for writer in writers { next = earlier(next, writer.until) }
    return next
  }

  mutating func removeAll() {
    all = []
    count = nil
    writers = []
  }

  /// Updates the list with people who have joined, changed or left.
  ///
  /// - Parameter place: Maps their selections to the text on the screen. If `nil`, their selections
  ///   are ignored, because the message contains no revision.
  mutating func take(
    joined: [ServerMessage.Participant], updated: [ServerMessage.Participant], left: [String],
    count: Int?, except own: String?, place: (([Selection]) -> [Selection])?
  ) {
    self.count = count
    // A person who joins again has no earlier carets.
    for participant in joined { enter(participant, except: own, isNew: true, place) }
    for participant in updated { enter(participant, except: own, isNew: false, place) }
    for id in left {
      guard let index = index(of: id) else { continue }
      all.remove(at: index)
      writers.removeAll { $0.clientID.isSame(as: id) }
    }
  }

  private mutating func enter(
    _ participant: ServerMessage.Participant, except own: String?, isNew: Bool,
    _ place: (([Selection]) -> [Selection])?
  ) {
    if let own, own.isSame(as: participant.clientID) { return }
    let (at, isThere) = slot(of: participant.clientID)
    let known = isThere ? all[at] : nil
    var person = NotePerson(
      clientID: participant.clientID, name: participant.name, color: participant.color,
      selections: isNew ? [] : known?.selections ?? [], isWriting: known?.isWriting ?? false,
      personID: participant.personID ?? participant.clientID)
    if let place { person.selections = place(participant.selections) }
    if known == nil { all.insert(person, at: at) } else { all[at] = person }
  }

  /// Sets a person's carets on the screen. Returns whether the person is listed.
  mutating func set(_ selections: [Selection], of clientID: String) -> Bool {
    guard let index = index(of: clientID) else { return false }
    all[index].selections = selections
    return true
  }

  /// Moves carets after a change of the text on the screen.
  mutating func move(over operation: TextOperation, by clientID: String?) {
    for index in all.indices where !all[index].selections.isEmpty {
      let isOwn = clientID.map { $0.isSame(as: all[index].clientID) } ?? false
      for place in all[index].selections.indices {
        all[index].selections[place] = all[index].selections[place]
          .transformed(over: operation, own: isOwn)
      }
    }
  }

  /// Records an edit by a person.
  ///
  /// - Returns: Whether the person was not yet shown as writing.
  mutating func writes(_ clientID: String, until: Int64) -> Bool {
    guard let index = index(of: clientID) else { return false }
    if let writer = writers.firstIndex(where: { $0.clientID.isSame(as: clientID) }) {
      writers[writer].until = until
    } else {
      writers.append((clientID, until))
    }
    defer { all[index].isWriting = true }
    return !all[index].isWriting
  }

  /// Ends the writing state of people whose time has passed. Returns whether there were any.
  mutating func rest(at now: Int64) -> Bool {
    var hasRested = false
    for writer in writers where writer.until <= now {
      if let index = index(of: writer.clientID) { all[index].isWriting = false }
      hasRested = true
    }
    if hasRested { writers.removeAll { $0.until <= now } }
    return hasRested
  }

  private func index(of clientID: String) -> Int? {
    let (at, isThere) = slot(of: clientID)
    return isThere ? at : nil
  }

  private func slot(of clientID: String) -> (index: Int, isThere: Bool) {
    all.slot(of: clientID) { $0.clientID }
  }
}
