import ParleyJSON
import ParleyGatewayPorts
import SocketMessages

/// Pages of a room's history with only the publications that a reader may see.
///
/// Readers continue from the last publication that they see, so an empty page would look like the
/// end. Hidden publications are therefore replaced by the following ones.
extension Rooms {
  /// Reads a page of the publications that a person may see.
  ///
  /// - Parameter person: The reader, whose blocks apply; `nil` to apply no blocks.
  func read(
    _ room: RoomName, _ range: RoomRange, limit: Int, visibleTo person: PersonID?,
    takesValues: Bool = false, for reader: RoomReader
  ) {
    var filter = RoomReading.Filter.all
    if let person, people.blocking?.concerns(person) ?? false { filter = .visible(to: person) }
    read(
      RoomReading(
        room: room, range: range, limit: limit, filter: filter, reader: reader,
        takesValues: takesValues))
  }

  /// Reads a page of the matching publications. It is empty only if none are left.
  func read(_ work: RoomReading) {
    let limit =
      switch work.filter {
      case .all: work.isContinued ? settings.limits.pageMax : work.limit
      // The maximum of a page: one match in a thousand must not take a thousand reads.
      case .visible, .messages: settings.limits.pageMax
      }
    store(
      .room(
        .page(
          work.room, work.range, limit: limit, bytesMax: settings.pageBytes,
          retention: settings.retention(of: work.room), now: dependencies.clock.now)),
      under: .token, then: .page(work))
  }

  /// Handles the store's reply with a part of a room's history.
  func read(_ work: RoomReading, _ outcome: StoreOutcome<RoomPage>) {
    guard case .success(var page) = outcome else { return answer(work, outcome) }
    page.hasGap = page.hasGap || work.hasGap
    if case .all = work.filter, work.takesValues { return answer(work, .success(page)) }
    let isForward = work.range.isForward
    let end = isForward ? page.publications.last : page.publications.first
    page.publications.removeAll { !isWanted($0, by: work.filter) }
    if !work.takesValues {
      page.publications = page.publications.compactMap(\.withoutValues)
    }
    if page.publications.isEmpty, page.hasMore, let end {
      read(
        RoomReading(
          room: work.room, range: isForward ? .since(end.offset) : .before(end.offset),
          limit: work.limit, filter: work.filter, reader: work.reader,
          takesValues: work.takesValues, isContinued: true, hasGap: page.hasGap))
      return
    }
    let surplus = page.publications.count - work.limit
    if surplus > 0 {
      page.hasMore = true
      if isForward {
        page.publications.removeLast(surplus)
      } else {
        page.publications.removeFirst(surplus)
      }
    }
    answer(work, .success(page))
  }

  private func isWanted(_ publication: Publication, by filter: RoomReading.Filter) -> Bool {
    let reader: PersonID?
    switch filter {
    case .all: return true
    case .visible(let person): reader = person
    case .messages(let person):
      // Other publications in the room are not messages.
      guard publication.data?.value(of: "subject") != nil else { return false }
      reader = person
    }
    guard let reader, let author = publication.personID else { return true }
    return !people.separates(reader, from: author)
  }

  private func answer(_ work: RoomReading, _ outcome: StoreOutcome<RoomPage>) {
    switch work.reader {
    case .native(let id, let ref): send(outcome, of: work.room, ref: ref, to: id)
    case .request, .groupChat, .pusher: owner?.answer(work.reader, outcome, of: work.room)
    }
  }
}

extension RoomRange {
  /// Whether the direction of reading is towards newer publications.
  fileprivate var isForward: Bool {
    if case .since = self { true } else { false }
  }
}
