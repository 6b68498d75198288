import ParleyGatewayPorts
import SocketMessages

/// Files of notes: uploading, downloading, and removing unreferenced ones.
///
/// Uploads go to the store one at a time: a file shares a commit with other changes, which should
/// not wait for several files. Other uploads wait here, limited in number and size, as do reads.
///
///     POST …/files ─▶ limits ─▶ waiting ─▶ put ─▶ response with the reference for the text
///     GET …/files/{hash}/{name} ─▶ waiting ─▶ read ─▶ detect type ─▶ response
///     ticked ─▶ unsettled ─▶ search each ─▶ settle
final class Files: Part {
  let board: Switchboard
  let access: Access

  /// Maximum waiting uploads, in total and of one person.
  private static let uploadsMax = 64
  private static let uploadsMaxOfPerson = 16
  /// Maximum reads waiting or in progress, in total and of one user or link; maximum in progress.
  private static let readsMax = 1_000
  private static let readsMaxOfStranger = 250
  private static let readsAtOnce = 4

  /// An upload that waits, or is at the store.
  struct Upload {
    let request: RequestID
    let note: DocumentID
    let draft: FileDraft
    let identity: Identity
    let right: StoreRight
  }

  /// A read that waits or is in progress.
  struct Read {
    let request: RequestID
    let note: DocumentID
    let hash: FileHash
    let right: StoreRight
    /// Whether the client has the content already.
    let isKnown: Bool
    /// The stranger whose share of the reads this read uses.
    let holder: LimitedClient?
  }

  /// Waiting uploads, oldest first, and their total bytes.
  var uploads: [Upload] = []
  var uploadBytes: Int = 0
  /// The upload in progress at the store.
  var current: Upload?
  /// Waiting reads, of users and links in turn, and those in progress at the store.
  var waiting = FairQueue<LimitedClient, Read>(
    capacity: Files.readsMax, countMaxOfStranger: Files.readsMaxOfStranger)
  var reads: [RequestID: Read] = [:]
  /// The strangers of the waiting reads.
  var holders: [RequestID: LimitedClient?] = [:]
  /// The state of the removal of unreferenced files.
  var collection: UnusedFileRemoval

  init(_ board: Switchboard, _ access: Access) {
    self.board = board
    self.access = access
    collection = UnusedFileRemoval(after: board.settings.files.unusedMilliseconds)
  }

  // MARK: Uploading

  /// Decides about the body of an allowed request. Maximum without a length: that of a message.
  func allowance(
    ofBody byteCount: Int?, of identity: Identity, _ holder: Holder
  ) throws(Response) -> BodyDecision {
    guard let byteCount else {
      let bytesMax = min(settings.files.bytesMax, settings.limits.messageBytesMax)
      return .take(upTo: bytesMax, for: holder)
    }
    try admit(byteCount, of: identity)
    return .take(upTo: byteCount, for: holder, isUpload: true)
  }

  /// Throws if the file's size is not allowed, or too many uploads wait.
  private func admit(_ byteCount: Int, of identity: Identity) throws(Response) {
    let bytesMax = settings.files.bytesMax
    guard bytesMax > 0 else {
      throw .problem(
        403, .notOffered, "this server accepts no files; its operator can set file-size-max")
    }
    guard byteCount > 0 else {
      throw .problem(
        400, .badMessage, "expected the file's bytes as the body; it was empty: send the file again"
      )
    }
    guard byteCount <= bytesMax else {
      throw .problem(
        413, .tooLarge,
        "a file may have \(bytesMax) bytes; this one has \(byteCount): make it smaller, as by saving "
          + "the picture with fewer pixels")
    }
    guard uploads.count < Self.uploadsMax,
      uploads.isEmpty || uploadBytes + byteCount <= settings.files.waitingBytesMax,
      uploads.count(where: { identity.isSamePerson(as: $0.identity) }) < Self.uploadsMaxOfPerson
    else { throw .busy("too many files are being uploaded; send it again in a few seconds") }
  }

  /// Uploads a file. The response is sent after the store has the file.
  func upload(_ call: Call) throws(Response) {
    try admit(call.body.count, of: call.identity)
    let draft = FileDraft(
      name: FileName.clean(try call.query.text("name") ?? ""), bytes: call.body,
      time: dependencies.clock.now)
    uploads.append(
      Upload(
        request: call.request, note: call.note, draft: draft, identity: call.identity,
        right: try call.right))
    uploadBytes += call.body.count
    uploadNext()
  }

  private func uploadNext() {
    guard current == nil, !uploads.isEmpty else { return }
    let next = uploads.removeFirst()
    uploadBytes -= next.draft.bytes.count
    current = next
    store(
      .files(.put(id: next.note, next.draft, settings.files.limits)), under: next.right,
      then: .files(.upload(next.request)))
  }

  private func uploaded(_ outcome: StoreOutcome<FileReply>) {
    guard let upload = current else { return }
    current = nil
    let limits = settings.files.limits
    switch outcome {
    case .success(.kept(let file, let isNew)):
      let kind = FileKind(of: upload.draft.bytes)
      respond(upload.request, .json(isNew ? 201 : 200, FileJSON.file(file, kind)))
    case .success(.noteFull(let byteCount)):
      respond(
        upload.request,
        .problem(
          413, .tooMany,
          "the files of a note may have \(limits.noteBytesMax) bytes together; this note's have "
            + "\(byteCount), and this one \(upload.draft.bytes.count) more: put it into another note"
        ))
    case .success(.tooManyFiles(let count)):
      respond(
        upload.request,
        .problem(
          413, .tooMany,
          "a note may have \(limits.noteFilesMax) files; this one has \(count): put it into another note"
        ))
    case .success(.diskFull(let byteCount)):
      dependencies.log.write(
        .error, "file not stored",
        [
          ("reason", "the disk has \(byteCount) bytes left"),
          ("hint", "free some, or lower files-disk-reserve"),
        ])
      respond(
        upload.request,
        .problem(
          503, .unavailable,
          "the server's disk is nearly full, so it takes no files now; text is still kept: tell the "
            + "operator of the server, and send the file again later"))
    case .success: refuse(upload.request, .unavailable("another reply"))
    case .failure(let error): refuse(upload.request, error)
    }
    uploadNext()
  }

  // MARK: Reading

  /// Responds with the list of a note's files.
  func list(_ call: Call) throws(Response) {
    store(.files(.list(id: call.note)), under: try call.right, then: .files(.list(call.request)))
  }

  /// Responds with a file of a note.
  func read(_ call: Call) throws(Response) {
    guard let hash = call.item.flatMap({ FileHash(digits: $0.utf8) }) else {
      throw .problem(
        400, .badMessage,
        "expected the file's hash as 64 hexadecimal digits, as in the list of the note's files")
    }
    let holder = call.limitedClient
    let read = Read(
      request: call.request, note: call.note, hash: hash, right: try call.right,
      isKnown: call.known?.matches("\"\(hash)\"") ?? false, holder: holder)
    guard waiting.append(read, for: holder) == nil else {
      throw .busy("too many files are being read; ask again in a few seconds")
    }
    holders[call.request] = .some(holder)
    readNext()
  }

  private func readNext() {
    while reads.count < Self.readsAtOnce, let next = waiting.popFirst() {
      holders[next.request] = nil
      reads[next.request] = next
      store(
        .files(.read(id: next.note, next.hash, withBytes: !next.isKnown)), under: next.right,
        then: .files(.read(next.request)))
    }
  }

  private func haveRead(_ request: RequestID, _ outcome: StoreOutcome<FileReply>) {
    if let read = reads.removeValue(forKey: request) { waiting.finish(for: read.holder) }
    switch outcome {
    case .success(.file(let file, let bytes?)): respond(request, .file(file, bytes))
    case .success(.file(let file, nil)):
      respond(request, Response(status: 304, headers: Response.headers(of: file)))
    case .success(.unknownFile):
      respond(
        request,
        .problem(
          404, .unknownDocument,
          "the note has no file with this id; it may be of another note, or was removed as unused"
        ))
    case .success: refuse(request, .unavailable("another reply"))
    case .failure(let error): refuse(request, error)
    }
    readNext()
  }

  // MARK: The store's replies

  /// Handles the store's reply.
  func finish(_ work: FileWork, _ outcome: StoreOutcome<FileReply>) {
    switch work {
    case .upload: uploaded(outcome)
    case .read(let request): haveRead(request, outcome)
    case .list(let request):
      switch outcome {
      case .success(.files(let files)):
        respond(request, .json(200, FileJSON.list(files, bytesMax: settings.files.bytesMax)))
      case .success: refuse(request, .unavailable("another reply"))
      case .failure(let error): refuse(request, error)
      }
    case .unsettled: receivedNotes(outcome)
    case .search(let note, let time): receivedSearchResult(note, before: time, outcome)
    case .settle(let note): receivedRemoval(note, outcome)
    }
  }

  private func refuse(_ request: RequestID, _ error: StoreError) {
    refuse(request, error, ofNote: "file request failed")
  }

  /// Removes a request whose client has disconnected, if it still waits. It gets a response
  /// nevertheless: a repeated request with the same key may wait for that.
  func abandoned(_ request: RequestID) {
    if let holder = holders.removeValue(forKey: request) {
      _ = waiting.remove(for: holder) { $0.request == request }
    } else if let index = uploads.firstIndex(where: { $0.request == request }) {
      uploadBytes -= uploads.remove(at: index).draft.bytes.count
    } else {
      return
    }
    respond(request, .busy("this request was cancelled, for its client went away; send it again"))
  }
}
