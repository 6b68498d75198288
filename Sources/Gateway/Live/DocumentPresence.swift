package import SocketMessages

/// The people who follow a document, and which of them its followers know by name.
///
/// All followers receive the same message, once per turn of the loop: ``takeTurn(tellsCount:)``. Up
/// to `limit` people, followers have the list of all. Above it, they have a count and the names of
/// the `limit` people who acted last. A person who moves a caret or changes the text is named in
/// the same turn; at the next tick, if `limit` people are named already. The list returns once at
/// most three quarters of the limit are present, so that one person who comes and goes does not
/// cause a new list each time.
///
///     listed  ── more than the limit are here ──▶  counted
///     listed  ◀── three quarters of it or fewer ── counted
///
/// - Complexity: Amortised O(1) for each call, and O(limit) for a change between the two forms.
package struct DocumentPresence {
  /// The changes of a turn, which followers receive at its end.
  package struct Turn: Equatable {
    /// People who are known by name from now on.
    package var joined: [ServerMessage.Participant] = []
    /// People known by name whose name or colour has changed.
    package var updated: [ServerMessage.Participant] = []
    /// Clients known by name that have left, or are only counted from now on.
    package var left: [String] = []
    /// The number of people present; `nil` if all are known by name.
    package var people: Int?
    /// Whether the list was replaced by a count, or a count by the list.
    package var changesForm = false
  }

  private struct Entry {
    var person: ServerMessage.Participant
    /// The person's position in the order of arrival.
    let order: Int
    /// Whether followers know the person by name.
    var isAnnounced = false
    /// Whether the client was known by name before it left and returned in this turn.
    var wasAnnounced = false
    /// Whether `news` contains the client.
    var isUnsent = false
    /// Whether name or colour have changed since they were sent.
    var isChanged = false
    /// Whether the person has acted since `dropOne` last considered the entry.
    var hasActed = false
    /// The `number` of the valid element of `named` for this client.
    var namedNumber = 0
  }

  /// An element of `named`.
  private struct NamedClient {
    var client: String
    var number: Int
  }

  /// The maximum people in the list, and the maximum names beside a count.
  private let limit: Int
  private var entries: ExactDictionary<Entry> = [:]
  /// Clients to examine in the next turn, each once, in the order of their changes.
  private var news: [String] = []
  /// Clients known by name that have left since the last turn, with indices in `goneInOrder`.
  private var gone: ExactDictionary<Int> = [:]
  private var goneInOrder: [String] = []
  /// Whether followers have a count and not the list.
  private var isCounted = false
  private var isCountNews = false
  /// People named beside a count, in the order in which `dropOne` considers them. An element whose
  /// number differs from its client's `namedNumber` is obsolete.
  private var named: [NamedClient] = []
  private var namedHead = 0
  private var namedCount = 0
  /// The number of named people that this turn may still consider.
  private var considerationsLeft = 0
  private var nextNumber = 1
  private var nextOrder = 0

  /// Creates the presence of a document without followers.
  ///
  /// - Parameter limit: The maximum people in the list; at least 1.
  package init(limit: Int) { self.limit = limit }

  /// The number of people present.
  package var count: Int { entries.count }

  /// The number of people present, for a joining client; `nil` if all are known by name.
  package var announcedCount: Int? { isCounted ? entries.count : nil }

  /// Whether there are changes to send at the end of the turn.
  package var hasUnsent: Bool {
    !news.isEmpty || !goneInOrder.isEmpty || isOverdue
  }

  /// Whether the changes can wait for the next tick: each name that is sent replaces another. When
  /// hundreds write, a message in each turn would only name the people who acted since the last
  /// one.
  package var canWait: Bool { isCounted && namedCount == limit && !isOverdue }

  /// Whether followers lack the current count.
  package var hasUnsentCount: Bool { isCounted && isCountNews }

  /// Whether the list has to replace the count, or the count the list.
  private var isOverdue: Bool {
    isCounted ? entries.count <= limit * 3 / 4 : entries.count > limit
  }

  /// The people that followers know by name.
  ///
  /// - Complexity: O(*n* log *n*) people who are named.
  package var announced: [ServerMessage.Participant] {
    if isCounted {
      return named[namedHead...].compactMap { element in
        entries[element.client].flatMap {
          $0.isAnnounced && $0.namedNumber == element.number ? $0.person : nil
        }
      }
    }
    return entries.values.filter(\.isAnnounced).sorted { $0.order < $1.order }.map(\.person)
  }

  /// Whether followers know a client by name.
  package func isAnnounced(_ client: String) -> Bool { entries[client]?.isAnnounced ?? false }

  // MARK: Events

  /// Adds a person who follows the document, or changes the person's name or colour.
  package mutating func enter(_ person: ServerMessage.Participant) {
    let client = person.clientID
    guard entries[client] == nil else {
      if entries[client]?.person != person { update(person) }
      return
    }
    var entry = Entry(person: person, order: nextOrder)
    nextOrder += 1
    // The client's earlier carets are gone, so its name is sent again.
    entry.wasAnnounced = gone.removeValue(forKey: client) != nil
    entries[client] = entry
    isCountNews = true
    if !isCounted || entry.wasAnnounced { note(client) }
  }

  /// Updates the name and colour of a person who is present. They are sent even if unchanged.
  package mutating func update(_ person: ServerMessage.Participant) {
    let client = person.clientID
    guard entries[client] != nil else { return }
    entries[client]?.person = person
    entries[client]?.isChanged = true
    if !isCounted || isAnnounced(client) { note(client) }
  }

  /// Removes a person who no longer follows the document.
  package mutating func leave(_ client: String) {
    guard let entry = entries.removeValue(forKey: client) else { return }
    isCountNews = true
    if entry.isAnnounced, isCounted { namedCount -= 1 }
    guard entry.isAnnounced || entry.wasAnnounced, gone[client] == nil else { return }
    gone[client] = goneInOrder.count
    goneInOrder.append(client)
  }

  /// Records that a person has moved a caret or changed the text.
  package mutating func act(_ client: String) {
    guard let entry = entries[client] else { return }
    if !entry.hasActed { entries[client]?.hasActed = true }
    if !entry.isAnnounced { note(client) }
  }

  private mutating func note(_ client: String) {
    guard entries[client]?.isUnsent == false else { return }
    entries[client]?.isUnsent = true
    news.append(client)
  }

  // MARK: Sending

  /// Ends a turn: returns the changes for followers, and marks them as sent.
  ///
  /// - Parameter tellsCount: Whether a turn in which only the count has changed is sent, too. If
  ///   every turn did this, each person who joins a crowd would cost all followers a message.
  package mutating func takeTurn(tellsCount: Bool) -> Turn? {
    guard hasUnsent || tellsCount && hasUnsentCount else { return nil }
    var turn = Turn()
    // Consider each named person once, and one of them again. So one more person is named in each
    // turn even if all named people keep acting.
    considerationsLeft = limit + 1
    // A client that left, returned and left again is listed twice, but counts once.
    for (index, client) in goneInOrder.enumerated() where gone[client] == index {
      turn.left.append(client)
    }
    gone = [:]
    goneInOrder = []
    if isOverdue { changeForm(&turn) }
    let changed = news
    news = []
    for client in changed {
      guard let entry = entries[client], entry.isUnsent else { continue }
      entries[client]?.isUnsent = false
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
    // If more people act in one turn than can be named, the last ones are named.
    if isCounted { turn.joined.removeAll { !isAnnounced($0.clientID) } }
    guard turn != Turn() || tellsCount && hasUnsentCount else { return nil }
    turn.people = announcedCount
    isCountNews = false
    return turn
  }

  /// Replaces the list by a count, or the count by the list.
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

  /// Appends a client to the people named beside a count.
  private mutating func keep(_ client: String) {
    entries[client]?.namedNumber = nextNumber
    entries[client]?.hasActed = false
    named.append(NamedClient(client: client, number: nextNumber))
    nextNumber += 1
    namedCount += 1
  }

  private mutating func name(_ client: String, _ turn: inout Turn) {
    guard let person = entries[client]?.person else { return }
    // If no name can be dropped, the person is named after a later act.
    if isCounted { while namedCount >= limit { guard dropOne(&turn) else { return } } }
    entries[client]?.isAnnounced = true
    turn.joined.append(person)
    guard isCounted else { return }
    keep(client)
    tidy()
  }

  /// Drops the name of one person, who is only counted from now on: the first in `named` who has
  /// not acted since `dropOne` last considered the entry.
  ///
  /// - Returns: `false` if this turn has considered all.
  private mutating func dropOne(_ turn: inout Turn) -> Bool {
    while namedHead < named.count {
      let first = named[namedHead]
      namedHead += 1
      guard let entry = entries[first.client], entry.isAnnounced, entry.namedNumber == first.number
      else {
        continue
      }
      guard considerationsLeft > 0 else {
        namedHead -= 1
        return false
      }
      considerationsLeft -= 1
      namedCount -= 1
      if entry.hasActed {
        keep(first.client)
        continue
      }
      entries[first.client]?.isAnnounced = false
      turn.left.append(first.client)
      return true
    }
    return false
  }

  /// Removes obsolete elements of `named`, once they are the majority.
  private mutating func tidy() {
    guard named.count > 2 * namedCount + 16 else { return }
    named = named[namedHead...].filter { element in
      entries[element.client].map { $0.isAnnounced && $0.namedNumber == element.number } ?? false
    }
    namedHead = 0
  }
}
