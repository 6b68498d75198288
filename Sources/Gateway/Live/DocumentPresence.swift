package import SocketMessages

/// The people who follow a document, and what their followers know of them.
///
/// All followers receive the same, once per turn of the loop: what ``takeTurn(tellsCount:)`` returns. Up to
/// a limit followers have the list of all who are here. Above it they have a count, and the names of people
/// who have acted, the last ones, as many as the limit: a person who moves a caret or changes the text is
/// named first, or with the next tick if that many are named already. Once no more than three quarters of
/// the limit are here, the list is sent again; because of the gap, one person who comes and goes does not
/// cause it to be sent each time.
///
///     listed  ── more than the limit are here ──▶  counted
///     listed  ◀── three quarters of it or fewer ── counted
///
/// - Complexity: Amortised O(1) for each call, and O(limit) for a change between the two forms.
package struct DocumentPresence {
  /// The news of a turn, which followers receive at its end.
  package struct Turn: Equatable {
    /// People that followers now know by name.
    package var joined: [ServerMessage.Participant] = []
    /// People known by name whose name or colour has changed.
    package var updated: [ServerMessage.Participant] = []
    /// Clients known by name that have gone, or are only counted from now on.
    package var left: [String] = []
    /// The number of people who are here; `nil` if followers know all by name.
    package var people: Int?
    /// Whether the list was replaced by a count, or a count by the list.
    package var changesForm = false
  }

  private struct Entry {
    var person: ServerMessage.Participant
    /// The person's place in the order of arrival.
    let order: Int
    /// Whether followers know the person by name.
    var isAnnounced = false
    /// Whether followers know the client by name from before it left and came again in this turn.
    var wasAnnounced = false
    /// Whether the next turn has to look at it.
    var isNews = false
    /// Whether name or colour have changed since they were sent to followers.
    var isChanged = false
    /// Whether the person has acted since the entry was last considered for counting only.
    var hasActed = false
    /// The number of the entry's valid place in `named`.
    var place = 0
  }

  private struct Place {
    var client: String
    var number: Int
  }

  /// The most people who are all named, and the most names that are sent beside a count.
  private let limit: Int
  private var entries: ExactDictionary<Entry> = [:]
  /// Clients to look at in the next turn, each once, in the order in which they changed.
  private var news: [String] = []
  /// Clients known by name who have left since the last turn.
  private var gone: ExactDictionary<Int> = [:]
  private var goneInOrder: [String] = []
  /// Whether followers have a count and not the list.
  private var isCounted = false
  private var isCountNews = false
  /// The people named beside a count, in the order in which they are considered for counting only. A
  /// place whose number is no longer its client's is passed over.
  private var named: [Place] = []
  private var namedHead = 0
  private var namedCount = 0
  /// The number of them that this turn may still consider.
  private var looksLeft = 0
  private var nextPlace = 1
  private var nextOrder = 0

  /// Makes the presence of a document without followers.
  ///
  /// - Parameter limit: the most people who are all named, from 1.
  package init(limit: Int) { self.limit = limit }

  /// The number of people who are here.
  package var count: Int { entries.count }

  /// The number of people who are here, as a newcomer receives it; `nil` if followers know all by name.
  package var announcedCount: Int? { isCounted ? entries.count : nil }

  /// Whether there is news to send at the end of the turn.
  package var hasNews: Bool {
    !news.isEmpty || !goneInOrder.isEmpty || isOverdue
  }

  /// Whether its news can wait for more: each name that is sent takes the place of another one. Where
  /// hundreds write, a message to all followers in each turn would name only people who have acted since
  /// the one before.
  package var canWait: Bool { isCounted && namedCount == limit && !isOverdue }

  /// Whether followers wait for another count.
  package var hasCountNews: Bool { isCounted && isCountNews }

  /// Whether the form has to change.
  private var isOverdue: Bool {
    isCounted ? entries.count <= limit * 3 / 4 : entries.count > limit
  }

  /// The people that followers know by name.
  ///
  /// - Complexity: O(*n* log *n*) people who are named.
  package var announced: [ServerMessage.Participant] {
    if isCounted {
      return named[namedHead...].compactMap { place in
        entries[place.client].flatMap {
          $0.isAnnounced && $0.place == place.number ? $0.person : nil
        }
      }
    }
    return entries.values.filter(\.isAnnounced).sorted { $0.order < $1.order }.map(\.person)
  }

  /// Whether followers know a client by name.
  package func isAnnounced(_ client: String) -> Bool { entries[client]?.isAnnounced ?? false }

  // MARK: Events

  /// Notes that a person follows the document now, or has another name or colour.
  package mutating func enter(_ person: ServerMessage.Participant) {
    let client = person.clientID
    guard entries[client] == nil else {
      if entries[client]?.person != person { update(person) }
      return
    }
    var entry = Entry(person: person, order: nextOrder)
    nextOrder += 1
    // Its carets are gone, so its name has to be sent again.
    entry.wasAnnounced = gone.removeValue(forKey: client) != nil
    entries[client] = entry
    isCountNews = true
    if !isCounted || entry.wasAnnounced { note(client) }
  }

  /// Notes that a person who is here has sent name and colour again. They are sent to followers even if
  /// nothing has changed.
  package mutating func update(_ person: ServerMessage.Participant) {
    let client = person.clientID
    guard entries[client] != nil else { return }
    entries[client]?.person = person
    entries[client]?.isChanged = true
    if !isCounted || isAnnounced(client) { note(client) }
  }

  /// Notes that a person follows the document no longer.
  package mutating func leave(_ client: String) {
    guard let entry = entries.removeValue(forKey: client) else { return }
    isCountNews = true
    if entry.isAnnounced, isCounted { namedCount -= 1 }
    guard entry.isAnnounced || entry.wasAnnounced, gone[client] == nil else { return }
    gone[client] = goneInOrder.count
    goneInOrder.append(client)
  }

  /// Notes that a person has moved a caret or changed the text.
  package mutating func act(_ client: String) {
    guard let entry = entries[client] else { return }
    if !entry.hasActed { entries[client]?.hasActed = true }
    if !entry.isAnnounced { note(client) }
  }

  private mutating func note(_ client: String) {
    guard entries[client]?.isNews == false else { return }
    entries[client]?.isNews = true
    news.append(client)
  }

  // MARK: Sending

  /// Ends a turn: returns what followers are to receive, and counts it as sent.
  ///
  /// - Parameter tellsCount: whether a count that has changed is sent by itself. Not in each turn while a
  ///   crowd comes: a message to all followers would go out for each newcomer.
  package mutating func takeTurn(tellsCount: Bool) -> Turn? {
    guard hasNews || tellsCount && hasCountNews else { return nil }
    var turn = Turn()
    // All of them, and one once more: a person who acts is named even if all keep acting, and of a crowd
    // one in a turn.
    looksLeft = limit + 1
    // A client that left, came and left again is listed twice, and counts once.
    for (index, client) in goneInOrder.enumerated() where gone[client] == index {
      turn.left.append(client)
    }
    gone = [:]
    goneInOrder = []
    if isOverdue { changeForm(&turn) }
    let changed = news
    news = []
    for client in changed {
      guard let entry = entries[client], entry.isNews else { continue }
      entries[client]?.isNews = false
      entries[client]?.wasAnnounced = false
      if entry.isAnnounced {
        if entry.isChanged { turn.updated.append(entry.person) }
      } else if !isCounted || entry.hasActed {
        name(client, &turn)
      } else if entry.wasAnnounced {
        turn.left.append(client)
      }
      entries[client]?.isChanged = false
    }
    // If more act in one turn than can be named, the last ones are named.
    if isCounted { turn.joined.removeAll { !isAnnounced($0.clientID) } }
    guard turn != Turn() || tellsCount && hasCountNews else { return nil }
    turn.people = announcedCount
    isCountNews = false
    return turn
  }

  /// Changes from the list to a count, or back.
  private mutating func changeForm(_ turn: inout Turn) {
    isCounted.toggle()
    turn.changesForm = true
    named = []
    namedHead = 0
    namedCount = 0
    for entry in entries.values.filter({ $0.isAnnounced == isCounted }).sorted(by: {
      $0.order < $1.order
    }) {
      let client = entry.person.clientID
      if !isCounted {
        note(client)
      } else if entry.hasActed {
        keep(client)
      } else {
        entries[client]?.isAnnounced = false
        turn.left.append(client)
      }
    }
  }

  /// Gives a client a place among those named beside a count.
  private mutating func keep(_ client: String) {
    entries[client]?.place = nextPlace
    entries[client]?.hasActed = false
    named.append(Place(client: client, number: nextPlace))
    nextPlace += 1
    namedCount += 1
  }

  private mutating func name(_ client: String, _ turn: inout Turn) {
    guard let person = entries[client]?.person else { return }
    // A person without a place is named after a later act.
    if isCounted { while namedCount >= limit { guard dropOne(&turn) else { return } } }
    entries[client]?.isAnnounced = true
    turn.joined.append(person)
    guard isCounted else { return }
    keep(client)
    tidy()
  }

  /// Demotes one named person to counted only: the first in line who has not acted since it was last
  /// considered.
  ///
  /// - Returns: `false` if this turn has considered all.
  private mutating func dropOne(_ turn: inout Turn) -> Bool {
    while namedHead < named.count {
      let place = named[namedHead]
      namedHead += 1
      guard let entry = entries[place.client], entry.isAnnounced, entry.place == place.number else {
        continue
      }
      guard looksLeft > 0 else {
        namedHead -= 1
        return false
      }
      looksLeft -= 1
      namedCount -= 1
      if entry.hasActed {
        keep(place.client)
        continue
      }
      entries[place.client]?.isAnnounced = false
      turn.left.append(place.client)
      return true
    }
    return false
  }

  /// Forgets invalid places, once they are the most.
  private mutating func tidy() {
    guard named.count > 2 * namedCount + 16 else { return }
    named = named[namedHead...].filter { place in
      entries[place.client].map { $0.isAnnounced && $0.place == place.number } ?? false
    }
    namedHead = 0
  }
}
