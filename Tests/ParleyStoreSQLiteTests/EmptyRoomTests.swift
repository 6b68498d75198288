import ParleyGatewayPorts
import ParleyJSON
import ParleyPortConformance
import ParleyStoreRecords
import ParleyStoreSQLite
import Testing

@Suite("Empty rooms")
struct EmptyRoomTests {
  private let folder: TemporaryFolder
  private static let none = RoomRetention(publicationsMax: 0, ageMax: 1_000)

  init() throws { folder = try TemporaryFolder(isInMemory: true) }

  private func publish(
    _ room: RoomName, _ store: SQLiteStore, at time: Timestamp = 1_000, key: String? = nil,
    retention: RoomRetention = none
  ) -> RoomPosition? {
    let draft = PublicationDraft(key: key, time: time, data: JSONValue(trusted: Array("1".utf8)))
    guard
      case .room(.published(let position, _, _)) = store.one(
        .room(.publish(room, draft, retention: retention, keyAge: 1_000)))
    else { return nil }
    return position
  }

  private func recover(_ room: RoomName, _ store: SQLiteStore, from position: RoomPosition?)
    -> RoomRecovery?
  {
    guard
      case .room(.recovery(let recovery)) = store.one(
        .room(
          .recover(
            room, from: position, limit: 9, bytesMax: 9_999, retention: .standard, now: 2_000)))
    else { return nil }
    return recovery
  }

  @Test("are removed after a while, and never reuse a position")
  func removal() throws {
    let store = try SQLiteStore(path: folder.file())
    var positions: [RoomPosition] = []
    for _ in 0..<5 {
      for _ in 0..<3 { positions.append(try #require(publish("r", store))) }
      #expect(recover("r", store, from: positions.last)?.missed == [])
      #expect(try store.removeEmptyRooms(idleSince: 1_000) == 0, "not old enough")
      #expect(recover("r", store, from: positions.last)?.missed == [])
      #expect(try store.removeEmptyRooms(idleSince: 1_001) == 1)
      #expect(try store.removeEmptyRooms(idleSince: 1_001) == 0)
      for position in positions {
        #expect(recover("r", store, from: position)?.missed == nil, "of another history")
      }
    }
    #expect(Set(positions).count == positions.count)
    let other = try SecondConnection(folder.file())
    #expect(try other.integer("SELECT count(*) FROM rooms") == 0)
    #expect(store.check().problems == [])
  }

  @Test("a refused request leaves no record of its room", arguments: RefusedRoomRequests.all)
  func refused(name: String, request: StoreRequest) throws {
    let store = try SQLiteStore(path: folder.file())
    let other = try SecondConnection(folder.file())
    _ = store.perform([request])
    #expect(try other.integer("SELECT count(*) FROM rooms") == 0, "alone")
    #expect(publish("r", store) != nil)
    _ = store.perform([request, .create(id: "n", epoch: "e", title: "", time: 1)])
    #expect(try other.integer("SELECT count(*) FROM rooms") == 1, "in a batch")
  }

  @Test("a room with content is not removed")
  func kept() throws {
    let store = try SQLiteStore(path: folder.file())
    let positions: [RoomName: RoomPosition?] = [
      "published": publish("published", store, retention: .standard),
      "keyed": publish("keyed", store, key: "k"), "joined": publish("joined", store),
      "young": publish("young", store, at: 5_000), "empty": publish("empty", store),
    ]
    _ = store.one(.people(.member("joined", "ann", isMember: true)))
    #expect(try store.removeEmptyRooms(idleSince: 4_000) == 1)
    for (room, position) in positions where room != "empty" {
      #expect(recover(room, store, from: position)?.missed == [], "\(room)")
      #expect(publish(room, store, at: 6_000)?.offset == 2, "\(room)")
    }
    #expect(publish("empty", store)?.offset == 1)
    _ = store.one(.people(.member("joined", "ann", isMember: false)))
    #expect(try store.removeEmptyRooms(idleSince: 7_000) == 4)
  }
}
