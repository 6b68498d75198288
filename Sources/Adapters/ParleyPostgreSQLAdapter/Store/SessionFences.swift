import ParleyGatewayPorts
import ParleyStoreRecords

/// Clients of a note that begin another session.
struct SessionFence {
  let id: DocumentID
  let clients: [String]
}

/// Sessions of clients, by which a change that is under way at another node is kept out.
///
/// They begin by one statement for all notes of a batch. Its locks, taken in the order of the notes'
/// numbers, end with it: an append that is under way is over by then, and one that comes later sees it.
struct SessionFences {
  let database: PostgresDatabase

  /// Sessions of clients that have changed nothing, which a note keeps at least, of those that began last.
  private static let idleSessionsMin = 1_000
  /// The number of such sessions that a note keeps at most.
  private static let idleSessionsMax = 100_000
  /// Seconds for which it keeps as many.
  private static let idleSeconds = 3_600

  /// Begins sessions that nothing else concerns, and replies to each fence.
  func fenced(_ fences: [SessionFence]) -> [StoreReply] {
    var attempt = 0
    while true {
      attempt += 1
      do throws(StoreError) {
        try database.connected()
      } catch {
        return fences.map { _ in .failed(error) }
      }
      do throws(PostgresFailure) {
        let begun = try database.link.run([Self.command(fences)])
        let sessions = Self.sessions(begun[0], fences)
        for (fence, sessions) in zip(fences, sessions) {
          guard let sessions, let drop = idleDrop(fence, sessions) else { continue }
          // Sessions that are not dropped now are dropped another time.
          _ = try? database.link.run([drop])
        }
        return sessions.map { $0.map { .sessions($0) } ?? .failed(.unknownDocument) }
      } catch {
        database.link.note(error)
        database.link.abandon()
        // A session too many is harmless.
        if error.isRace || error.isConnection, attempt < 3 { continue }
        guard error.storeError.isOfOneRequest, fences.count > 1 else {
          return fences.map { _ in .failed(error.storeError) }
        }
        let middle = fences.count / 2
        return fenced(Array(fences[..<middle])) + fenced(Array(fences[middle...]))
      }
    }
  }

  /// Begins sessions in a transaction that has locked the note's row.
  func fence(_ fence: SessionFence) throws(StoreError) -> [String: Int] {
    let begun = try database.queries([Self.command([fence])])
    guard let sessions = Self.sessions(begun[0], [fence])[0] else { throw .unknownDocument }
    if let drop = idleDrop(fence, sessions) { database.link.add(drop) }
    return sessions
  }

  private static func command(_ fences: [SessionFence]) -> PostgresCommand {
    PostgresCommand(
      """
      WITH asked AS (SELECT id, client FROM unnest($1, $2) AS a(id, client)),
      locked AS (SELECT number, id, revision, session_floor FROM parley.documents
        WHERE id = ANY ($3) ORDER BY number FOR UPDATE),
      begun AS (
        INSERT INTO parley.marks AS m (document, client, sequence, revision, digest, session, begun)
        SELECT DISTINCT l.number, a.client, 0::bigint, l.revision, 0::bigint, l.session_floor + 1,
          extract(epoch FROM now())::bigint
        FROM locked l JOIN asked a ON a.id = l.id ORDER BY 1, 2
        ON CONFLICT (document, client) DO UPDATE SET session = m.session + 1,
          begun = excluded.begun,
          revision = CASE WHEN m.sequence = 0 THEN excluded.revision ELSE m.revision END
        RETURNING document, client, session)
      SELECT l.id, b.client, b.session FROM locked l LEFT JOIN begun b ON b.document = l.number
      """,
      [
        fences.flatMap { fence in fence.clients.map { _ in fence.id } },
        fences.flatMap(\.clients), fences.map(\.id),
      ])
  }

  /// The sessions of each fence; `nil` for a note that is not there.
  private static func sessions(
    _ found: PostgresResult, _ fences: [SessionFence]
  ) -> [[String: Int]?] {
    var sessions: [DocumentID: [String: Int]] = [:]
    for row in found.rows({ $0 }) {
      let id: DocumentID = row.name(0)
      sessions[id, default: [:]].merge(
        row.isNull(1) ? [:] : [row.text(1): row.integer(2)]
      ) { $1 }
    }
    return fences.map { sessions[$0.id] }
  }

  /// A statement that drops the oldest sessions of clients that have changed nothing, once enough have begun:
  /// their ids may be made up. The note's floor rises to the newest of them, so that a change that a node has had
  /// under way since before such a session is still refused, however late it comes.
  ///
  /// The note's row is locked first, as by all who change marks.
  ///
  /// - Complexity: O(*n*) marks of the note, once in ``idleSessionsMin`` of them.
  private func idleDrop(_ fence: SessionFence, _ begun: [String: Int]) -> PostgresCommand? {
    let count = begun.values.count { $0 == 1 }
    guard count > 0 else { return nil }
    if database.idleSessions.count > 10_000 { database.idleSessions = [:] }
    database.idleSessions[fence.id, default: 0] += count
    guard database.idleSessions[fence.id] ?? 0 >= Self.idleSessionsMin else { return nil }
    database.idleSessions[fence.id] = nil
    return PostgresCommand(
      """
      WITH note AS (SELECT number FROM parley.documents WHERE id = $1 FOR UPDATE),
      idle AS (
        SELECT m.client, m.begun,
          row_number() OVER (ORDER BY m.begun DESC, m.revision DESC, m.client) AS place
        FROM note JOIN parley.marks m ON m.document = note.number WHERE m.sequence = 0),
      dropped AS (
        DELETE FROM parley.marks m USING note, idle
        WHERE m.document = note.number AND m.client = idle.client AND m.sequence = 0
          AND m.client <> ALL ($2) AND idle.place > $3
          AND (idle.place > $4 OR idle.begun < extract(epoch FROM now())::bigint - $5)
        RETURNING m.session)
      UPDATE parley.documents d
      SET session_floor = greatest(d.session_floor, (SELECT max(session) FROM dropped))
      FROM note WHERE d.number = note.number AND EXISTS (SELECT 1 FROM dropped)
      """,
      [
        fence.id, fence.clients, Self.idleSessionsMin, Self.idleSessionsMax, Self.idleSeconds,
      ])
  }
}
