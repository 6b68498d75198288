import ParleyGatewayPorts
import ParleyPostgreSQLAdapter
import Testing

@Suite("Opening a PostgreSQL database")
struct OpeningTests {
  private func server() throws -> PostgresServer { try PostgresServer.shared.get() }

  private func address(_ text: String) throws -> PostgresAddress {
    try #require(PostgresAddress(text))
  }

  private func impatient() -> StoreTimeouts {
    var timeouts = StoreTimeouts()
    timeouts.opening = 0
    return timeouts
  }

  private func error(
    _ text: String, _ sharing: PostgresStore.Sharing = .alone
  ) throws -> PostgresOpenError? {
    let address = try address(text)
    do throws(PostgresOpenError) {
      _ = try PostgresStore(address, sharing: sharing, timeouts: impatient())
      return nil
    } catch {
      return error
    }
  }

  @Test("tables are created once, and reused")
  func again() throws {
    let database = try server().newDatabase()
    #expect(try !PostgresStore.exists(at: address(database)))
    #expect(try error(database, .reading) == .noStore(address: address(database).description))
    // Patiently: the database may take a moment to see that the first has gone.
    for _ in 0..<2 { _ = try PostgresStore(address(database)) }
    #expect(try PostgresStore.exists(at: address(database)))
  }

  @Test("an exclusive store cannot be opened twice; a shared one can")
  func twoClusters() throws {
    let database = try server().newDatabase()
    let shown = try address(database).description
    do {
      let first = try PostgresStore(address(database))
      #expect(try error(database) == .inUse(address: shown))
      #expect(try error(database, .shared) == .inUse(address: shown))
      #expect(try error(database, .reading) == nil)
      #expect(!first.isShared)
    }
    let node = try PostgresStore(address(database), sharing: .shared)
    #expect(try error(database, .shared) == nil)
    #expect(try error(database) == .inUse(address: shown))
    #expect(node.isShared)
  }

  @Test("tables of a newer program are left alone, unless they allow this one")
  func newer() throws {
    let database = try server().newDatabase()
    #expect(try error(database) == nil)
    let known = try server().execute("SELECT version FROM parley.format", in: database)
    let version = try #require(known.first.flatMap { Int($0) })
    try server().execute("UPDATE parley.format SET version = version + 1", in: database)
    #expect(try error(database) == nil)
    try server().execute("UPDATE parley.format SET oldest = version", in: database)
    let expected = try PostgresOpenError.newer(
      address: address(database).description, version: version + 1, supported: version)
    #expect(try error(database) == expected)
    #expect(expected.description.contains("use a newer Parley"))
    // No table was rebuilt.
    #expect(
      try server().execute("SELECT version FROM parley.format", in: database) == ["\(version + 1)"])
    try server().execute("UPDATE parley.format SET version = 0, oldest = 0", in: database)
    #expect(
      try error(database, .reading)
        == .unreleased(address: address(database).description))
  }

  @Test("a database that may only be read is refused for writing")
  func readOnly() throws {
    let database = try server().newDatabase()
    #expect(try error(database) == nil)
    let name = try #require(database.dropFirst(12).split(separator: "?").first)
    try server().execute("ALTER DATABASE \(name) SET default_transaction_read_only = on")
    let shown = try address(database).description
    #expect(try error(database) == .readOnly(address: shown))
    #expect(try error(database, .reading) == nil)
  }

  @Test("a database without durable commits is refused")
  func unsafe() throws {
    let database = try server().newDatabase()
    let name = try #require(database.dropFirst(12).split(separator: "?").first)
    try server().execute("ALTER DATABASE \(name) SET synchronous_commit = off")
    let refused = try error(database)
    #expect(
      refused
        == .unsafe(
          address: try address(database).description, setting: "synchronous_commit", value: "off"))
    #expect(refused?.description.contains("set synchronous_commit = on") == true)
  }

  @Test("a database user without the right to create tables gets the name of the right")
  func permission() throws {
    try server().execute("CREATE ROLE guest LOGIN")
    let database = try server().newDatabase(user: "guest")
    guard case .failed(_, let reason) = try error(database) else {
      Issue.record("it was opened")
      return
    }
    #expect(reason.contains("grant CREATE"))
  }

  @Test("no message contains the password")
  func password() throws {
    let text = "postgres://ann:hidden-word@/nowhere?host=/nonexistent&port=1"
    let address = try address(text)
    #expect(address.description == "postgres://ann@/nonexistent:1/nowhere")
    #expect(!"\(address)".contains("hidden"))
    #expect(!String(reflecting: address).contains("hidden"))
    var dumped = ""
    dump(address, to: &dumped)
    #expect(!dumped.contains("hidden"))
    let refused = try #require(try error(text))
    #expect(!"\(refused)".contains("hidden") && !String(reflecting: refused).contains("hidden"))
    for wrong in ["postgres://ann:hidden@[::/x", "mysql://h/x", "", "postgres://h/x?no=option"] {
      #expect(PostgresAddress(wrong) == nil, "\(wrong)")
    }
  }

  @Test("durability is on one machine, or on two with a synchronous standby")
  func promise() throws {
    let database = try server().newDatabase()
    #expect(try PostgresStore.state(of: address(database)).promise == "durable on one machine")
    #expect(try PostgresStore(address(database)).state.machines == 1)
  }
}
