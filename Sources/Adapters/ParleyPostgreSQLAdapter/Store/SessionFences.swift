import ParleyGatewayPorts
import ParleyStoreRecords

/// Clients of a note that begin a new session.
struct SessionFence {
  let id: DocumentID
  let clients: [String]
}

/// Sessions of clients. A new session fences out changes that another node is still appending.
///
/// A single statement begins the sessions for all notes of a batch. It locks the notes in the order of
/// their numbers until it ends: a running append ends before it, and a later append sees the new
/// session.
struct SessionFences {
  let database: PostgresDatabase

  /// The minimum newest sessions without changes that a note retains.
  private static let idleSessionsMin = 1_000
  /// The maximum sessions without changes that a note retains.
  private static let idleSessionsMax = 100_000
  /// The seconds for which more sessions than the minimum are retained.
  private static let idleSeconds = 3_600

  /// Begins sessions of notes that no other request concerns. Returns a reply for each fence.
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
          // If this fails, the sessions are deleted later.
          _ = try? database.link.run([drop])
        }
        return sessions.map { $0.map { .sessions($0) } ?? .failed(.unknownDocument) }
      } catch {
        database.link.note(error)
        database.link.abandon()
        // Retrying may begin one session too many, which is harmless.
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

  /// Returns the sessions of each fence; `nil` for a note that does not exist.
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

  /// Returns a statement that deletes the oldest sessions of clients without changes, after enough
  /// have begun: anyone can invent client ids. The note's floor rises to the newest deleted
  /// session, so that a change which another node began to append before that session is still
  /// rejected.
  ///
  /// The note's row is locked first, as for every change of marks.
  ///
  /// - Complexity: O(*n*) marks of the note, once per ``idleSessionsMin`` new sessions.
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
