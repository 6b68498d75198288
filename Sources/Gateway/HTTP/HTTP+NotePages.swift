import GatewayPorts
import SocketMessages

/// The list of notes, whole or in pages.
///
/// Without a parameter it is all notes, the newest change first, as people look at them. Whoever goes
/// through all of them takes pages: these are in the order in which the notes were made, which no
/// change disturbs. A note that is there from the first page to the last is named once.
extension HTTP {
  /// Notes of one page unless a number is asked for.
  private static let pageDefault = 100

  func listNotes(_ call: Call) {
    let (request, identity, fields) = (call.request, call.identity, call.query)
    if case .absent = fields.number("limit"), fields["after"] == nil {
      return read(request, WholeNoteList(identity: identity), after: nil)
    }
    guard let (limit, place) = page(call) else { return }
    read(request, NotesRequest.Page(identity: identity, limit: limit), after: place)
  }

  /// Reads what page a request asks for; `nil` if it has been refused.
  func page(_ call: Call) -> (limit: Int, after: NotePlace?)? {
    let limitMax = NotesRequest.Page.limitMax
    guard let limit = call.query.number("limit").or(Self.pageDefault),
      (1...limitMax).contains(limit)
    else {
      respond(call.request, .problem(400, .badMessage, "expected limit from 1 to \(limitMax)"))
      return nil
    }
    guard let cursor = call.query["after"] else { return (limit, nil) }
    guard let place = NotePlace(cursor: cursor) else {
      respond(
        call.request,
        .problem(400, .badMessage, "expected after as an earlier page had it in \"next\""))
      return nil
    }
    return (limit, place)
  }

  private func read(_ request: RequestID, _ list: WholeNoteList, after place: NotePlace?) {
    store(
      .notes(after: place, limit: WholeNoteList.stepCount), for: .notes(request, .list(list)))
  }

  /// The store has read some notes for the whole list.
  func goOn(_ request: RequestID, _ list: WholeNoteList, _ notes: [NoteSummary]) {
    // What may not be read is not named either.
    let identity = list.identity
    if let place = list.take(notes, if: { identity.may(.read, .document($0.id)) }) {
      return read(request, list, after: place)
    }
    respond(
      request,
      .json(
        200,
        NoteJSON.list(
          list.finished(), for: identity, mayCreate: mayCreate(identity),
          deletedAgeMax: settings.deletedMilliseconds, isCut: list.isCut)))
  }

  private func read(_ request: RequestID, _ work: NotesRequest.Page, after place: NotePlace?) {
    store(.notes(after: place, limit: work.asked), for: .notes(request, .page(work)))
  }

  /// The store has read some notes for a page.
  func goOn(_ request: RequestID, _ work: NotesRequest.Page, _ notes: [NoteSummary]) {
    var work = work
    let identity = work.identity
    let step = work.take(notes, at: NotePlace.init) {
      identity.may(.read, .document($0.id))
    }
    switch step {
    case .read(let place): read(request, work, after: place)
    case .end(let next): answer(request, work, next: next?.cursor)
    }
  }

  private func answer(_ request: RequestID, _ work: NotesRequest.Page, next cursor: String?) {
    var response = Response.json(
      200,
      NoteJSON.list(
        work.found, for: work.identity, mayCreate: mayCreate(work.identity),
        deletedAgeMax: settings.deletedMilliseconds, next: cursor))
    if let cursor {
      response.headers.append(
        ("link", "</api/notes?limit=\(work.limit)&after=\(cursor)>; rel=\"next\""))
    }
    respond(request, response)
  }

  /// A new note has a random name, which only a pattern covers.
  private func mayCreate(_ identity: Identity) -> Bool {
    identity.may(.manage, .document(surroundings.names.next()))
  }
}

extension NotePlace {
  /// The place as clients send it back, in hexadecimal digits: nothing to be read or made up.
  var cursor: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: "\(createdAt) \(id)".utf8.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
      as: UTF8.self)
  }

  /// Reads a cursor; `nil` if it is none.
  init?(cursor: String) {
    var bytes: [UInt8] = []
    var high: UInt8?
    for digit in cursor {
      guard digit.isASCII, !digit.isUppercase, let value = digit.hexDigitValue.map(UInt8.init)
      else {
        return nil
      }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    guard high == nil, let text = String(validating: bytes, as: UTF8.self) else { return nil }
    let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let time = Timestamp(parts[0]) else { return nil }
    self.init(createdAt: time, id: String(parts[1]))
  }
}
