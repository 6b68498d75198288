public import OTCore
import SocketMessages

/// The stored state of a note with unconfirmed edits. Another process restores it. Each edit is
/// then stored on the server exactly once, whether or not the server has stored the sent change.
///
/// The encoded form is text: a line that names the form, then decimal numbers, each followed by a
/// newline, then the strings whose lengths are among the numbers. The server's text is stored
/// separately, because it is long and rarely changes: if ``textTag`` is unchanged since the last
/// write, write only ``encodedEdits()``. The attributes of a rich note's text follow the text.
public struct KeptNote: Sendable {
  /// The fields, which are shared by copies.
  private final class Fields: Sendable {
    let documentID: String
    let clientID: String
    let title: String
    let change: ChangeName?
    let synchronizer: RichSynchronizer.Kept
    let server: RichDocument
    let local: RichDocument
    let kind: NoteKind
    let hasFormats: Bool

    init(
      _ documentID: String, _ clientID: String, _ title: String, _ change: ChangeName?,
      _ synchronizer: RichSynchronizer.Kept, server: RichDocument, local: RichDocument,
      _ kind: NoteKind, hasFormats: Bool
    ) {
      self.documentID = documentID
      self.clientID = clientID
      self.title = title
      self.change = change
      self.synchronizer = synchronizer
      self.server = server
      self.local = local
      self.kind = kind
      self.hasFormats = hasFormats
    }
  }

  private let fields: Fields

  init(
    documentID: String, clientID: String, title: String, change: ChangeName?,
    synchronizer: RichSynchronizer.Kept, server: RichDocument, local: RichDocument,
    kind: NoteKind, hasFormats: Bool
  ) {
    fields = Fields(
      documentID, clientID, title, change, synchronizer, server: server, local: local, kind,
      hasFormats: hasFormats)
  }

  /// The document's id.
  public var documentID: String { fields.documentID }
  /// The client id under which the edits were sent. If another client id restores them, the client
  /// asks the server which of the edits are stored, and sends the rest as its own.
  public var clientID: String { fields.clientID }
  /// The note's title.
  public var title: String { fields.title }
  /// The change that created the newest revision known.
  var change: ChangeName? { fields.change }
  var synchronizer: RichSynchronizer.Kept { fields.synchronizer }
  /// The server's text at that revision, with its attributes.
  var serverContent: RichDocument { fields.server }
  /// The text on the screen, with its attributes.
  var localContent: RichDocument { fields.local }
  /// The server's kind of the note.
  var kind: NoteKind { fields.kind }
  /// Whether attributes were requested with the text.
  var hasFormats: Bool { fields.hasFormats }

  /// The server's text at the newest revision known.
  public var server: Document { serverContent.text }

  /// The text on the screen.
  public var local: Document { localContent.text }

  /// Whether an unconfirmed edit makes the note a rich one.
  var makesRich: Bool {
    let operations = [synchronizer.rebased, synchronizer.buffer, synchronizer.afterRestoring]
    return operations.contains { $0?.makesRich ?? false }
  }

  /// Whether the note has formatting. Other notes are stored in the form that older versions read.
  private var isRich: Bool { kind == .rich || makesRich }

  /// A tag that identifies the server's text and its attributes among all versions of this note.
  public var textTag: String {
    (isRich && hasFormats ? "f" : "") + String(synchronizer.revision) + " " + synchronizer.epoch
  }

  /// Whether a change is in flight and further edits wait for it.
  package var isInParts: Bool { synchronizer.inFlight != nil && synchronizer.buffer != nil }

  /// The number of unconfirmed edits.
  public var editCount: Int {
    (synchronizer.inFlight == nil ? 0 : 1) + synchronizer.bufferedEdits
      + synchronizer.editsAfterRestoring
  }
}

extension KeptNote: Equatable {
  /// Whether both have the same encoded edits and the same text.
  public static func == (one: Self, other: Self) -> Bool {
    one.encodedEdits() == other.encodedEdits() && one.serverContent == other.serverContent
  }
}

/// The reason why bytes cannot be read as a stored note.
public enum KeptNoteError: Error, Sendable, Equatable {
  /// The bytes begin with an unknown form; another version has written them.
  case unknownForm
  /// The bytes are truncated or invalid from this offset on.
  case unreadable(offset: Int)
  /// The operations do not fit the text.
  case doesNotFit
}

extension KeptNote {
  static let form: StaticString = "parley.note.1\n"
  /// The form of a rich note. It has further numbers (the kind, whether the attributes are known,
  /// the bytes of the server's text) and the formats of the operations.
  static let richForm: StaticString = "parley.note.2\n"

  /// The client id in a copy, and in edits on a copy until a server was reached.
  static var noClientID: String { "" }

  /// Returns the edits in encoded form, without the server's text.
  ///
  /// - Complexity: O(edits).
  public func encodedEdits() -> [UInt8] {
    var pieces: [[UInt8]] = [
      Array(documentID.utf8), Array(clientID.utf8), Array(title.utf8),
      Array(synchronizer.epoch.utf8), Array((change?.clientID ?? "").utf8), [], [], [], [],
    ]
    let operations = [
      synchronizer.inFlight?.operation, synchronizer.rebased ?? synchronizer.inFlight?.operation,
      synchronizer.buffer, synchronizer.afterRestoring,
    ]
    for index in operations.indices { operations[index]?.text.appendJSON(to: &pieces[5 + index]) }
    if isRich {
      for operation in operations {
        var format: [UInt8] = []
        operation?.changeFormat?.appendJSON(to: &format)
        pieces.append(format)
      }
    }
    var bytes: [UInt8] = []
    (isRich ? Self.richForm : Self.form).withUTF8Buffer { bytes.append(contentsOf: $0) }
    func append(_ number: Int64) {
      bytes.append(contentsOf: String(number).utf8)
      bytes.append(UInt8(ascii: "\n"))
    }
    append(Int64(synchronizer.revision))
    append(Int64(synchronizer.nextSequence))
    append(Int64(synchronizer.inFlight?.sequence ?? 0))
    append(Int64(synchronizer.inFlight?.revision ?? 0))
    append(Int64(synchronizer.bufferedEdits))
    append(Int64(synchronizer.editsAfterRestoring))
    append(change == nil ? 0 : 1)
    append(Int64(change?.sequence ?? 0))
    append(change?.time == nil ? 0 : 1)
    append(change?.time ?? 0)
    if isRich {
      append(kind == .rich ? 1 : 0)
      append(hasFormats ? 1 : 0)
      append(Int64(server.utf8Count))
    }
    for piece in pieces { append(Int64(piece.count)) }
    for piece in pieces { bytes.append(contentsOf: piece) }
    return bytes
  }

  /// Returns the server's text, in UTF-8. The attributes of a rich note follow as JSON.
  public func encodedText() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(server.utf8Count)
    server.forEachChunk { bytes.append(contentsOf: $0) }
    if isRich, serverContent.hasAttributes { serverContent.appendFormatJSON(to: &bytes) }
    return bytes
  }

  /// Decodes the results of ``encodedEdits()`` and ``encodedText()``.
  public init(edits: [UInt8], text: [UInt8]) throws(KeptNoteError) {
    var reader = KeptReader(bytes: edits)
    let isRich = try reader.isRichForm()
    let revision = try reader.count()
    let nextSequence = try reader.count()
    let sequence = try reader.count()
    let base = try reader.count()
    let bufferedEdits = try reader.count()
    let editsAfterRestoring = try reader.count()
    let hasChange = try reader.number() != 0
    let changeSequence = try reader.count()
    let hasTime = try reader.number() != 0
    let time = try reader.number()
    let kind: NoteKind = isRich ? try reader.count() != 0 ? .rich : .plain : .plain
    let hasFormats = isRich ? try reader.count() != 0 : false
    let textCount = isRich ? try reader.count() : text.count
    var lengths: [Int] = []
    for _ in 0..<(isRich ? 13 : 9) { lengths.append(try reader.count()) }
    let documentID = try reader.text(lengths[0])
    let clientID = try reader.text(lengths[1])
    let title = try reader.text(lengths[2])
    let epoch = try reader.text(lengths[3])
    let changeClient = try reader.text(lengths[4])
    var operations: [RichOperation?] = []
    for index in 5..<9 { operations.append(try reader.operation(lengths[index])) }
    for index in 9..<lengths.count {
      operations[index - 9] = try reader.format(lengths[index], of: operations[index - 9])
    }
    let (sent, rebased) = (operations[0], operations[1])
    let (buffer, afterRestoring) = (operations[2], operations[3])
    try reader.finish()
    guard nextSequence >= 1, sent == nil || sequence >= 1 && sequence < nextSequence else {
      throw .unreadable(offset: 0)
    }
    let change =
      hasChange
      ? ChangeName(clientID: changeClient, sequence: changeSequence, time: hasTime ? time : nil)
      : nil
    var kept = RichSynchronizer.Kept(
      epoch: epoch, revision: revision, nextSequence: nextSequence, buffer: buffer,
      bufferedEdits: bufferedEdits, afterRestoring: afterRestoring,
      editsAfterRestoring: editsAfterRestoring)
    if let sent {
      kept.inFlight = .init(sequence: sequence, revision: base, operation: sent)
      kept.rebased = rebased ?? sent
    }
    let (server, local) = try Self.texts(of: kept, text: text, textCount: textCount)
    self.init(
      documentID: documentID, clientID: clientID, title: title, change: change,
      synchronizer: kept, server: server, local: local, kind: kind, hasFormats: hasFormats)
  }

  /// Decodes the server's text, and applies the unconfirmed edits. Edits that do not fit are an
  /// error here, because the first received change would fail otherwise.
  private static func texts(
    of kept: RichSynchronizer.Kept, text: [UInt8], textCount: Int
  ) throws(KeptNoteError) -> (server: RichDocument, local: RichDocument) {
    guard textCount <= text.count else { throw .doesNotFit }
    do throws(OperationError) {
      var server = RichDocument(try Document.decoding(text[..<textCount]))
      if textCount < text.count {
        server = try RichDocument(server.text, formatJSON: Array(text[textCount...]))
      }
      var local = server
      if let rebased = kept.rebased { try local.apply(rebased) }
      if let buffer = kept.buffer { try local.apply(buffer) }
      if let afterRestoring = kept.afterRestoring { try local.apply(afterRestoring) }
      return (server, local)
    } catch {
      throw .doesNotFit
    }
  }
}

extension Document {
  fileprivate static func decoding(_ bytes: ArraySlice<UInt8>) throws(OperationError) -> Document {
    let result = bytes.withUnsafeBufferPointer { bytes in
      do throws(OperationError) {
        return Result<Document, OperationError>.success(try Document(utf8: bytes))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}

/// Reads numbers and strings from the front of bytes. Nothing is inlined, to keep the browser's
/// program small.
private struct KeptReader {
  let bytes: [UInt8]
  var position = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// Reads the name of the form, and returns whether it is that of a rich note.
  mutating func isRichForm() throws(KeptNoteError) -> Bool {
    for isRich in [false, true] {
      let form = isRich ? KeptNote.richForm : KeptNote.form
      let isThis = form.withUTF8Buffer { bytes.starts(with: $0) }
      guard isThis else { continue }
      position = form.utf8CodeUnitCount
      return isRich
    }
    throw .unknownForm
  }

  /// Reads an integer, which may be negative.
  @inline(never)
  mutating func number() throws(KeptNoteError) -> Int64 {
    let start = position
    var isNegative = false
    var number: Int64 = 0
    var digits = 0
    while position < bytes.count, bytes[position] != UInt8(ascii: "\n") {
      let byte = bytes[position]
      position += 1
      if digits == 0, !isNegative, byte == UInt8(ascii: "-") {
        isNegative = true
        continue
      }
      digits += 1
      guard byte >= 0x30, byte <= 0x39, digits <= 18 else { throw .unreadable(offset: start) }
      number = number &* 10 &+ Int64(byte &- 0x30)
    }
    guard digits > 0, position < bytes.count else { throw .unreadable(offset: start) }
    position += 1
    return isNegative ? -number : number
  }

  /// Reads a number that is not negative and fits into an `Int`, which may have 32 bits.
  @inline(never)
  mutating func count() throws(KeptNoteError) -> Int {
    let start = position
    let number = try number()
    guard number >= 0, number < Int64(Int32.max) || Int.bitWidth > 32,
      let count = Int(exactly: number)
    else { throw .unreadable(offset: start) }
    return count
  }

  @inline(never)
  mutating func piece(_ count: Int) throws(KeptNoteError) -> ArraySlice<UInt8> {
    guard count <= bytes.count - position else { throw .unreadable(offset: position) }
    defer { position += count }
    return bytes[position..<position + count]
  }

  @inline(never)
  mutating func text(_ count: Int) throws(KeptNoteError) -> String {
    let start = position
    let piece = try piece(count)
    let text = String(decoding: piece, as: UTF8.self)
    guard Array(text.utf8) == Array(piece) else { throw .unreadable(offset: start) }
    return text
  }

  /// Reads an operation in JSON form; `nil` for zero bytes.
  @inline(never)
  mutating func operation(_ count: Int) throws(KeptNoteError) -> RichOperation? {
    guard count > 0 else { return nil }
    let start = position
    let piece = try piece(count)
    let read = piece.withUnsafeBufferPointer { TextOperation(messageJSON: $0) }
    guard let read else { throw .unreadable(offset: start) }
    return RichOperation(read)
  }

  /// Reads the format of an operation; the operation itself for zero bytes.
  @inline(never)
  mutating func format(
    _ count: Int, of operation: RichOperation?
  ) throws(KeptNoteError) -> RichOperation? {
    guard count > 0 else { return operation }
    let start = position
    let piece = try piece(count)
    guard let operation else { throw .unreadable(offset: start) }
    do throws(OperationError) {
      return RichOperation(
        operation.text, try ChangeFormat(json: Array(piece), of: operation.text, setsMax: .max))
    } catch {
      throw .unreadable(offset: start)
    }
  }

  func finish() throws(KeptNoteError) {
    guard position == bytes.count else { throw .unreadable(offset: position) }
  }
}
