package import ParleyGatewayPorts
import ParleyJSON

// Static, since values are changed and read often.
private let selectFirst =
  ValueRecords.select + " WHERE room = $1 AND name >= $2 ORDER BY name LIMIT $3"
private let selectNext =
  ValueRecords.select + " WHERE room = $1 AND name > $2 ORDER BY name LIMIT $3"

private let selectEnding = """
  SELECT r.name, v.name, v."offset", v.holder FROM room_values v JOIN rooms r ON r.number = v.room
  """
private let selectExpired =
  selectEnding + " WHERE v.expires <= $1 ORDER BY v.expires LIMIT $2"
private let selectHeld = selectEnding + " WHERE v.holder = $1 ORDER BY v.room, v.name LIMIT $2"
private let selectAllHeld =
  selectEnding + " WHERE v.holder > $1 ORDER BY v.holder, v.room, v.name LIMIT $2"
private let selectNextExpiry = """
  SELECT expires FROM room_values WHERE expires IS NOT NULL ORDER BY expires LIMIT 1
  """

/// Values of rooms: changing them, and reading with every record verified.
struct ValueRules<Store: RoomTable> {
  let store: Store

  init(store: Store) { self.store = store }

  // MARK: Changing

  /// Returns the outcome of a draft's change of values; `nil` if the draft changes none.
  ///
  /// - Complexity: O(*n*) names of the change, whatever else the room contains.
  func outcome(
    of draft: PublicationDraft, as publication: Publication, in row: RoomRow?
  ) throws(StoreError) -> Result<ChangedValues, ValueRefusal>? {
    guard let change = draft.change else { return nil }
    var current: [ValueName: RoomValue] = [:]
    if let row, row.values.names > 0 {
      for item in try store.values(of: row.number, named: change.names) {
        current[item.name] = item.value
      }
    }
    do throws(ValueRefusal) {
      return .success(
        try change.applied(
          to: current, row?.values ?? ValueTotals(),
          at: ValueOrigin(
            offset: publication.offset, time: publication.time, client: draft.client),
          limits: draft.limits))
    } catch {
      return .failure(error)
    }
  }

  /// Stores the values of changed names.
  func write(_ changed: ChangedValues, room: Int) throws(StoreError) {
    for (name, value) in changed.values {
      guard let value else {
        try store.change("DELETE FROM room_values WHERE room = $1 AND name = $2", room, name)
        continue
      }
      try store.change(
        """
        INSERT INTO room_values (room, name, "offset", value, lifetime, expires, holder, checksum)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT (room, name) DO UPDATE SET "offset" = excluded."offset",
          value = excluded.value, lifetime = excluded.lifetime, expires = excluded.expires,
          holder = excluded.holder, checksum = excluded.checksum
        """, room, name, value.offset, Blob(value.value.utf8), value.expiry?.lifetime,
        value.expiry?.time, value.holder,
        store.context.hasher.checksum(of: value, named: name, room: room))
    }
  }

  // MARK: Reading

  /// Returns a page of a room's values.
  ///
  /// - Complexity: O(*n*) values of the page; O(1) if the reader has it.
  func page(of row: RoomRow, _ query: ValueQuery) throws(StoreError) -> RoomValuesPage {
    // Values change by publications alone.
    if query.known == row.position { return .known(at: row.position) }
    guard row.values.names > 0 else {
      return RoomValuesPage(head: row.position, values: [], hasMore: false)
    }
    let prefix: String
    let after: ValueName?
    switch query.names {
    case .one(let name):
      return .cut(
        try store.values(of: row.number, named: [name]), to: query, at: row.position)
    case .prefix(let text, let name): (prefix, after) = (text, name)
    }
    var place: ValueName? = after.flatMap { $0 < ValueName(prefix) ? nil : $0 }
    var found: [NamedValue] = []
    var bytes = 0
    var isDone = false
    // The first rows show the size of the others, so that few rows beyond the page are read.
    var limit = min(64, query.countMax + 1)
    while !isDone, found.count <= query.countMax, bytes <= query.bytesMax {
      let some = try rows(of: row.number, from: ValueName(prefix), after: place, limit: limit)
      for item in some {
        guard item.name.text.utf8.starts(with: prefix.utf8) else {
          isDone = true
          break
        }
        found.append(item)
        bytes += item.name.text.utf8.count + item.value.value.utf8.count
      }
      if some.count < limit { isDone = true }
      place = found.last?.name ?? place
      let size = max(bytes / max(found.count, 1), 1)
      limit = min(max((query.bytesMax - bytes) / size, 1), query.countMax - found.count) + 1
    }
    return .cut(found, to: query, at: row.position)
  }

  private func rows(
    of room: Int, from first: ValueName, after place: ValueName?, limit: Int
  ) throws(StoreError) -> [NamedValue] {
    try store.rows(place == nil ? selectFirst : selectNext, room, place ?? first, limit) {
      row throws(StoreError) in try ValueRecords.read(row, room: room, of: store)
    }
  }

  // MARK: Ending

  /// Finds values that are to be deleted.
  func ending(_ which: EndingValues, limit: Int) throws(StoreError) -> RoomReply {
    let limit = max(limit, 0)
    let found: [EndingValue]
    switch which {
    case .expired(let now):
      found = try store.rows(selectExpired, now, limit) { Self.ending($0) }
    case .held(let client):
      found = try store.rows(selectHeld, client, limit) { Self.ending($0) }
    case .heldByAny(let place):
      found = try store.rows(selectAllHeld, place?.holder ?? "", limit) { Self.ending($0) }
    }
    let next = try store.first(selectNextExpiry) { Timestamp($0.integer(0)) }
    return .ending(found, next: next)
  }

  private static func ending(_ row: Store.Row) -> EndingValue {
    EndingValue(
      room: row.name(0), name: row.name(1), offset: row.integer(2), holder: row.optionalText(3))
  }

  /// Verifies a room's values and their totals.
  func check(_ row: RoomRow, _ findings: inout StoreFindings) throws(StoreError) {
    var totals = ValueTotals()
    var newest = 0
    var place: ValueName?
    while true {
      let some = try rows(of: row.number, from: "", after: place, limit: 500)
      guard let last = some.last else { break }
      place = last.name
      for item in some {
        totals.names += 1
        totals.bytes += item.name.text.utf8.count + item.value.value.utf8.count
        newest = max(newest, item.value.offset)
      }
    }
    if newest > row.head {
      findings.add(nil, "a room has values beyond its head; \(damageAdvice)")
    }
    if totals != row.values {
      findings.add(nil, "a room has other values than its record counts; \(damageAdvice)")
    }
  }
}

/// Reading rows of values.
package enum ValueRecords {
  package static let select =
    #"SELECT name, "offset", value, lifetime, expires, holder, checksum FROM room_values"#

  package static func read<Store: SQLConnection>(
    _ row: Store.Row, room: Int, of store: Store
  ) throws(StoreError) -> NamedValue {
    var value = RoomValue(
      value: JSONValue(trusted: row.bytes(2)), offset: row.integer(1), holder: row.optionalText(5))
    if !row.isNull(3) {
      value.expiry = .init(
        time: Timestamp(row.integer(4)), lifetime: Timestamp(row.integer(3)))
    }
    let name: ValueName = row.name(0)
    guard
      row.withBytes(6, { RecordChecksum($0) })
        == store.context.hasher.checksum(of: value, named: name, room: room)
    else { throw .damaged("a room's value differs from its checksum; \(damageAdvice)") }
    return NamedValue(name, value)
  }
}
