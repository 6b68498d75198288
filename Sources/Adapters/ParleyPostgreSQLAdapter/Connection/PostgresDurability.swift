import ParleyStoreRecords

/// Checks of the durability of a database's commits.
enum PostgresDurability {
  /// Verifies that acknowledged commits are durable, and returns on how many machines: 1, or 2 for
  /// two or more.
  static func machines(
    _ connection: PostgresConnection, _ address: PostgresAddress, writes: Bool
  ) throws(PostgresOpenError) -> Int {
    guard connection.serverVersion >= 130_000 else {
      throw .unsupportedServer(
        address: address.description, version: connection.serverVersion)
    }
    let names = [
      "fsync", "full_page_writes", "synchronous_commit", "synchronous_standby_names",
      "transaction_read_only",
    ]
    let row: PostgresRow
    do throws(PostgresFailure) {
      let columns = names.map { "convert_to(current_setting('\($0)'), 'UTF8')" }
      let found = try connection.run([
        PostgresCommand("SELECT pg_backend_pid()::bigint, " + columns.joined(separator: ", "))
      ])
      guard let first = found.first?.first else { throw .lost("the server sent no result") }
      row = first
    } catch {
      throw PostgresSchema.openError(error, address)
    }
    guard row.integer(0) == connection.processID else {
      throw .pooled(address: address.description)
    }
    if writes {
      for (column, name) in names.prefix(3).enumerated() where row.text(Int32(column + 1)) == "off"
      {
        throw .unsafe(address: address.description, setting: name, value: "off")
      }
      guard row.text(5) == "off" else { throw .readOnly(address: address.description) }
    }
    return ["on", "remote_apply"].contains(row.text(3)) && !row.text(4).isEmpty ? 2 : 1
  }

  /// Returns a number that identifies the database's timeline. It changes when a standby is
  /// promoted or a backup is restored; 0 if the server does not report it.
  static func life(_ connection: PostgresConnection) -> Int {
    // The control file has a new timeline only after a checkpoint; the WAL position has it at once.
    let found = try? connection.run([
      PostgresCommand(
        """
        SELECT system_identifier, CASE WHEN pg_is_in_recovery() THEN 0::bigint ELSE
          ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint END
        FROM pg_control_system()
        """)
    ])
    guard let row = found?.first?.first else { return 0 }
    return row.integer(0) ^ row.integer(1)
  }
}
