#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Requests about notes, which need not be open: from creation to deletion.
///
///     let note = try await parley.notes.create("Shopping")
///     let link = try await parley.notes.share(note.id, access: .write)
///
/// They use HTTP and the client's token function, and work while the connection is stopped. Each ends
/// within the client's timeout, and throws a ``RequestError``; `unknownNote` if no note has the id.
public struct NoteRequests: Sendable {
  let sender: RequestSender

  // MARK: Making and finding

  /// Creates a note.
  ///
  /// - Parameters:
  ///   - title: The title.
  ///   - id: An id of your own, where the server allows it. A note that this client has created
  ///     under the id already is returned.
  ///   - folder: The folder, such as `team/minutes`.
  public func create(
    _ title: String, id: String? = nil, folder: String? = nil
  ) async throws(RequestError) -> NoteInfo {
    let body = Body(title: title, folder: folder)
    if let id { return try await sender.value(make("PUT", note(id), body)) }
    return try await sender.value(make("POST", "/api/notes", body))
  }

  /// Returns a note.
  public func info(_ id: String) async throws(RequestError) -> NoteInfo {
    try await sender.value(make("GET", note(id)))
  }

  /// Returns a page of the notes that this person may read.
  ///
  /// - Parameters:
  ///   - folder: Only the notes of this folder; `""` for those in none.
  ///   - tag: Only the notes with this tag; their list has one page.
  ///   - after: The former page's ``NotePage/next``.
  ///   - limit: Maximum notes, up to 1,000.
  public func list(
    folder: String? = nil, tag: String? = nil, after: String? = nil, limit: Int = 100
  ) async throws(RequestError) -> NotePage {
    let query: [(String, String?)] = [
      ("folder", folder), ("tag", tag), ("after", after), ("limit", "\(limit)"),
    ]
    return try await sender.value(make("GET", url("/api/notes", query)))
  }

  /// Returns the notes with all of the words in title or text, the best first.
  public func search(_ words: String, limit: Int = 20) async throws(RequestError) -> [FoundNote] {
    let path = url("/api/search", [("q", words), ("limit", "\(limit)")])
    let found: Listed<FoundNote> = try await sender.value(make("GET", path))
    return found.notes ?? []
  }

  /// Returns the folders with notes that this person may read: up to 1,000.
  public func folders() async throws(RequestError) -> [NoteFolder] {
    let found: Listed<NoteFolder> = try await sender.value(make("GET", "/api/folders"))
    return found.folders ?? []
  }

  // MARK: Changing and deleting

  /// Gives a note another title.
  @discardableResult
  public func rename(_ id: String, to title: String) async throws(RequestError) -> NoteInfo {
    try await sender.value(make("PATCH", note(id), Body(title: title)))
  }

  /// Moves a note to a folder; `""` for none.
  @discardableResult
  public func move(_ id: String, to folder: String) async throws(RequestError) -> NoteInfo {
    try await sender.value(make("PATCH", note(id), Body(folder: folder)))
  }

  /// Deletes a note. It can be restored for a while.
  public func delete(_ id: String) async throws(RequestError) {
    try await sender.answer(to: make("DELETE", note(id)))
  }

  /// Returns a page of the deleted notes that this person may restore.
  public func deleted(
    after: String? = nil, limit: Int = 100
  ) async throws(RequestError) -> DeletedPage {
    let query: [(String, String?)] = [("after", after), ("limit", "\(limit)")]
    return try await sender.value(make("GET", url("/api/deleted", query)))
  }

  /// Restores a deleted note, with its history.
  @discardableResult
  public func restore(_ id: String) async throws(RequestError) -> NoteInfo {
    try await sender.value(make("POST", "/api/deleted/\(encoded(id))/restore"))
  }

  /// Removes a deleted note for good, with its history.
  public func purge(_ id: String) async throws(RequestError) {
    try await sender.answer(to: make("DELETE", "/api/deleted/\(encoded(id))"))
  }

  // MARK: Sharing

  /// Makes a link that opens a note for every holder.
  ///
  /// - Parameters:
  ///   - access: The rights of its holders.
  ///   - time: The time after which it ends.
  public func share(
    _ id: String, access: NoteLink.Access = .read, for time: Duration = .seconds(604_800)
  ) async throws(RequestError) -> NoteLink {
    let body = Body(access: access.rawValue, expiresIn: time.components.seconds)
    return try await sender.value(make("POST", note(id, "share"), body))
  }

  /// Returns a note's links, the newest first.
  public func links(of id: String) async throws(RequestError) -> [NoteLink] {
    let found: Listed<NoteLink> = try await sender.value(make("GET", note(id, "share")))
    return found.links ?? []
  }

  /// Ends a link of a note; without a link all of them.
  public func unshare(_ id: String, link: NoteLink.ID? = nil) async throws(RequestError) {
    let path = note(id, "share") + (link.map { "/\(encoded($0))" } ?? "")
    try await sender.answer(to: make("DELETE", path))
  }

  // MARK: The history

  /// Returns a note's text: the newest, or that of a revision.
  public func text(of id: String, at revision: Int64? = nil) async throws(RequestError) -> NoteText
  {
    let query: [(String, String?)] = [("revision", revision.map { "\($0)" })]
    return try await sender.value(make("GET", url(note(id, "text"), query)))
  }

  /// Inserts a text at the end of a note, without opening it. Returns the note's new revision.
  ///
  /// - Complexity: The note's text is fetched.
  @discardableResult
  public func append(_ text: String, to id: String) async throws(RequestError) -> Int64 {
    let former = try await self.text(of: id)
    let length = former.text.unicodeScalars.count
    let operation = (length > 0 ? [Component.retain(length)] : []) + [.insert(text)]
    let body = Body(revision: former.revision, operation: operation)
    let answer: Revised = try await sender.value(make("POST", note(id, "changes"), body))
    return answer.revision
  }

  /// Returns a page of a note's history, the newest session first.
  ///
  /// - Parameter before: The former page's ``NoteHistory/before``.
  public func history(
    of id: String, before: Int64? = nil, limit: Int = 100
  ) async throws(RequestError) -> NoteHistory {
    let query: [(String, String?)] = [("before", before.map { "\($0)" }), ("limit", "\(limit)")]
    return try await sender.value(make("GET", url(note(id, "sessions"), query)))
  }

  /// Returns the words that were changed between two revisions, in the order of the text.
  public func changes(
    in id: String, from older: Int64, to newer: Int64
  ) async throws(RequestError) -> [NoteDifference] {
    let path = url(note(id, "diff"), [("from", "\(older)"), ("to", "\(newer)")])
    let found: Listed<NoteDifference> = try await sender.value(make("GET", path))
    return found.parts ?? []
  }

  /// Makes the text of a revision the newest one, by an ordinary change. Returns its revision.
  @discardableResult
  public func restore(_ id: String, to revision: Int64) async throws(RequestError) -> Int64 {
    let body = Body(revision: revision)
    let answer: Revised = try await sender.value(make("POST", note(id, "restore"), body))
    return answer.revision
  }

  /// Returns a note's versions: its named revisions.
  public func versions(of id: String) async throws(RequestError) -> [NoteVersion] {
    let found: Listed<NoteVersion> = try await sender.value(make("GET", note(id, "versions")))
    return found.versions ?? []
  }

  /// Names a revision of a note.
  @discardableResult
  public func addVersion(
    _ name: String, of id: String, at revision: Int64
  ) async throws(RequestError) -> NoteVersion {
    let body = Body(name: name, revision: revision)
    return try await sender.value(make("POST", note(id, "versions"), body))
  }

  /// Removes the name of a revision.
  public func removeVersion(of id: String, at revision: Int64) async throws(RequestError) {
    try await sender.answer(to: make("DELETE", note(id, "versions/\(revision)")))
  }

  // MARK: Comments

  /// Returns a note's comments, the oldest first.
  public func comments(on id: String) async throws(RequestError) -> [NoteComment] {
    let found: Listed<NoteComment> = try await sender.value(make("GET", note(id, "comments")))
    return found.comments ?? []
  }

  /// Comments on a range of a note.
  ///
  /// - Parameters:
  ///   - range: The range, in scalars of the text at the revision.
  ///   - revision: A revision of the note.
  @discardableResult
  public func comment(
    _ text: String, on id: String, at range: Range<Int>, of revision: Int64
  ) async throws(RequestError) -> NoteComment {
    let anchor = Anchor(revision: revision, from: range.lowerBound, to: range.upperBound)
    let body = Body(text: text, anchor: anchor)
    return try await sender.value(make("POST", note(id, "comments"), body))
  }

  /// Answers a comment.
  @discardableResult
  public func answer(
    _ text: String, to comment: NoteComment.ID, on id: String
  ) async throws(RequestError) -> NoteComment {
    let body = Body(text: text, thread: comment)
    return try await sender.value(make("POST", note(id, "comments"), body))
  }

  /// Changes the text of a comment of this person.
  @discardableResult
  public func edit(
    comment: NoteComment.ID, on id: String, to text: String
  ) async throws(RequestError) -> NoteComment {
    let path = note(id, "comments/\(encoded(comment))")
    return try await sender.value(make("PATCH", path, Body(text: text)))
  }

  /// Resolves a thread, or reopens it.
  @discardableResult
  public func resolve(
    comment: NoteComment.ID, on id: String, _ isResolved: Bool = true
  ) async throws(RequestError) -> NoteComment {
    let path = note(id, "comments/\(encoded(comment))")
    return try await sender.value(make("PATCH", path, Body(resolved: isResolved)))
  }

  /// Deletes a comment.
  public func delete(comment: NoteComment.ID, on id: String) async throws(RequestError) {
    try await sender.answer(to: make("DELETE", note(id, "comments/\(encoded(comment))")))
  }

  // MARK: Files

  /// Returns a note's files, the newest first.
  public func files(of id: String) async throws(RequestError) -> [NoteFile] {
    let found: Listed<NoteFile> = try await sender.value(make("GET", note(id, "files")))
    return found.files ?? []
  }

  /// Adds a file to a note; returns once it is on the server's disk. Insert its
  /// ``NoteFile/path`` into the text, or the server removes it after some time.
  public func upload(
    _ bytes: [UInt8], named name: String, to id: String
  ) async throws(RequestError) -> NoteFile {
    var request = make("POST", url(note(id, "files"), [("name", name)]))
    request.headers.append(("Content-Type", "application/octet-stream"))
    request.body = bytes
    return try await sender.value(request)
  }

  /// Returns the content of a file of a note.
  public func download(_ file: NoteFile, of id: String) async throws(RequestError) -> [UInt8] {
    try await download(hash: file.hash, named: file.name, of: id)
  }

  /// Returns the content of a file of a note, by its hash and name.
  public func download(
    hash: String, named name: String, of id: String
  ) async throws(RequestError) -> [UInt8] {
    let path = note(id, "files/\(encoded(hash))/\(encoded(name))")
    return try await sender.answer(to: make("GET", path)).body
  }
}

extension NoteRequests {
  private struct Anchor: Encodable {
    let revision: Int64
    let from: Int
    let to: Int
  }

  /// A component of an operation.
  private enum Component: Encodable {
    case retain(Int)
    case insert(String)

    func encode(to encoder: any Encoder) throws {
      var value = encoder.singleValueContainer()
      switch self {
      case .retain(let count): try value.encode(count)
      case .insert(let text): try value.encode(text)
      }
    }
  }

  /// The fields of all requests; those that are not set are omitted.
  private struct Body: Encodable {
    var title: String?
    var folder: String?
    var access: String?
    var expiresIn: Int64?
    var name: String?
    var revision: Int64?
    var text: String?
    var anchor: Anchor?
    var thread: String?
    var resolved: Bool?
    var operation: [Component]?
  }

  /// The lists of all answers, of which each has one.
  private struct Listed<Item: Codable & Sendable>: Codable, Sendable {
    let notes: [Item]?
    let folders: [Item]?
    let links: [Item]?
    let versions: [Item]?
    let comments: [Item]?
    let files: [Item]?
    let parts: [Item]?
  }

  private struct Revised: Codable, Sendable { let revision: Int64 }

  private func note(_ id: String, _ rest: String? = nil) -> String {
    "/api/notes/\(encoded(id))" + (rest.map { "/\($0)" } ?? "")
  }

  private func url(_ path: String, _ query: [(String, String?)]) -> String {
    let pairs = query.compactMap { name, value in value.map { "\(name)=\(encoded($0))" } }
    return pairs.isEmpty ? path : "\(path)?\(pairs.joined(separator: "&"))"
  }

  private func make(_ method: String, _ path: String, _ body: Body? = nil) -> ServerRequest {
    var request = ServerRequest(method, path)
    if let body, let json = try? JSONEncoder().encode(body) {
      request.headers.append(("Content-Type", "application/json"))
      request.body = Array(json)
    }
    // A request that is sent again for a new token is performed once.
    if method == "POST" { request.headers.append(("Idempotency-Key", RoomScreen.newKey())) }
    return request
  }

  private func encoded(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: "."), UInt8(ascii: "~"):
        result.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        result += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    return result
  }
}
