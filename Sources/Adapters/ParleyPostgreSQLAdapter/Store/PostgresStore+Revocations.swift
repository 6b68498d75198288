public import ParleyGatewayPorts
import ParleyStoreRecords

/// Revocations that nodes exchange through the database.
extension PostgresStore {
  /// The maximum revocations returned by one call.
  private static let pageMax = 1_000

  /// See ``ServerStore``.
  public func exchange(
    _ revocations: [Revocation], after place: Int
  ) throws(StoreError) -> RevocationPage? {
    guard isShared else { return nil }
    // Ignore longer names: no token has one, and no index supports them.
    let revocations = revocations.filter { $0.row.name.utf8.count <= Revocation.nameBytesMax }
    let isShared = revocations.isEmpty || (try? add(revocations)) != nil
    // Read the revocations of other nodes even if adding these failed.
    let (rows, newest) = try database.reading { () throws(StoreError) in
      let newest = try database.first("SELECT coalesce(max(number), 0) FROM parley.revocations") {
        $0.integer(0)
      }
      let rows = try database.rows(
        """
        SELECT number, is_user, name, before FROM parley.revocations WHERE number > $1
        ORDER BY number LIMIT $2
        """, place, Self.pageMax
      ) { row in
        (
          number: row.integer(0),
          revocation: Revocation(kind: row.integer(1), row.text(2), row.integer(3))
        )
      }
      return (rows, newest ?? 0)
    }
    return RevocationPage(
      revocations: rows.map(\.revocation), place: rows.last?.number ?? place,
      hasMore: rows.count == Self.pageMax, newest: newest, life: database.link.life,
      isShared: isShared)
  }

  private func add(_ revocations: [Revocation]) throws(StoreError) {
    try database.transaction { () throws(StoreError) in
      // Lock the table, so that a visible number implies that all lower numbers are visible.
      database.change("LOCK TABLE parley.revocations IN EXCLUSIVE MODE")
      database.link.add(Revocation.insertion(of: revocations))
      // Retain the newest one: if the list lacks its end, nodes assume that it was lost.
      database.change(
        """
        DELETE FROM parley.revocations WHERE is_user = \(Revocation.timedKind) AND before < $1
          AND number < (SELECT max(number) FROM parley.revocations)
        """, database.context.upkeep.latestTime)
    }
  }
}

extension Revocation {
  /// Creates a revocation from the columns of its row.
  ///
  /// - Parameter kind: 1 for a user, ``timedKind`` for a token with an end, another number for any
  ///   other token. Earlier programs do not use ``timedKind``.
  init(kind: Int, _ name: String, _ before: Int) {
    self =
      switch kind {
      case 1: .user(name, before: Timestamp(before))
      case Self.timedKind: .timed(name, until: Timestamp(before))
      default: .token(name)
      }
  }

  fileprivate static let timedKind = 2

  /// Returns the statement that adds revocations that are not stored yet.
  static func insertion(of revocations: [Revocation]) -> PostgresCommand {
    PostgresCommand(
      """
      INSERT INTO parley.revocations (is_user, name, before)
      SELECT is_user, name, before FROM unnest($1, $2, $3) AS r(is_user, name, before)
      ON CONFLICT DO NOTHING
      """,
      [
        revocations.map(\.row.kind), revocations.map(\.row.name),
        revocations.map(\.row.before),
      ])
  }

  fileprivate var row: (kind: Int, name: String, before: Int) {
    switch self {
    case .user(let user, let before): (1, user, Int(before))
    case .token(let id): (0, id, 0)
    case .timed(let id, let end): (Self.timedKind, id, Int(end))
    }
  }
}
