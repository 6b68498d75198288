import ParleyCryptoOpenSSL
import Glibc
package import ParleyGatewayPorts

/// The revocations in a file of the data folder, to which `parley revoke` and the server append.
///
/// Each line is a revocation: `user 1763712000000 ada` revokes all tokens issued to Ada until this
/// time, `token 5f3a` one token, `until 1763715600000 s.5f3a` the tokens of a session or a link.
/// Removing a line has no effect before the next start, since revocations remain in memory.
///
/// Reading and writing block the calling thread until the disk responds and other processes unlock
/// the file: loops use it through ``SharedRevocations``.
package final class RevocationFile {
  /// A counter that increases when revocations are added.
  package private(set) var generation = 0

  private let path: String
  private let log: (any LogSink)?
  /// Revoked tokens.
  private(set) var revoked = RevokedTokens()
  private var watch: FileWatch
  private var lineCount = 0
  /// The time of the next removal of expired revocations.
  private var forgetsAt: Timestamp = 0
  private static let forgettingMilliseconds: Timestamp = 600_000
  /// New revocations since ``takeNewRevocations()``, except those from other nodes.
  private var news: [Revocation] = []

  /// Reads the file, if it exists.
  package init(path: String, log: (any LogSink)? = nil) throws(FileError) {
    self.path = path
    self.log = log
    watch = FileWatch(path: path)
    if Files.isFile(path) { try read() }
  }

  /// All revocations, in no particular order.
  package var all: [Revocation] { revoked.all }

  /// Reads the lines that other processes have appended.
  ///
  /// - Returns: Whether expired revocations were removed.
  @discardableResult
  package func refresh(now: Timestamp) -> Bool {
    let forgets = now >= forgetsAt || now < forgetsAt - Self.forgettingMilliseconds
    if forgets {
      forgetsAt = now + Self.forgettingMilliseconds
      revoked.forget(endedBy: now)
    }
    guard watch.hasChanged(now: now), Files.isFile(path) else { return forgets }
    do throws(FileError) {
      try read()
    } catch {
      log?.write(.error, "revocations not read again", [("error", "\(error)")])
    }
    return forgets
  }

  /// Whether the identity's token was revoked.
  package func isRevoked(_ identity: Identity) -> Bool { revoked.isRevoked(identity) }

  /// Writes and syncs revocations, all or none, then applies them.
  package func add(_ revocations: [Revocation]) throws(RevocationError) {
    guard revocations.allSatisfy({ revoked.hasRoom(for: $0) }) else { throw .tooMany }
    guard Self.append(revocations, to: path) else { throw .unwritable }
    lineCount += revocations.count
    let news = revocations.filter { revoked.insert($0) }
    if !news.isEmpty {
      generation += 1
      self.news += news
    }
    if lineCount > 2 * revoked.count + 1_000 { compact() }
  }

  /// Removes and returns the new revocations since the last call, added by this or another process.
  package func takeNewRevocations() -> [Revocation] {
    defer { news = [] }
    return news
  }

  /// Applies and writes revocations of other nodes. They apply even if they cannot be written.
  package func takeOver(_ revocations: [Revocation]) {
    let news = revocations.filter { revoked.hasRoom(for: $0) && revoked.insert($0) }
    guard !news.isEmpty else { return }
    generation += 1
    if Self.append(news, to: path) { lineCount += news.count }
  }

  private func read() throws(FileError) {
    let bytes = try Files.bytes(at: path)
    var hasNewRevocations = false
    var problems = 0
    let now = SystemClock().now
    lineCount = 0
    for line in bytes.split(separator: UInt8(ascii: "\n")) where line.first != UInt8(ascii: "#") {
      lineCount += 1
      guard let revocation = Self.revocation(line) else {
        problems += 1
        continue
      }
      if case .timed(_, let end) = revocation, end <= now { continue }
      if revoked.insert(revocation) {
        hasNewRevocations = true
        news.append(revocation)
      }
    }
    if hasNewRevocations { generation += 1 }
    if problems > 0 {
      log?.write(
        .error, "lines of the revocations not understood",
        [("file", path), ("lines", "\(problems)")])
    }
  }

  /// Rewrites the file without superfluous lines.
  private func compact() {
    // No process can append while the file is locked, so this read finds all revocations.
    guard let file = try? LockedFile(path: path) else { return }
    guard (try? read()) != nil else { return }
    let text = revoked.all.map { Self.line($0) + "\n" }.joined()
    let new = path + ".new"
    unlink(new)
    guard let whole = try? LockedFile(path: new), whole.append(Array(text.utf8)),
      rename(new, path) == 0
    else { return }
    file.syncFolder()
    lineCount = revoked.count
  }

  // MARK: Lines

  /// Appends a revocation; a running server reads it from the file.
  ///
  /// - Returns: Whether the revocation is on disk.
  package static func append(_ revocation: Revocation, to path: String) -> Bool {
    append([revocation], to: path)
  }

  /// Appends revocations, all or none; returns whether they are on disk.
  static func append(_ revocations: [Revocation], to path: String) -> Bool {
    guard let file = try? LockedFile(path: path) else { return false }
    // The last line may lack its newline, after manual editing or on a full disk.
    let start = file.endsInLine ? "" : "\n"
    return file.append(Array((start + revocations.map { line($0) + "\n" }.joined()).utf8))
  }

  private static func line(_ revocation: Revocation) -> String {
    switch revocation {
    case .user(let user, let before): "user \(before) \(LineText.escaped(user))"
    case .token(let id): "token \(LineText.escaped(id))"
    case .timed(let id, let end): "until \(end) \(LineText.escaped(id))"
    }
  }

  private static func revocation(_ line: ArraySlice<UInt8>) -> Revocation? {
    // Split by bytes: a space followed by a combining mark is a single `Character`.
    let words = line.split(separator: UInt8(ascii: " ")).map {
      Substring(decoding: $0, as: UTF8.self)
    }
    switch words.first {
    case "user" where words.count == 3:
      guard let before = Timestamp(words[1]), let user = LineText.unescaped(words[2]) else {
        return nil
      }
      return .user(user, before: before)
    case "until" where words.count == 3:
      guard let end = Timestamp(words[1]), let id = LineText.unescaped(words[2]) else {
        return nil
      }
      return .timed(id, until: end)
    case "token" where words.count == 2: return LineText.unescaped(words[1]).map(Revocation.token)
    default: return nil
    }
  }
}
