// OTCore for the page: sessions behind handles, called from Web/js/core.js.
//
// Numbers cross as arguments. Everything else crosses through linear memory: the page asks for room
// with `input_reserve`, writes there, calls, and reads `output_address` and `output_count`. Texts are
// UTF-8, numbers in buffers 32-bit little-endian. A negative result is an error, whose text is in
// the output. Positions are UTF-16 units of the local text, as the editor counts; what is said about
// the server's text counts Unicode scalars.

// MARK: Buffers

/// The page runs on one thread, so globals need no lock.
nonisolated(unsafe) private var input = UnsafeMutableBufferPointer<UInt8>(start: nil, count: 0)
nonisolated(unsafe) private var output: [UInt8] = []

@_expose(wasm, "input_reserve")
@_cdecl("input_reserve")
func inputReserve(_ count: Int32) -> UnsafeMutablePointer<UInt8>? {
  let count = max(Int(count), 1)
  // A large paste's room is given back at the next small call.
  if input.count < count || input.count > 1 << 20 && count < 1 << 16 {
    input.deallocate()
    input = .allocate(capacity: max(count, 4096))
  }
  return input.baseAddress
}

@_expose(wasm, "output_address")
@_cdecl("output_address")
func outputAddress() -> UnsafePointer<UInt8>? {
  // The array is not touched until the next call, so the address holds until then.
  output.withUnsafeBufferPointer { $0.baseAddress }
}

@_expose(wasm, "output_count")
@_cdecl("output_count")
func outputCount() -> Int32 { Int32(output.count) }

private func inputBytes(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
  UnsafeBufferPointer(rebasing: input[range])
}

private func inputNumber(_ index: Int) -> Int {
  var bits: UInt32 = 0
  for byte in 0..<4 { bits |= UInt32(input[index * 4 + byte]) << UInt32(byte * 8) }
  return Int(Int32(bitPattern: bits))
}

private func outputNumber(_ number: Int) {
  let bits = UInt32(bitPattern: Int32(truncatingIfNeeded: number))
  for byte in 0..<4 { output.append(UInt8(truncatingIfNeeded: bits >> UInt32(byte * 8))) }
}

// MARK: Failures

/// What a call can fail with.
private enum Failure: Error {
  case operation(OperationError)
  case synchronizer(SynchronizerError)
  case noSuchSession
  case unreadable
}

private func report(_ failure: Failure) -> Int32 {
  output.removeAll(keepingCapacity: true)
  func say(_ text: StaticString, _ numbers: Int...) {
    text.withUTF8Buffer { output.append(contentsOf: $0) }
    for number in numbers {
      output.append(0x20)
      output.append(contentsOf: String(number).utf8)
    }
  }
  func say(_ error: OperationError) {
    switch error {
    case .lengthMismatch(let expected, let found):
      say("lengths do not meet, expected and found:", expected, found)
    case .invalidUTF8(let offset): say("no UTF-8 at byte", offset)
    case .malformed(let offset): say("no operation at byte", offset)
    case .tooLong: say("too long")
    }
  }
  switch failure {
  case .operation(let error): say(error)
  case .synchronizer(.operation(let error)): say(error)
  case .synchronizer(.outOfOrder(let expected, let found)):
    say("a revision is missing or doubled, expected and found:", expected, found)
  case .synchronizer(.notInFlight(let sequence)): say("not in flight:", sequence)
  case .noSuchSession: say("the session is closed")
  case .unreadable: say("not an exported session")
  }
  return -1
}

/// Runs a call; its result, or -1 with the failure's text as output.
private func answering(_ body: () throws(Failure) -> Int32) -> Int32 {
  do throws(Failure) {
    return try body()
  } catch {
    return report(error)
  }
}

private func operating<Result>(
  _ body: () throws(OperationError) -> Result
) throws(Failure) -> Result {
  do throws(OperationError) {
    return try body()
  } catch {
    throw .operation(error)
  }
}

private func synchronizing<Result>(
  _ body: () throws(SynchronizerError) -> Result
) throws(Failure) -> Result {
  do throws(SynchronizerError) {
    return try body()
  } catch {
    throw .synchronizer(error)
  }
}

// MARK: Sessions

/// One document as this page has it.
private final class Session {
  /// With all edits made here.
  var local: Document
  /// The server's text at the synchroniser's revision: what a snapshot is compared with.
  var server: Document
  var synchronizer: ClientSynchronizer
  /// The others' selections, in scalars of the local text.
  var peers: [(key: Int32, selection: Selection)] = []

  init(local: Document, server: Document, synchronizer: ClientSynchronizer) {
    self.local = local
    self.server = server
    self.synchronizer = synchronizer
  }

  /// Applies to the local text, and writes to the output what the editor has to do.
  func applyRemote(_ operation: TextOperation, author: Int32) throws(Failure) {
    writeChanges(of: operation, on: local)
    try operating { () throws(OperationError) in try local.apply(operation) }
    movePeers(over: operation, author: author)
  }

  func movePeers(over operation: TextOperation, author: Int32) {
    for index in peers.indices {
      peers[index].selection = peers[index].selection
        .transformed(over: operation, own: peers[index].key == author)
    }
  }
}

nonisolated(unsafe) private var sessions: [Session?] = []

private func session(_ handle: Int32) throws(Failure) -> Session {
  guard sessions.indices.contains(Int(handle)), let session = sessions[Int(handle)] else {
    throw .noSuchSession
  }
  return session
}

private func register(_ session: Session) -> Int32 {
  if let free = sessions.firstIndex(where: { $0 == nil }) {
    sessions[free] = session
    return Int32(free)
  }
  sessions.append(session)
  return Int32(sessions.count - 1)
}

/// Input: the server's text, then the epoch. Result: the session's handle.
@_expose(wasm, "session_open")
@_cdecl("session_open")
func sessionOpen(
  _ textCount: Int32, _ epochCount: Int32, _ revision: Int32, _ lastSequence: Int32
) -> Int32 {
  answering { () throws(Failure) in
    let (text, epoch) = try readSnapshot(textCount, epochCount)
    return register(
      Session(
        local: text, server: text,
        synchronizer: ClientSynchronizer(
          epoch: epoch, revision: Int(revision), nextSequence: Int(lastSequence) + 1)))
  }
}

private func readSnapshot(
  _ textCount: Int32, _ epochCount: Int32
) throws(Failure) -> (Document, String) {
  let textEnd = Int(textCount)
  let text = try operating { () throws(OperationError) in
    try Document(utf8: inputBytes(0..<textEnd))
  }
  let epoch = String(decoding: inputBytes(textEnd..<textEnd + Int(epochCount)), as: UTF8.self)
  return (text, epoch)
}

@_expose(wasm, "session_close")
@_cdecl("session_close")
func sessionClose(_ handle: Int32) -> Int32 {
  if sessions.indices.contains(Int(handle)) { sessions[Int(handle)] = nil }
  return 0
}

/// Output: revision, unconfirmed edits, sequence and base revision of the change in flight (0 and 0
/// when none is), and 1 if a text has overtaken it.
@_expose(wasm, "session_state")
@_cdecl("session_state")
func sessionState(_ handle: Int32) -> Int32 {
  answering { () throws(Failure) in
    let synchronizer = try session(handle).synchronizer
    let change = synchronizer.changeInFlight
    output.removeAll(keepingCapacity: true)
    outputNumber(synchronizer.revision)
    outputNumber(synchronizer.unconfirmedCount)
    outputNumber(change?.sequence ?? 0)
    outputNumber(change?.revision ?? 0)
    outputNumber(synchronizer.isOvertaken ? 1 : 0)
    return 0
  }
}

@_expose(wasm, "session_epoch")
@_cdecl("session_epoch")
func sessionEpoch(_ handle: Int32) -> Int32 {
  answering { () throws(Failure) in
    output = Array(try session(handle).synchronizer.epoch.utf8)
    return 0
  }
}

/// Output: the operation in flight, in JSON form.
@_expose(wasm, "session_in_flight")
@_cdecl("session_in_flight")
func sessionInFlight(_ handle: Int32) -> Int32 {
  answering { () throws(Failure) in
    let change = try session(handle).synchronizer.changeInFlight
    output.removeAll(keepingCapacity: true)
    change?.operation.appendJSON(to: &output)
    return 0
  }
}

/// Input: three numbers per change (from, to, bytes inserted), then the inserted texts. Result: 1
/// when the change in flight is to be sent.
@_expose(wasm, "session_edit")
@_cdecl("session_edit")
func sessionEdit(_ handle: Int32, _ changeCount: Int32) -> Int32 {
  answering { () throws(Failure) in
    let session = try session(handle)
    var operation = TextOperation(reservingComponents: Int(changeCount) * 3 + 1)
    var position = 0
    var textStart = Int(changeCount) * 12
    for index in 0..<Int(changeCount) {
      let from = session.local.scalarOffset(ofUTF16: inputNumber(index * 3))
      let to = session.local.scalarOffset(ofUTF16: inputNumber(index * 3 + 1))
      let textEnd = textStart + inputNumber(index * 3 + 2)
      guard position <= from, from <= to else {
        throw .operation(.lengthMismatch(expected: position, found: from))
      }
      operation.retain(from - position)
      try operating { () throws(OperationError) in
        try operation.insert(utf8: inputBytes(textStart..<textEnd))
      }
      operation.delete(to - from)
      position = to
      textStart = textEnd
    }
    guard position <= session.local.scalarCount else {
      throw .operation(
        .lengthMismatch(expected: session.local.scalarCount, found: position))
    }
    operation.retain(session.local.scalarCount - position)
    try operating { () throws(OperationError) in try session.local.apply(operation) }
    session.movePeers(over: operation, author: 0)
    let change = try synchronizing { () throws(SynchronizerError) in
      try session.synchronizer.edit(operation)
    }
    return change == nil ? 0 : 1
  }
}

/// Input: an operation in JSON form. Output: changes for the editor.
@_expose(wasm, "session_receive")
@_cdecl("session_receive")
func sessionReceive(
  _ handle: Int32, _ count: Int32, _ revision: Int32, _ author: Int32
) -> Int32 {
  answering { () throws(Failure) in
    let session = try session(handle)
    let operation = try readOperation(0..<Int(count))
    try session.receive(operation, revision: Int(revision), author: author)
    return 0
  }
}

extension Session {
  func receive(
    _ operation: TextOperation, revision: Int, author: Int32
  ) throws(Failure) {
    var serverAfter = server
    try operating { () throws(OperationError) in try serverAfter.apply(operation) }
    let toApply = try synchronizing { () throws(SynchronizerError) in
      try synchronizer.receive(operation, revision: revision)
    }
    server = serverAfter
    try applyRemote(toApply, author: author)
  }
}

/// Result: 1 when the change in flight is to be sent.
@_expose(wasm, "session_acknowledge")
@_cdecl("session_acknowledge")
func sessionAcknowledge(_ handle: Int32, _ sequence: Int32, _ revision: Int32) -> Int32 {
  answering { () throws(Failure) in
    let session = try session(handle)
    let stored = session.synchronizer.unacknowledged
    let known = session.synchronizer.revision
    let next = try synchronizing { () throws(SynchronizerError) in
      try session.synchronizer.acknowledge(sequence: Int(sequence), revision: Int(revision))
    }
    if let stored, session.synchronizer.revision > known {
      try operating { () throws(OperationError) in try session.server.apply(stored) }
    }
    return next == nil ? 0 : 1
  }
}

/// An own change came by that is not in flight: this session was restored from a state older than
/// that change, which therefore has in it whatever waited then. Takes it as the server's; what was
/// typed since stays.
///
/// Input: the operation in JSON form. Output: changes for the editor.
@_expose(wasm, "session_supersede")
@_cdecl("session_supersede")
func sessionSupersede(
  _ handle: Int32, _ count: Int32, _ sequence: Int32, _ revision: Int32
) -> Int32 {
  answering { () throws(Failure) in
    let session = try session(handle)
    let operation = try readOperation(0..<Int(count))
    var serverAfter = session.server
    try operating { () throws(OperationError) in try serverAfter.apply(operation) }
    let toApply = try synchronizing { () throws(SynchronizerError) in
      try session.synchronizer.supersede(
        from: session.server, to: serverAfter, sequence: Int(sequence), revision: Int(revision))
    }
    session.server = serverAfter
    try session.applyRemote(toApply, author: 0)
    return 0
  }
}

@_expose(wasm, "session_refuse")
@_cdecl("session_refuse")
func sessionRefuse(_ handle: Int32, _ sequence: Int32) -> Int32 {
  answering { () throws(Failure) in
    let session = try session(handle)
    try synchronizing { () throws(SynchronizerError) in
      try session.synchronizer.refuse(sequence: Int(sequence))
    }
    return 0
  }
}

/// Result: 1 when the change in flight is to be sent.
@_expose(wasm, "session_release")
@_cdecl("session_release")
func sessionRelease(_ handle: Int32) -> Int32 {
  answering { () throws(Failure) in
    try session(handle).synchronizer.release() == nil ? 0 : 1
  }
}

@_expose(wasm, "session_disconnect")
@_cdecl("session_disconnect")
func sessionDisconnect(_ handle: Int32) -> Int32 {
  answering { () throws(Failure) in
    try session(handle).synchronizer.disconnect()
    return 0
  }
}

/// To be called when everything that was missed has been received. `lastSequence` is -1 when the
/// server knows this client by the same id as before. Result: 1 when the change in flight is to be
/// sent.
@_expose(wasm, "session_reconnect")
@_cdecl("session_reconnect")
func sessionReconnect(_ handle: Int32, _ lastSequence: Int32) -> Int32 {
  answering { () throws(Failure) in
    let session = try session(handle)
    if lastSequence >= 0 { session.synchronizer.renumber(lastSequence: Int(lastSequence)) }
    return session.synchronizer.reconnect() == nil ? 0 : 1
  }
}

/// Input: the server's new text, then its epoch. Output: changes for the editor. Result: 1 when the
/// change in flight is to be sent.
@_expose(wasm, "session_rebase")
@_cdecl("session_rebase")
func sessionRebase(
  _ handle: Int32, _ textCount: Int32, _ epochCount: Int32, _ revision: Int32,
  _ lastSequence: Int32, _ isSameConnection: Int32
) -> Int32 {
  answering { () throws(Failure) in
    let session = try session(handle)
    let (text, epoch) = try readSnapshot(textCount, epochCount)
    let (apply, send) = try synchronizing { () throws(SynchronizerError) in
      try session.synchronizer.rebase(
        from: session.server, to: text, epoch: epoch, revision: Int(revision),
        lastSequence: Int(lastSequence), isSameConnection: isSameConnection != 0)
    }
    session.server = text
    try session.applyRemote(apply, author: 0)
    return send == nil ? 0 : 1
  }
}

@_expose(wasm, "session_text")
@_cdecl("session_text")
func sessionText(_ handle: Int32) -> Int32 {
  answering { () throws(Failure) in
    let session = try session(handle)
    output.removeAll(keepingCapacity: true)
    session.local.forEachChunk { output.append(contentsOf: $0) }
    return 0
  }
}

// MARK: Selections

/// Output: two numbers, in scalars of the local text.
@_expose(wasm, "session_scalar_selection")
@_cdecl("session_scalar_selection")
func sessionScalarSelection(_ handle: Int32, _ anchor: Int32, _ head: Int32) -> Int32 {
  answering { () throws(Failure) in
    let session = try session(handle)
    output.removeAll(keepingCapacity: true)
    outputNumber(session.local.scalarOffset(ofUTF16: Int(anchor)))
    outputNumber(session.local.scalarOffset(ofUTF16: Int(head)))
    return 0
  }
}

/// Input: two numbers per selection, in scalars of the server's text.
@_expose(wasm, "session_place_peer")
@_cdecl("session_place_peer")
func sessionPlacePeer(_ handle: Int32, _ key: Int32, _ count: Int32) -> Int32 {
  answering { () throws(Failure) in
    let session = try session(handle)
    session.peers.removeAll { $0.key == key }
    let pending = session.synchronizer.pending
    let end = session.server.scalarCount
    for index in 0..<Int(count) {
      var selection = Selection(
        anchor: min(inputNumber(index * 2), end), head: min(inputNumber(index * 2 + 1), end))
      if let pending { selection = selection.transformed(over: pending, own: false) }
      session.peers.append((key, selection))
    }
    return 0
  }
}

/// Key 0 stands for all.
@_expose(wasm, "session_remove_peer")
@_cdecl("session_remove_peer")
func sessionRemovePeer(_ handle: Int32, _ key: Int32) -> Int32 {
  answering { () throws(Failure) in
    try session(handle).peers.removeAll { key == 0 || $0.key == key }
    return 0
  }
}

/// Output: three numbers per selection: key, anchor, head.
@_expose(wasm, "session_peers")
@_cdecl("session_peers")
func sessionPeers(_ handle: Int32) -> Int32 {
  answering { () throws(Failure) in
    let session = try session(handle)
    output.removeAll(keepingCapacity: true)
    for (key, selection) in session.peers {
      outputNumber(Int(key))
      outputNumber(session.local.utf16Offset(ofScalar: selection.anchor))
      outputNumber(session.local.utf16Offset(ofScalar: selection.head))
    }
    return 0
  }
}

// MARK: Keeping

// A kept session is lengths and numbers in decimal, each line ended by a newline, then the pieces:
// epoch, local text, server text, and the operations in JSON form. It is text, so that it fits into
// a browser's storage. Both texts are left empty: the server's is kept beside the session and changes
// with the revision alone, so that keeping a long note after each edit costs as much as the edits; the
// local one follows from it.

private let keptForm: StaticString = "parley.session.3\n"
/// The same with both texts.
private let keptFormWithTexts: StaticString = "parley.session.2\n"
/// That without the last two numbers and the last piece.
private let oldestKeptForm: StaticString = "parley.session.1\n"

@_expose(wasm, "session_export")
@_cdecl("session_export")
func sessionExport(_ handle: Int32) -> Int32 {
  answering { () throws(Failure) in
    let session = try session(handle)
    let kept = session.synchronizer.kept
    var pieces: [[UInt8]] = [Array(kept.epoch.utf8), [], [], [], [], [], []]
    kept.inFlight?.operation.appendJSON(to: &pieces[3])
    kept.rebased?.appendJSON(to: &pieces[4])
    kept.buffer?.appendJSON(to: &pieces[5])
    kept.afterRestoring?.appendJSON(to: &pieces[6])
    var numbers = [
      kept.revision, kept.nextSequence, kept.bufferedEdits, kept.inFlight?.sequence ?? 0,
      kept.inFlight?.revision ?? 0,
    ]
    numbers.append(contentsOf: pieces.prefix(6).map { $0.count })
    numbers += [kept.editsAfterRestoring, pieces[6].count]
    output.removeAll(keepingCapacity: true)
    keptForm.withUTF8Buffer { output.append(contentsOf: $0) }
    for number in numbers {
      output.append(contentsOf: String(number).utf8)
      output.append(0x0a)
    }
    for piece in pieces { output.append(contentsOf: piece) }
    return 0
  }
}

/// Output: the server's text at the session's revision.
@_expose(wasm, "session_server_text")
@_cdecl("session_server_text")
func sessionServerText(_ handle: Int32) -> Int32 {
  answering { () throws(Failure) in
    let session = try session(handle)
    output.removeAll(keepingCapacity: true)
    session.server.forEachChunk { output.append(contentsOf: $0) }
    return 0
  }
}

/// Input: what `session_export` wrote, then the server's text at that revision. Result: a handle.
@_expose(wasm, "session_import")
@_cdecl("session_import")
func sessionImport(_ count: Int32, _ serverCount: Int32) -> Int32 {
  answering { () throws(Failure) in
    let end = Int(count)
    var reader = KeptReader(bytes: inputBytes(0..<end))
    let form = try reader.readForm()
    var numbers: [Int] = []
    for _ in 0..<(form == .oldest ? 11 : 13) { numbers.append(try reader.readNumber()) }
    if form == .oldest { numbers += [0, 0] }
    let epoch = String(decoding: try reader.readPiece(numbers[5]), as: UTF8.self)
    let keptLocal = try readDocument(try reader.readPiece(numbers[6]))
    let keptServer = try readDocument(try reader.readPiece(numbers[7]))
    let server =
      form == .withoutTexts
      ? try readDocument(inputBytes(end..<end + Int(serverCount))) : keptServer
    let sent = try reader.readPiece(numbers[8])
    let rebased = try reader.readPiece(numbers[9])
    let buffer = try reader.readPiece(numbers[10])
    let afterRestoring = try reader.readPiece(numbers[12])
    var kept = ClientSynchronizer.Kept(
      epoch: epoch, revision: numbers[0], nextSequence: numbers[1], bufferedEdits: numbers[2])
    if !sent.isEmpty {
      kept.inFlight = ClientSynchronizer.Change(
        sequence: numbers[3], revision: numbers[4], operation: try readOperation(sent))
      kept.rebased = try readOperation(rebased)
    }
    if !buffer.isEmpty { kept.buffer = try readOperation(buffer) }
    if !afterRestoring.isEmpty {
      kept.afterRestoring = try readOperation(afterRestoring)
      kept.editsAfterRestoring = numbers[11]
    }
    let synchronizer = ClientSynchronizer(kept)
    // The pieces must fit together, or some would be left out.
    let restored = synchronizer.kept
    guard restored.buffer == kept.buffer, restored.afterRestoring == kept.afterRestoring else {
      throw .unreadable
    }
    var local = server
    if let pending = synchronizer.pending {
      try operating { () throws(OperationError) in try local.apply(pending) }
    }
    guard form == .withoutTexts || local == keptLocal else { throw .unreadable }
    return register(Session(local: local, server: server, synchronizer: synchronizer))
  }
}

private enum KeptForm {
  case withoutTexts
  case withTexts
  case oldest
}

private struct KeptReader {
  let bytes: UnsafeBufferPointer<UInt8>
  var position = 0

  mutating func readForm() throws(Failure) -> KeptForm {
    let forms: [(StaticString, KeptForm)] = [
      (keptForm, .withoutTexts), (keptFormWithTexts, .withTexts), (oldestKeptForm, .oldest),
    ]
    for (text, form) in forms {
      let isThis = text.withUTF8Buffer { text in
        bytes.count >= text.count && bytes[..<text.count].elementsEqual(text)
      }
      guard isThis else { continue }
      position = text.utf8CodeUnitCount
      return form
    }
    throw .unreadable
  }

  mutating func readNumber() throws(Failure) -> Int {
    var number = 0
    while position < bytes.count, bytes[position] != 0x0a {
      let digit = Int(bytes[position]) - 0x30
      guard (0...9).contains(digit), number < 100_000_000 else { throw .unreadable }
      number = number * 10 + digit
      position += 1
    }
    guard position < bytes.count else { throw .unreadable }
    position += 1
    return number
  }

  mutating func readPiece(_ count: Int) throws(Failure) -> UnsafeBufferPointer<UInt8> {
    guard count <= bytes.count - position else { throw .unreadable }
    defer { position += count }
    return UnsafeBufferPointer(rebasing: bytes[position..<position + count])
  }
}

// MARK: Operations

private func readDocument(_ bytes: UnsafeBufferPointer<UInt8>) throws(Failure) -> Document {
  try operating { () throws(OperationError) in try Document(utf8: bytes) }
}

private func readOperation(
  _ bytes: UnsafeBufferPointer<UInt8>
) throws(Failure) -> TextOperation {
  try operating { () throws(OperationError) in try TextOperation(json: bytes) }
}

private func readOperation(_ range: Range<Int>) throws(Failure) -> TextOperation {
  try readOperation(inputBytes(range))
}

/// Writes an operation as changes of a CodeMirror document: their number, then three numbers each
/// (from, to, bytes inserted), then the inserted texts.
private func writeChanges(of operation: TextOperation, on document: Document) {
  var changes: [(from: Int, to: Int, bytes: Int)] = []
  var texts: [UInt8] = []
  var position = 0
  var isOpen = false
  operation.forEachPacked { kind, length, text in
    if kind == .retain {
      position += length
      isOpen = false
      return
    }
    // What stands between two retains is one replacement to the editor.
    if !isOpen { changes.append((position, position, 0)) }
    isOpen = true
    if kind == .insert {
      changes[changes.count - 1].bytes += text.count
      texts.append(contentsOf: text)
    } else {
      position += length
      changes[changes.count - 1].to = position
    }
  }
  output.removeAll(keepingCapacity: true)
  outputNumber(changes.count)
  for change in changes {
    outputNumber(document.utf16Offset(ofScalar: change.from))
    outputNumber(document.utf16Offset(ofScalar: change.to))
    outputNumber(change.bytes)
  }
  output.append(contentsOf: texts)
}

/// Input: two operations in JSON form. Output: both moved past each other, the first one's inserts
/// left. Result: the bytes of the first.
@_expose(wasm, "operation_transform")
@_cdecl("operation_transform")
func operationTransform(_ leftCount: Int32, _ rightCount: Int32) -> Int32 {
  answering { () throws(Failure) in
    let leftEnd = Int(leftCount)
    let left = try readOperation(0..<leftEnd)
    let right = try readOperation(leftEnd..<leftEnd + Int(rightCount))
    let (leftAfter, rightAfter) = try operating { () throws(OperationError) in
      try TextOperation.transform(left, right)
    }
    output.removeAll(keepingCapacity: true)
    leftAfter.appendJSON(to: &output)
    let count = output.count
    rightAfter.appendJSON(to: &output)
    return Int32(count)
  }
}

/// Input: an operation in JSON form, then a text. Output: the text afterwards.
@_expose(wasm, "operation_apply")
@_cdecl("operation_apply")
func operationApply(_ operationCount: Int32, _ textCount: Int32) -> Int32 {
  answering { () throws(Failure) in
    let operationEnd = Int(operationCount)
    let operation = try readOperation(0..<operationEnd)
    var document = try readDocument(inputBytes(operationEnd..<operationEnd + Int(textCount)))
    try operating { () throws(OperationError) in try document.apply(operation) }
    output.removeAll(keepingCapacity: true)
    document.forEachChunk { output.append(contentsOf: $0) }
    return 0
  }
}
