import ParleyGatewayPorts
import ParleyStoreRecords

/// The rows that a batch changes, which are locked first and in one order. Names are compared
/// exactly, byte by byte.
struct RowLocks {
  var documents: Set<DocumentID> = []
  var rooms: Set<RoomName> = []
  /// Rooms whose rows are inserted if they are missing.
  var newRooms: Set<RoomName> = []
  /// Users whose sessions change.
  var users: Set<ExactName> = []

  mutating func add(_ request: StoreRequest) {
    let traits = request.traits
    if traits.locksNote, let note = traits.note { documents.insert(note) }
    switch traits.row {
    case .room(let name): rooms.insert(name)
    case .newRoom(let name): newRooms.insert(name)
    case .user(let name): users.insert(ExactName(name))
    case nil: break
    }
  }
}

extension PostgresDatabase {
  /// Locks the rows that a batch changes, each kind in one order, which prevents deadlocks.
  func lock(_ locks: RowLocks) throws(StoreError) {
    let names = locks.rooms.union(locks.newRooms)
    var commands: [PostgresCommand] = []
    if !locks.newRooms.isEmpty {
      // New rows have no numbers yet, so they are inserted in the order of names.
      commands.append(
        PostgresCommand(
          """
          INSERT INTO parley.rooms (name, epoch, head, time, checksum)
          SELECT n.name, e.epoch, 0, 0, '' FROM unnest($1) AS n(name), parley.room_epoch e
          WHERE NOT EXISTS (SELECT 1 FROM parley.rooms r WHERE r.name = n.name)
          ORDER BY n.name ON CONFLICT (name) DO NOTHING RETURNING name
          """, [locks.newRooms.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }]))
    }
    if !locks.documents.isEmpty {
      commands.append(
        PostgresCommand(
          Self.selectDocuments + " WHERE id = ANY ($1) ORDER BY number FOR UPDATE",
          [locks.documents.map(\.text)]))
    }
    if !locks.users.isEmpty {
      commands.append(
        PostgresCommand(
          """
          SELECT 1::bigint FROM parley.sessions WHERE "user" = ANY ($1) ORDER BY id FOR UPDATE
          """, [locks.users.map(\.text)]))
    }
    if !names.isEmpty {
      commands.append(
        PostgresCommand(
          RoomRecords<PostgresDatabase>.select
            + " WHERE name = ANY ($1) ORDER BY number FOR UPDATE",
          [names.map(\.text)]))
    }
    guard !commands.isEmpty else { return }
    var results = try queries(commands)[...]
    if !locks.newRooms.isEmpty {
      let added = results.popFirst()?.rows { $0.name(0) as RoomName }
      known.unneededRooms = Set(added ?? [])
    }
    if !locks.documents.isEmpty {
      for id in locks.documents { known.documents[id] = .some(nil) }
      for row in try results.popFirst()?.rows(readRow) ?? [] {
        known.documents[row.id] = row
      }
    }
    if !locks.users.isEmpty { results.removeFirst() }
    for name in names { known.rooms[name] = .some(nil) }
    for row in try results.popFirst()?.rows(records.read) ?? [] {
      known.rooms[row.name] = row
    }
  }
}
