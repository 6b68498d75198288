import ParleyGatewayPorts
import ParleyStoreSQLite
import Testing

@Suite("Disk space that files leave free")
struct DiskReserveTests {
  @Test("a file counts with its own size", arguments: [99, 100, 101])
  func ownSize(byteCount: Int) throws {
    let folder = try TemporaryFolder(isInMemory: true)
    let store = try SQLiteStore(path: folder.file())
    store.database.measureFreeBytes = { _ in 1_000 }
    store.create("n")
    let draft = FileDraft(name: "a", bytes: [UInt8](repeating: 7, count: byteCount), time: 1)
    let limits = FileLimits(noteBytesMax: .max, diskReserveBytes: 900)
    guard case .files(let reply) = store.one(.files(.put(id: "n", draft, limits))) else {
      throw StoreError.damaged("an unexpected reply")
    }
    if byteCount <= 100 {
      guard case .kept(_, isNew: true) = reply else { throw StoreError.damaged("\(reply)") }
    } else {
      #expect(reply == .diskFull(byteCount: 1_000))
    }
  }
}
