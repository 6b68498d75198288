// The client core behind an interface of bytes: one machine, called by languages other than Swift.
//
// The caller writes an event into the input, calls `handle`, and performs the actions in the
// output. The form needs no parser on either side: a byte for the kind, then fields in the order of
// `readEvent` and `write`. A number is a 64-bit float, as in JavaScript. A text or a run of bytes
// is its length as a number, then its bytes, with texts in UTF-8. Positions in a text are UTF-16
// units of the text on the screen, like the editor's.
//
// Formatting is JSON as in messages, but its lengths are in UTF-16 units. Only notes that were opened
// with formats (events 31 and 32) use the events and actions with formatting; the others are told
// the note's kind.
//
// Page.swift exports the door from WebAssembly, Clients/c/Library.swift from a shared library; both
// only forward bytes.

import ParleyJSON
import OTCore
import ParleyClientCore
import ParleyModel
import SocketMessages

/// The client's machine, and the output of the last call.
struct Door {
  var output = Output()
  private var client: Client?

  /// Creates the machine.
  ///
  /// Input: name, colour, seed, whether there is a claim, the claim's id and resume token.
  mutating func create(_ fields: consuming Input) -> Int32 {
    let settings = ClientSettings(name: fields.text(), color: fields.text())
    let seed = UInt64(fields.number())
    let hasClaim = fields.flag()
    let claim = ClientClaim(id: fields.text(), resumeToken: fields.text())
    guard !fields.hasFailed else { return -1 }
    client = Client(
      machine: ClientMachine(settings: settings, claim: hasClaim ? claim : nil, seed: seed))
    return 0
  }

  /// Handles an event.
  ///
  /// Input: the event. Output: the actions. Result: their number; -1 if the input or `now` is
  /// invalid.
  mutating func handle(_ fields: consuming Input, now: Double) -> Int32 {
    guard now >= 0, now <= 9_007_199_254_740_992 else { return -1 }
    return client?.handle(&fields, now: Int64(now), &output) ?? -1
  }

  /// Output: a note's text on the screen. Result: 1, or 0 without a text.
  mutating func noteText(_ fields: consuming Input) -> Int32 {
    guard let text = client?.machine.document(of: fields.text()) else { return 0 }
    text.forEachChunk { output.bytes.append(contentsOf: $0) }
    return 1
  }

  /// Output: the attributes of a note's text on the screen. Result: 1, or 0 without a text.
  mutating func noteFormat(_ fields: consuming Input) -> Int32 {
    guard let content = client?.machine.content(of: fields.text()) else { return 0 }
    content.appendFormatJSONInUTF16(to: &output.bytes)
    return 1
  }

  /// Result: the sum of 1 if there is an edit of a note to undo, 2 if there is one to redo, and 4 if
  /// the server knows formatting.
  func noteFlags(_ fields: consuming Input) -> Int32 {
    // The machine is not copied, here and below: the code for that is long.
    guard let (canUndo, canRedo) = client?.machine.steps(in: fields.text()) else { return 0 }
    return (canUndo ? 1 : 0) + (canRedo ? 2 : 0) + (client?.machine.hasFormats == true ? 4 : 0)
  }

  /// Result: the newest revision of a note known from the server; 0 without one.
  func noteRevision(_ fields: consuming Input) -> Double {
    Double(client?.machine.revision(of: fields.text())?.revision ?? 0)
  }

  /// Output: the number of people in a note if not all are named, else -1; the number of named
  /// people; for each the client's id, name, colour, the person's id in this note ("" if there is
  /// none), whether they write, and the number of selections with their anchors and heads. Result: the number of named people.
  mutating func notePeople(_ fields: consuming Input) -> Int32 {
    let id = fields.text()
    guard let people = client?.machine.people(in: id) else { return 0 }
    let text = client?.machine.document(of: id)
    output.number(client?.machine.peopleCount(in: id) ?? -1)
    output.number(people.count)
    for person in people {
      output.text(person.clientID)
      output.text(person.name)
      output.text(person.color ?? "")
      output.text(person.hasOwnID ? person.personID : "")
      output.number(person.isWriting ? 1 : 0)
      output.number(person.selections.count)
      for selection in person.selections {
        output.number(text?.utf16Offset(ofScalar: selection.anchor) ?? 0)
        output.number(text?.utf16Offset(ofScalar: selection.head) ?? 0)
      }
    }
    return Int32(people.count)
  }

  /// Output: the number of people present in a room; for each the id, name and colour; then the
  /// number of people who type, and their ids. Result: the number of people present.
  mutating func roomPeople(_ fields: consuming Input) -> Int32 {
    let name = fields.text()
    guard let people = client?.machine.people(inRoom: name) else { return 0 }
    output.number(people.count)
    for person in people {
      output.text(person.personID.text)
      output.text(person.name)
      output.text(person.color ?? "")
    }
    let typists = client?.machine.typists(inRoom: name) ?? []
    output.number(typists.count)
    for id in typists { output.text(id) }
    return Int32(people.count)
  }

  /// Output: the server's text for the note's first unanswered `keep`. It is as long as the note,
  /// so the page requests it only if it has not stored it yet. Result: -1 without such a `keep`.
  mutating func keptText(_ fields: consuming Input) -> Int32 {
    guard let kept = client?.firstKeep(of: fields.text()) else { return -1 }
    output.bytes = kept.encodedText()
    return 0
  }

  /// Output: a copy of a note without edits: its state and the server's text, as an event that
  /// restores a note takes them. Result: 1, or 0 without a copy.
  mutating func noteCopy(_ fields: consuming Input) -> Int32 {
    guard let copy = client?.machine.copy(of: fields.text()) else { return 0 }
    output.run(copy.encodedEdits())
    output.run(copy.encodedText())
    return 1
  }
}

/// The machine, with the additional state of the door.
private struct Client {
  var machine: ClientMachine
  /// The ids of open notes, in the order of opening.
  private var notes: [String] = []
  /// The ids of notes that were opened with formats.
  private var formattedNotes: [String] = []
  /// Unanswered `keep` actions. The page answers each with `kept`, `keepFailed` or `unkept`.
  private var keeps: [KeptNote] = []

  init(machine: ClientMachine) { self.machine = machine }

  func firstKeep(of id: String) -> KeptNote? {
    keeps.first { $0.documentID.utf8.elementsEqual(id.utf8) }
  }

  /// Removes a note's first `keep`, because it was answered.
  private mutating func answered(_ id: String) {
    guard let place = keeps.firstIndex(where: { $0.documentID.utf8.elementsEqual(id.utf8) }) else {
      return
    }
    keeps.remove(at: place)
  }

  mutating func handle(_ fields: inout Input, now: Int64, _ output: inout Output) -> Int32 {
    guard let event = readEvent(&fields), !fields.hasFailed else { return -1 }
    // An operation for the screen counts UTF-16 units of the text before it, so copy the texts
    // first. An edit causes no such operation and needs no copy.
    var screens = Screens()
    if case .note(_, .edit) = event {} else { screens = Screens(of: notes, machine) }
    if case .note(let id, let event) = event {
      switch event {
      case .open(_, let formats):
        notes.append(id)
        if formats { formattedNotes.append(id) }
      case .leave:
        notes.removeAll { $0.utf8.elementsEqual(id.utf8) }
        formattedNotes.removeAll { $0.utf8.elementsEqual(id.utf8) }
      case .kept, .keepFailed, .unkept: answered(id)
      case .reopen, .edit, .undo, .redo, .endStep, .select, .retryRefused, .discard, .sendAgain:
        break
      }
    }
    let actions = machine.handle(event, now: now)
    for action in actions { write(action, &screens, &output) }
    return Int32(actions.count)
  }

  // MARK: Events

  private func readEvent(_ fields: inout Input) -> ClientEvent? {
    switch fields.byte() {
    case 1: .start
    case 2: .stop
    case 3: .opened
    case 4: .received(fields.bytes())
    case 5: .closed(code: UInt16(truncatingIfNeeded: fields.integer()))
    case 6: .wake
    case 7: .reachable
    case 8: .token(fields.text())
    case 9: .profile(name: fields.text(), color: fields.text())
    case 10: .suspending
    case 20: .note(fields.text(), .open(nil))
    case 21: restored(&fields, formats: false)
    case 22: .note(fields.text(), .reopen)
    case 23: .note(fields.text(), .leave)
    case 24: edited(&fields, formats: false)
    case 25: selected(&fields)
    case 26: .note(fields.text(), .retryRefused)
    case 27: .note(fields.text(), .discard)
    case 28: .note(fields.text(), .kept(took: Int64(fields.integer())))
    case 29: .note(fields.text(), .keepFailed)
    case 30: .note(fields.text(), .unkept)
    case 31: .note(fields.text(), .open(nil, formats: true))
    case 32: restored(&fields, formats: true)
    case 33: edited(&fields, formats: true)
    case 34: .note(fields.text(), .undo)
    case 35: .note(fields.text(), .redo)
    case 36: .note(fields.text(), .endStep)
    case 40: .room(fields.text(), subscribing(&fields))
    case 41: .room(fields.text(), .unsubscribe)
    case 42: publishing(&fields)
    case 43: .room(fields.text(), .typing(fields.flag()))
    case 44: .room(fields.text(), confirming(&fields))
    case 45: .room(fields.text(), .receipts(offset: Int64(fields.integer())))
    default: nil
    }
  }

  /// Fields: whether the person is shown in the room; the known epoch and offset, with an empty
  /// epoch for none.
  private func subscribing(_ fields: inout Input) -> RoomEvent {
    let isPresent = fields.flag()
    let position = RoomPosition(epoch: Epoch(fields.text()), offset: fields.integer())
    return .subscribe(
      isPresent: isPresent, from: position.epoch.text.utf8.count == 0 ? nil : position)
  }

  /// Fields: the offset of a publication, and whether it was read.
  private func confirming(_ fields: inout Input) -> RoomEvent {
    let offset = Int64(fields.integer())
    return .receipt(offset: offset, fields.flag() ? .read : .delivered)
  }

  /// Fields: the room, the key, the sender's id or an empty text, and JSON.
  private func publishing(_ fields: inout Input) -> ClientEvent? {
    let room = fields.text()
    let key = fields.text()
    let sender = fields.text()
    guard let data = JSONValue(fields.bytes()) else { return nil }
    return .room(
      room,
      .publish(
        .init(
          room: room, data: data, key: key, senderID: sender.utf8.count == 0 ? nil : sender),
        key: key))
  }

  private func restored(_ fields: inout Input, formats: Bool) -> ClientEvent? {
    let id = fields.text()
    guard let kept = try? KeptNote(edits: fields.bytes(), text: fields.bytes()) else { return nil }
    return .note(id, .open(kept, formats: formats))
  }

  /// Fields: the number of changes; for each its start, the number of removed units, and the
  /// inserted text. Changes ascend, and positions count units of the text before all changes. With
  /// formats, the format follows; it is empty for an edit without formatting.
  private func edited(_ fields: inout Input, formats: Bool) -> ClientEvent? {
    let id = fields.text()
    // Without a text the machine rejects every edit.
    let text = machine.document(of: id) ?? Document("")
    let count = fields.integer()
    var operation = TextOperation(reservingComponents: min(count, 1 << 16) * 3 + 1)
    var position = 0
    for _ in 0..<count {
      let start = fields.integer()
      let from = text.scalarOffset(ofUTF16: start)
      let to = text.scalarOffset(ofUTF16: start + fields.integer())
      let inserted = fields.run()
      guard position <= from, from <= to, !fields.hasFailed else { return nil }
      operation.retain(from - position)
      guard (try? operation.insert(utf8: inserted)) != nil else { return nil }
      operation.delete(to - from)
      position = to
    }
    guard position <= text.scalarCount else { return nil }
    operation.retain(text.scalarCount - position)
    let json = formats ? fields.bytes() : []
    if json.isEmpty { return .note(id, .edit(RichOperation(operation))) }
    guard !fields.hasFailed,
      let format = try? ChangeFormat(utf16JSON: json, of: operation, on: text)
    else { return nil }
    return .note(id, .edit(RichOperation(operation, format)))
  }

  private func selected(_ fields: inout Input) -> ClientEvent? {
    let id = fields.text()
    guard let text = machine.document(of: id) else { return nil }
    let selection = Selection(
      anchor: text.scalarOffset(ofUTF16: fields.integer()),
      head: text.scalarOffset(ofUTF16: fields.integer()))
    return .note(id, .select([selection]))
  }

  // MARK: Actions

  private mutating func write(
    _ action: ClientAction, _ screens: inout Screens, _ output: inout Output
  ) {
    switch action {
    case .connect: output.byte(1)
    case .disconnect: output.byte(2)
    case .send(let bytes):
      output.byte(3)
      output.run(bytes)
    case .wake(let time):
      output.byte(4)
      output.number(time ?? -1)
    case .needToken: output.byte(5)
    case .claim(let claim):
      output.byte(6)
      output.text(claim.id)
      output.text(claim.resumeToken)
    case .line(let state):
      output.byte(7)
      write(state, &output)
    case .welcome(let welcome):
      output.byte(8)
      output.number(welcome.demo ? 1 : 0)
      output.number(welcome.limits.messageBytesMax)
      output.number(welcome.limits.documentScalarsMax)
      output.text(welcome.personID ?? welcome.clientID)
    case .tokenEnds(let time):
      output.byte(9)
      output.number(time)
    case .refreshed(let code):
      output.byte(10)
      output.text(code?.rawValue ?? "")
    case .resource(let id, _):
      output.byte(11)
      output.text(id)
    // Callers of the door send no requests.
    case .answer: break
    case .note(let id, let action): write(action, of: id, &screens, &output)
    case .room(let name, let action): write(action, of: name, &output)
    }
  }

  private func write(_ action: RoomAction, of room: String, _ output: inout Output) {
    let kind: UInt8 =
      switch action {
      case .status: 40
      case .publication: 41
      case .gap: 42
      case .position: 43
      case .people: 44
      case .published: 45
      case .publishFailed, .publishUnsure: 46
      case .outOfStep, .flagged: 47
      case .receipt: 48
      case .receipts: 49
      }
    output.byte(kind)
    output.text(room)
    switch action {
    case .status(let status):
      var failure = ""
      switch status.phase {
      case .subscribing: output.text("opening")
      case .live: output.text("live")
      case .away: output.text("away")
      case .left: output.text("closed")
      case .ended(let reason):
        output.text("failed")
        failure = name(of: reason)
      }
      output.text(failure)
    case .publication(let publication, let epoch):
      write(RoomPosition(epoch: epoch, offset: publication.offset), &output)
      output.number(publication.time)
      output.text(publication.personID?.text ?? "")
      output.text(publication.senderID ?? "")
      output.run(publication.data.utf8)
    case .gap(let after, let through):
      write(after, &output)
      write(through, &output)
    case .position(let position): write(position, &output)
    case .published(let key, let position, let isRepeated):
      output.text(key)
      write(position, &output)
      output.number(isRepeated ? 1 : 0)
    case .publishFailed(let key, let code):
      output.text(key)
      output.text(code.rawValue)
    case .publishUnsure(let key):
      output.text(key)
      output.text("unsure")
    case .receipt(let receipt):
      output.number(receipt.offset)
      write([Receipt(personID: PersonID(receipt.personID), stage: receipt.state)], &output)
    case .receipts(let offset, let receipts, let code):
      output.number(offset)
      write(receipts, &output)
      output.text(code?.rawValue ?? "")
    case .people, .outOfStep, .flagged: break
    }
  }

  /// Writes the number of receipts; for each the person's id and whether it says read.
  private func write(_ receipts: [Receipt], _ output: inout Output) {
    output.number(receipts.count)
    for receipt in receipts {
      output.text(receipt.personID.text)
      output.number(receipt.stage == .read ? 1 : 0)
    }
  }

  private func write(_ position: RoomPosition, _ output: inout Output) {
    output.text(position.epoch.text)
    output.number(position.offset)
  }

  private func name(of failure: NoteFailure) -> String {
    switch failure {
    case .refused(let code): code.rawValue
    case .readingLost: "readingLost"
    case .disagreement: "disagreement"
    }
  }

  /// Writes the state's name, its end, and the code that ended it: of a close, or of an error.
  private func write(_ state: LineState, _ output: inout Output) {
    var until: Int64 = -1
    var code = 0
    var error = ""
    let name: String
    switch state {
    case .authorising, .connecting, .greeting: name = "connecting"
    case .online: name = "online"
    case .waiting(let time):
      name = "waiting"
      until = time
    case .stopped(let reason):
      name = "stopped"
      switch reason {
      case .asked, .noToken, .otherPerson: break
      case .closed(let closeCode): code = Int(closeCode)
      case .refused(let errorCode): error = errorCode.rawValue
      }
    }
    output.text(name)
    output.number(until)
    output.number(code)
    output.text(error)
  }

  private mutating func write(
    _ action: NoteAction, of id: String, _ screens: inout Screens, _ output: inout Output
  ) {
    switch action {
    case .keep(let kept, let isRequired):
      output.byte(20)
      output.text(id)
      output.number(isRequired ? 1 : 0)
      output.text(kept.clientID)
      output.text(kept.textTag)
      output.run(kept.encodedEdits())
      keeps.append(kept)
    case .forget:
      output.byte(21)
      output.text(id)
    case .reset(let content):
      let formats = hasFormats(id)
      output.byte(formats ? 31 : 22)
      output.text(id)
      output.number(content.text.utf8Count)
      content.text.forEachChunk { output.bytes.append(contentsOf: $0) }
      screens.reset(id, to: content.text)
      guard formats else { return }
      var format: [UInt8] = []
      if content.hasAttributes { content.appendFormatJSONInUTF16(to: &format) }
      output.run(format)
    case .apply(let operation, _, let revision):
      let formats = hasFormats(id)
      output.byte(formats ? 32 : 23)
      output.text(id)
      output.number(revision)
      screens.write(operation, to: id, formats: formats, &output)
    case .step(let operation, let selection):
      output.byte(33)
      output.text(id)
      screens.write(operation, to: id, formats: true, &output)
      screens.write(selection, in: id, &output)
    case .kind(let kind):
      output.byte(34)
      output.text(id)
      output.text(kind == .rich ? "rich" : "plain")
    case .status(let status):
      output.byte(24)
      output.text(id)
      write(status, &output)
    case .people:
      output.byte(25)
      output.text(id)
    case .carets:
      output.byte(26)
      output.text(id)
    case .title(let title):
      output.byte(27)
      output.text(id)
      output.text(title)
    case .rebased:
      output.byte(28)
      output.text(id)
    case .outOfStep:
      output.byte(29)
      output.text(id)
    case .misfit:
      output.byte(30)
      output.text(id)
    }
  }

  private func hasFormats(_ id: String) -> Bool {
    formattedNotes.contains { $0.utf8.elementsEqual(id.utf8) }
  }

  /// Writes phase, reason of a failure, access, unconfirmed edits, reason of their refusal, and
  /// whether storing fails.
  private func write(_ status: NoteStatus, _ output: inout Output) {
    var failure = ""
    switch status.phase {
    case .joining: output.text("joining")
    case .live: output.text("live")
    case .away: output.text("away")
    case .deleted: output.text("deleted")
    case .leaving: output.text("leaving")
    case .left: output.text("left")
    case .failed(let reason):
      output.text("failed")
      failure = name(of: reason)
    }
    output.text(failure)
    output.text(status.access == .read ? "read" : "write")
    output.number(status.unconfirmed)
    output.text(status.refusal?.rawValue ?? "")
    output.number(status.isKeepFailing ? 1 : 0)
  }
}

/// The texts on the screen while the actions of one event are written. Each operation counts units
/// of the text after the previous operation.
private struct Screens {
  private var texts: [(id: String, text: Document)] = []

  init() {}

  init(of notes: [String], _ machine: ClientMachine) {
    for id in notes {
      if let text = machine.document(of: id) { texts.append((id, text)) }
    }
  }

  private func place(of id: String) -> Int? {
    texts.firstIndex { $0.id.utf8.elementsEqual(id.utf8) }
  }

  mutating func reset(_ id: String, to text: Document) {
    if let place = place(of: id) { texts[place].text = text } else { texts.append((id, text)) }
  }

  /// Writes a selection's anchor and head.
  func write(_ selection: Selection, in id: String, _ output: inout Output) {
    let text = place(of: id).map { texts[$0].text }
    output.number(text?.utf16Offset(ofScalar: selection.anchor) ?? 0)
    output.number(text?.utf16Offset(ofScalar: selection.head) ?? 0)
  }

  /// Writes the number of changes; for each its start, the number of removed units, and the
  /// inserted text. With formats, the format follows; it is empty without formatting.
  mutating func write(
    _ rich: RichOperation, to id: String, formats: Bool, _ output: inout Output
  ) {
    guard let place = place(of: id) else {
      output.number(0)
      if formats { output.run([]) }
      return
    }
    let operation = rich.text
    let text = texts[place].text
    var changes: [(from: Int, to: Int, inserted: [UInt8])] = []
    var position = 0
    var isOpen = false
    operation.forEachPacked { kind, length, inserted in
      if kind == .retain {
        position += length
        isOpen = false
        return
      }
      // All inserts and deletes between two retains are one replacement for the editor.
      if !isOpen { changes.append((position, position, [])) }
      isOpen = true
      if kind == .insert {
        changes[changes.count - 1].inserted.append(contentsOf: inserted)
      } else {
        position += length
        changes[changes.count - 1].to = position
      }
    }
    output.number(changes.count)
    for change in changes {
      let from = text.utf16Offset(ofScalar: change.from)
      output.number(from)
      output.number(text.utf16Offset(ofScalar: change.to) - from)
      output.run(change.inserted)
    }
    if formats {
      var format: [UInt8] = []
      rich.appendFormatJSON(to: &format, inUTF16Of: text)
      output.run(format)
    }
    try? texts[place].text.apply(operation)
  }
}
