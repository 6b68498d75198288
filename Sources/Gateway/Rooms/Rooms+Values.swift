import ParleyGatewayPorts
import SocketMessages

/// Values of rooms: the newest state beside the history.
///
/// A change of values is a publication, so this file only reads. The first page is read together with
/// the position at which a subscription begins. The client asks for further pages, so a slow client
/// holds nothing at the server. Each page has its own position: an operation that is published
/// afterwards counts for the names of a page if its offset exceeds the page's.
extension Rooms {
  func handle(
    _ values: ClientMessage.Values, ref: String, _ connection: Connection
  ) throws(MessageRefusal) {
    let room = RoomName(values.room)
    try checks.check(.read, "reading", in: room, connection)
    try checkPrefix(values.prefix)
    if let after = values.after { try checkPrefix(after.text) }
    var query = query(ValueNames(prefix: values.prefix))
    query.names = .prefix(values.prefix, after: values.after)
    readValues(
      ValueReading(room: room, query: query, reader: .native(connection.id, ref: ref)))
  }

  /// Throws if a prefix is longer than names are.
  func checkPrefix(_ prefix: String) throws(MessageRefusal) {
    guard prefix.utf8.count <= ValueName.bytesMax else {
      throw MessageRefusal(
        .tooLarge,
        "a name of a value has 1 to \(ValueName.bytesMax) bytes; this one has "
          + "\(prefix.utf8.count)")
    }
  }

  /// Returns the query for the first page of values.
  func query(_ names: ValueNames) -> ValueQuery {
    ValueQuery(.prefix(names.prefix, after: nil), bytesMax: settings.valuePageBytes)
  }

  /// Reads values for a client.
  func readValues(_ work: ValueReading) {
    store(.room(.values(work.room, work.query)), under: .token, then: .values(work))
  }

  /// Handles the store's reply with values.
  func readValues(_ work: ValueReading, _ outcome: StoreOutcome<RoomValuesPage>) {
    if case .success(let page) = outcome, !meet(page, work) { return }
    answer(work, outcome)
  }

  /// Sends a reader the values.
  func answer(_ work: ValueReading, _ outcome: StoreOutcome<RoomValuesPage>) {
    switch work.reader {
    case .request: owner?.answer(work, outcome)
    case .lagging(let id): caughtUp(id, in: work.room, outcome)
    case .native(let id, let ref):
      guard let connection = connections[id] else { return }
      switch outcome {
      case .success(let page):
        send(
          .values(
            .init(
              room: work.room.text, position: page.head, values: NamedValues(page),
              hasMore: page.hasMore)),
          ref: ref, to: connection)
      case .failure(let error): checks.sendUnavailable(error, ref: ref, to: connection)
      }
    }
  }
}
