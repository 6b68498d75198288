public import ParleyGatewayPorts
import ParleyStoreRecords

/// Revocations that nodes tell each other through the database.
extension PostgresStore {
  /// Revocations in one call.
  private static let pageMax = 1_000

  /// See ``ServerStore``.
  public func exchange(
    _ revocations: [Revocation], after place: Int
  ) throws(StoreError) -> RevocationPage? {
    guard isShared else { return nil }
    // No token has a longer name, and no index takes any.
    let revocations = revocations.filter { $0.row.name.utf8.count <= Revocation.nameBytesMax }
    let isShared = revocations.isEmpty || (try? add(revocations)) != nil
    // Others' revocations are read even if adding these failed.
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
      // One at a time, so that a number that is seen has all before it.
      database.change("LOCK TABLE parley.revocations IN EXCLUSIVE MODE")
      database.link.add(Revocation.insertion(of: revocations))
      // Not the newest: a list that lacks its end counts as one that was lost.
      database.change(
        """
        DELETE FROM parley.revocations WHERE is_user = \(Revocation.timedKind) AND before < $1
          AND number < (SELECT max(number) FROM parley.revocations)
        """, database.context.upkeep.latestTime)
    }
  }
}

extension Revocation {
  /// Reads a revocation from the columns of its row.
  ///
  /// - Parameter kind: 1 for a user, ``timedKind`` for tokens that end; former programs know 1 and others.
  init(kind: Int, _ name: String, _ before: Int) {
    self =
      switch kind {
      case 1: .user(name, before: Timestamp(before))
      case Self.timedKind: .timed(name, until: Timestamp(before))
      default: .token(name)
      }
  }

  fileprivate static let timedKind = 2

  /// The statement that adds revocations, each once.
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
