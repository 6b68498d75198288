import GatewayPorts
import SocketMessages

/// The list of notes, whole or in pages.
///
/// Without a parameter it is all notes, the newest change first, as people look at them. Whoever goes
/// through all of them takes pages: these are in the order in which the notes were made, which no
/// change disturbs. A note that is there from the first page to the last is named once.
extension HTTP {
  /// Notes of one page unless a number is asked for, and at most.
  private static let notePageDefault = 100
  private static let notePageMax = 1_000
  /// Notes of the whole list, at most: the ones changed last.
  private static let wholeListMax = 10_000
  /// Notes that are looked at for one page, about: a token that may read few of many gets short ones.
  private static let noteScanMax = 10_000

  func listNotes(_ call: Call) {
    let (request, identity, fields) = (call.request, call.identity, call.query)
    let limit = fields.number("limit")
    if case .absent = limit, fields["after"] == nil {
      store(.list, for: .notes(request, .list(identity)))
      return
    }
    guard let limit = limit.or(Self.notePageDefault), (1...Self.notePageMax).contains(limit) else {
      respond(
        request, .problem(400, .badMessage, "expected limit from 1 to \(Self.notePageMax)"))
      return
    }
    var place: NotePlace?
    if let cursor = fields["after"] {
      place = NotePlace(cursor: cursor)
      guard place != nil else {
        respond(
          request,
          .problem(400, .badMessage, "expected after as an earlier page had it in \"next\""))
        return
      }
    }
    read(request, NotesRequest.Page(identity: identity, limit: limit), after: place)
  }

  private func read(_ request: RequestID, _ work: NotesRequest.Page, after place: NotePlace?) {
    var work = work
    // One more tells whether there is another page. Where few may be read, more are looked at.
    work.asked = work.scanned == 0 ? work.limit + 1 : Self.notePageMax
    store(.notes(after: place, limit: work.asked), for: .notes(request, .page(work)))
  }

  /// The store has read some notes for a page.
  func goOn(_ request: RequestID, _ work: NotesRequest.Page, _ notes: [NoteSummary]) {
    var work = work
    var last: NotePlace?
    for note in notes {
      if work.found.count == work.limit {
        answer(request, work, next: last ?? work.found.last.map(NotePlace.init))
        return
      }
      if work.identity.may(.read, .document(note.id)) { work.found.append(note) }
      last = NotePlace(note)
    }
    work.scanned += notes.count
    guard notes.count == work.asked, let last else {
      answer(request, work, next: nil)
      return
    }
    if work.scanned < Self.noteScanMax {
      read(request, work, after: last)
    } else {
      answer(request, work, next: last)
    }
  }

  private func answer(_ request: RequestID, _ work: NotesRequest.Page, next: NotePlace?) {
    let cursor = next?.cursor
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

  /// Answers with the whole list.
  func answer(_ request: RequestID, all notes: [NoteSummary], _ identity: Identity) {
    // What may not be read is not named either.
    let readable = notes.filter { identity.may(.read, .document($0.id)) }
    respond(
      request,
      .json(
        200,
        NoteJSON.list(
          readable.prefix(Self.wholeListMax), for: identity, mayCreate: mayCreate(identity),
          deletedAgeMax: settings.deletedMilliseconds, isCut: readable.count > Self.wholeListMax)))
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
