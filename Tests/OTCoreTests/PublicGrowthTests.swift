import Foundation
import ParleyGrowthKit
import OTCore
import Testing

/// The cost of each public operation of the main types when its input grows eightfold.
@Suite("Growth of all public operations", .serialized)
struct PublicGrowthTests {
  /// Public declarations, and a law that measures little else.
  struct Row: Sendable, CustomTestStringConvertible {
    let names: [String]
    let law: GrowthLaw

    init(_ names: String..., law: GrowthLaw) {
      self.names = names
      self.law = law
    }

    var testDescription: String { names.joined(separator: ", ") }
  }

  // MARK: Inputs

  /// Returns an operation of `components` components, half of them retains, on a text as long.
  private static func operation(_ components: Int) -> TextOperation {
    var operation = TextOperation()
    for index in 0..<components / 4 {
      operation.retain(2)
      operation.insert(index % 2 == 0 ? "a" : "é")
      operation.retain(1)
      operation.delete(1)
    }
    return operation
  }

  /// Returns a text of scalars of one to four bytes, with newlines.
  private static func text(_ scalars: Int) -> String {
    var text = String.UnicodeScalarView()
    let letters: [Unicode.Scalar] = ["a", "b", "é", "中", " ", "😀", "c", "\n"]
    for index in 0..<scalars { text.append(letters[index % letters.count]) }
    return String(text)
  }

  private static func json(_ components: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    operation(components).appendJSON(to: &bytes)
    return bytes
  }

  /// Returns single edits at various positions of a text of `length` scalars.
  private static func history(_ count: Int, length: Int) -> [TextOperation] {
    var history: [TextOperation] = []
    var length = length
    for index in 0..<count {
      let place = index &* 7919 % (length + 1)
      var edit = TextOperation()
      edit.retain(place)
      edit.insert("x")
      edit.retain(length - place)
      history.append(edit)
      length += 1
    }
    return history
  }

  private static func done<Result>(_ body: () throws -> Result) -> Result {
    do { return try body() } catch { preconditionFailure("\(error)") }
  }

  /// A law about an operation with as many components as the size.
  private static func onOperation(
    _ name: String, size: Int = 4_000, _ run: @escaping @Sendable (TextOperation) throws -> Void
  ) -> GrowthLaw {
    GrowthLaw(name, size: size, prepare: operation) { operation in done { try run(operation) } }
  }

  /// A law about a document with as many scalars as the size, and one query per 64 scalars.
  private static func onDocument(
    _ name: String, size: Int = 8_000, _ run: @escaping @Sendable (Document, Int) -> Void
  ) -> GrowthLaw {
    GrowthLaw(name, size: size, prepare: { Document(text($0)) }) { document in
      for step in 0..<document.scalarCount / 64 { run(document, step * 64 + step % 64) }
    }
  }

  // MARK: The table

  private static let operationRows: [Row] = [
    Row(
      "TextOperation.retain(_:)", "TextOperation.delete(_:)", "TextOperation.insert(_:)",
      law: GrowthLaw("build", size: 4_000, prepare: { $0 }) { _ = operation($0) }),
    Row(
      "TextOperation.insert(utf8:)", "TextOperation.init(reservingComponents:textBytes:)",
      law: GrowthLaw("build of bytes", size: 4_000, prepare: { $0 }) { size in
        var operation = TextOperation(reservingComponents: size, textBytes: size)
        for _ in 0..<size / 2 {
          done { try operation.insert(utf8: [0x61]) }
          operation.retain(1)
        }
      }),
    Row(
      "TextOperation.init(replacing:with:length:)",
      law: GrowthLaw("replace a range", size: 20_000, prepare: text) { text in
        _ = done { try TextOperation(replacing: 1..<2, with: text, length: 3) }
      }),
    Row(
      "TextOperation.forEachPacked(_:)",
      law: onOperation("walk") { operation in
        var sum = 0
        operation.forEachPacked { sum += $1 + $2.count }
        precondition(sum > 0)
      }),
    Row("TextOperation.components", law: onOperation("list") { _ = $0.components }),
    Row(
      "TextOperation.description", "TextOperation.debugDescription",
      law: onOperation("describe") { _ = "\($0)" }),
    Row(
      "TextOperation.==",
      law: GrowthLaw("compare", size: 8_000, prepare: { (operation($0), operation($0)) }) {
        precondition($0.0 == $0.1)
      }),
    Row("TextOperation.hash(into:)", law: onOperation("hash") { _ = $0.hashValue }),
    Row(
      "TextOperation.appendJSON(to:)",
      law: onOperation("write") { operation in
        var bytes: [UInt8] = []
        operation.appendJSON(to: &bytes)
      }),
    Row(
      "TextOperation.init(json:)",
      law: GrowthLaw("read", size: 4_000, prepare: json) { bytes in
        _ = done { try TextOperation(json: bytes) }
      }),
    Row(
      "TextOperation.encode(to:)",
      law: onOperation("encode", size: 1_000) { _ = try JSONEncoder().encode($0) }),
    Row(
      "TextOperation.init(from:)",
      law: GrowthLaw("decode", size: 1_000, prepare: { Data(json($0)) }) { data in
        _ = done { try JSONDecoder().decode(TextOperation.self, from: data) }
      }),
    Row(
      "TextOperation.applied(to:)",
      law: GrowthLaw("apply to a text", size: 4_000, prepare: { (operation($0), text($0)) }) {
        input in _ = done { try input.0.applied(to: input.1) }
      }),
    Row(
      "TextOperation.inverted(on:)",
      law: GrowthLaw(
        "invert", size: 4_000, prepare: { (operation($0), Document(text($0))) }
      ) { input in _ = done { try input.0.inverted(on: input.1) } }),
    Row(
      "TextOperation.composed(with:)",
      law: onOperation("compose") { _ = try $0.composed(with: $0) }),
    Row(
      "TextOperation.transform(_:_:)",
      law: onOperation("transform both") { _ = try TextOperation.transform($0, $0) }),
    Row(
      "TextOperation.transformed(over:side:)",
      law: onOperation("transform one") { _ = try $0.transformed(over: $0, side: .right) }),
    Row(
      "TextOperation.rebase(over:side:)", "TextOperation.rebased(over:side:)",
      law: GrowthLaw(
        "rebase", size: 2_000, prepare: { (operation($0), history($0 / 2, length: $0)) }
      ) { input in _ = done { try input.0.rebased(over: input.1[...], side: .right) } }),
    Row(
      "TextOperation.split(within:)",
      law: onOperation("split") { operation in
        precondition(operation.split(within: .init(componentsMax: 500)).count > 1)
      }),
    Row(
      "TextOperation.init(changing:into:)",
      law: GrowthLaw(
        "difference", size: 8_000,
        prepare: { size -> (Document, Document) in
          let old = text(size)
          return (Document(old), Document(done { try operation(size).applied(to: old) }))
        }
      ) { _ = TextOperation(changing: $0.0, into: $0.1) }),
    Row(
      "TextOperation.init(replacing:by:)",
      law: GrowthLaw(
        "replacement", size: 20_000,
        prepare: { (Document(text($0)), Document("a" + text($0) + "b")) }
      ) { _ = TextOperation(replacing: $0.0, by: $0.1) }),
  ]

  private static let documentRows: [Row] = [
    Row(
      "Document.init(_:)",
      law: GrowthLaw("make", size: 50_000, prepare: text) { _ = Document($0) }),
    Row(
      "Document.init(utf8:)",
      law: GrowthLaw("make of bytes", size: 50_000, prepare: { Array(text($0).utf8) }) { bytes in
        bytes.withUnsafeBufferPointer { bytes in _ = done { try Document(utf8: bytes) } }
      }),
    Row(
      "Document.text",
      law: GrowthLaw("read a document", size: 100_000, prepare: { Document(text($0)) }) {
        precondition(!$0.text.isEmpty)
      }),
    Row(
      "Document.forEachChunk(_:)",
      law: GrowthLaw("walk a document", size: 100_000, prepare: { Document(text($0)) }) {
        var sum = 0
        $0.forEachChunk { sum += $0.count }
        precondition(sum > 0)
      }),
    Row(
      "Document.==",
      law: GrowthLaw(
        "compare documents", size: 100_000, prepare: { (Document(text($0)), Document(text($0))) }
      ) { precondition($0.0 == $0.1) }),
    Row(
      "Document.apply(_:)",
      law: GrowthLaw(
        "apply", size: 4_000, prepareEach: { (operation($0), Document(text($0))) }
      ) { input in done { try input.1.apply(input.0) } }),
    Row(
      "Document.replace(_:with:)",
      law: GrowthLaw("replace", size: 2_000, prepareEach: { Document(text($0)) }) { document in
        for step in 0..<document.scalarCount / 2 {
          let place = step &* 7919 % document.scalarCount
          done { try document.replace(place..<place + 1, with: "é") }
        }
      }),
    Row(
      "Document.utf16Offset(ofScalar:)",
      law: onDocument("UTF-16 of scalars") { _ = $0.utf16Offset(ofScalar: $1) }),
    Row(
      "Document.utf8Offset(ofScalar:)",
      law: onDocument("UTF-8 of scalars") { _ = $0.utf8Offset(ofScalar: $1) }),
    Row("Document.line(ofScalar:)", law: onDocument("lines") { _ = $0.line(ofScalar: $1) }),
    Row(
      "Document.scalarOffset(ofUTF16:)",
      law: onDocument("scalars of UTF-16") { _ = $0.scalarOffset(ofUTF16: $1) }),
    Row(
      "Document.scalarOffset(ofUTF8:)",
      law: onDocument("scalars of UTF-8") { _ = $0.scalarOffset(ofUTF8: $1) }),
    Row(
      "Document.scalarOffset(ofLine:)",
      law: onDocument("scalars of lines") { _ = $0.scalarOffset(ofLine: $1 / 8) }),
    Row(
      "Document.text(in:)", "Document.appendUTF8(in:to:)",
      law: onDocument("parts") { document, place in _ = document.text(in: place / 2..<place / 2 + 9)
      }),
  ]

  /// Returns a client with one change in flight and another waiting.
  private static func waiting(_ components: Int) -> ClientSynchronizer {
    var synchronizer = ClientSynchronizer(epoch: "e", revision: 0)
    let first = operation(components)
    done {
      _ = try synchronizer.edit(first)
      var second = operation(components)
      second.retain(first.targetLength - second.baseLength)
      _ = try synchronizer.edit(second)
    }
    return synchronizer
  }

  private static func sequencer(_ count: Int) -> ServerSequencer {
    ServerSequencer(
      document: Document(String(repeating: "x", count: count + 8)), revision: count,
      recent: history(count, length: 8))
  }

  private static let endRows: [Row] = [
    Row(
      "ClientSynchronizer.edit(_:)",
      law: GrowthLaw("edit", size: 4_000, prepareEach: waiting) { synchronizer in
        done {
          _ = try synchronizer.edit(.identity(length: synchronizer.pending?.targetLength ?? 0))
        }
      }),
    Row(
      "ClientSynchronizer.receive(_:revision:)",
      law: GrowthLaw(
        "receive", size: 4_000, prepareEach: { (waiting($0), operation($0)) }
      ) { input in done { _ = try input.0.receive(input.1, revision: 1) } }),
    Row(
      "ClientSynchronizer.acknowledge(sequence:revision:)", "ClientSynchronizer.pending",
      law: GrowthLaw("acknowledge", size: 4_000, prepareEach: waiting) { synchronizer in
        precondition(synchronizer.pending != nil)
        done { _ = try synchronizer.acknowledge(sequence: 1, revision: 1) }
      }),
    Row(
      "ClientSynchronizer.refuse(sequence:)", "ClientSynchronizer.release()",
      law: GrowthLaw("refuse", size: 4_000, prepareEach: waiting) { synchronizer in
        done { try synchronizer.refuse(sequence: 1) }
        precondition(synchronizer.release() != nil)
      }),
    Row(
      "ClientSynchronizer.renumber(lastSequence:)", "ClientSynchronizer.reconnect()",
      law: GrowthLaw("renumber", size: 4_000, prepareEach: waiting) { synchronizer in
        synchronizer.renumber(lastSequence: 0)
        precondition(synchronizer.reconnect() != nil)
      }),
    Row(
      "ClientSynchronizer.kept", "ClientSynchronizer.init(_:)",
      law: GrowthLaw("keep", size: 4_000, prepareEach: waiting) { synchronizer in
        // The state shares its parts with the synchroniser; only the later calls depend on the
        // size.
        var restored = ClientSynchronizer(synchronizer.kept)
        precondition(restored.reconnect() != nil && restored.pending != nil)
      }),
    Row(
      "ClientSynchronizer.rebase(from:to:epoch:revision:lastSequence:formerSequence:isSameConnection:)",
      law: GrowthLaw(
        "rebase on a text", size: 4_000,
        prepareEach: { (waiting($0), Document(text($0)), Document("a" + text($0))) }
      ) { input in
        done {
          _ = try input.0.rebase(
            from: input.1, to: input.2, epoch: "f", revision: 9, lastSequence: 0)
        }
      }),
    Row(
      "ClientSynchronizer.supersede(from:to:sequence:revision:)",
      law: GrowthLaw(
        "supersede", size: 4_000,
        prepareEach: { (waiting($0), Document(text($0)), Document("a" + text($0))) }
      ) { input in
        done { _ = try input.0.supersede(from: input.1, to: input.2, sequence: 3, revision: 1) }
      }),
    Row(
      "ServerSequencer.submit(_:at:)", "ServerSequencer.operations(after:)",
      law: GrowthLaw("submit", size: 1_000, prepareEach: sequencer) { sequencer in
        var change = TextOperation()
        change.insert("y")
        change.retain(8)
        for step in 0..<20 {
          _ = done { try sequencer.submit(change, at: 0) }
          precondition(sequencer.operations(after: 0).count == sequencer.revision)
          precondition(step < 20)
        }
      }),
    Row(
      "ServerSequencer.markDurable(through:)", "ServerSequencer.rollBack()",
      law: GrowthLaw(
        "make durable", size: 1_000,
        prepareEach: { size -> ServerSequencer in
          var sequencer = ServerSequencer(document: Document("12345678"), revision: 0)
          for edit in history(size, length: 8) {
            done { _ = try sequencer.submit(edit, at: sequencer.revision) }
          }
          return sequencer
        }
      ) { sequencer in
        sequencer.markDurable(through: sequencer.revision / 2)
        sequencer.rollBack()
      }),
    Row(
      "ServerSequencer.trim(keeping:)", "ServerSequencer.prepend(_:formats:)",
      "ServerSequencer.init(document:revision:recent:)",
      law: GrowthLaw("trim one by one", size: 4_000, prepareEach: sequencer) { sequencer in
        let older = Array(sequencer.operations(after: 0).prefix(sequencer.revision / 2))
        for kept in (0..<sequencer.revision).reversed() { sequencer.trim(keeping: kept) }
        precondition(sequencer.oldestBase == sequencer.revision)
        sequencer.prepend(older)
      }),
  ]

  private static let placeRows: [Row] = [
    Row(
      "Cursor.transform(_:over:own:)",
      law: GrowthLaw(
        "move many cursors", size: 4_000, prepare: { ([operation($0)], Array(0..<$0 / 2)) }
      ) { input in
        var cursors = input.1
        Cursor.transform(&cursors, over: input.0[...], own: false)
      }),
    Row(
      "Cursor.transformed(_:over:own:)", "Selection.transformed(over:own:)",
      law: onOperation("move a selection", size: 16_000) { operation in
        let end = operation.baseLength
        _ = Selection(anchor: end, head: end - 1).transformed(over: operation, own: true)
      }),
  ]

  private static let familyRows: [Row] = [
    Row(
      "TextOperation.isInsertFirst", "TextOperation.insertingFirst()",
      "TextOperation.retainingRest(of:)", "TextOperation.countingInsertsInUTF16()",
      law: onOperation("insert first", size: 16_000) { operation in
        let ordered = operation.insertingFirst()
        precondition(ordered.isInsertFirst)
        _ = try ordered.retainingRest(of: ordered.baseLength + 1).countingInsertsInUTF16()
      }),
    Row(
      "TextOperation.inUTF16(on:)", "TextOperation.inScalars(on:)",
      law: GrowthLaw(
        "count in UTF-16", size: 4_000,
        prepare: { size -> (TextOperation, Document) in
          let operation = operation(size)
          return (operation, Document(text(operation.baseLength)))
        }
      ) { input in
        let units = done { try input.0.inUTF16(on: input.1) }
        precondition(done { try units.inScalars(on: input.1) } == input.0)
      }),
    Row(
      "TextOperation.rebased(over:by:)",
      law: GrowthLaw("rebase by a family's rules", size: 2_000, prepare: { history($0, length: 8) })
      { history in
        var own: TextOperation = [.insert("y")]
        own.retain(8)
        _ = done { try own.rebased(over: history[...], by: .otJS) }
      }),
    Row(
      "ServerSequencer.history(after:by:in:)", "ServerSequencer.rebased(_:at:by:in:)",
      "ServerSequencer.repetition(of:at:by:in:isOwn:)",
      law: GrowthLaw("rebase for a family", size: 2_000, prepareEach: sequencer) { sequencer in
        var own: TextOperation = [.insert("y")]
        own.retain(8)
        _ = done { try sequencer.rebased(own, at: 0, by: .rustpad) }
        _ = done { try sequencer.repetition(of: own, at: 0, by: .rustpad) { _ in true } }
      }),
  ]

  private static let rows = placeRows + operationRows + documentRows + endRows + familyRows

  /// Declarations without a row, and the reasons.
  private static let exceptions: [String: [String]] = [
    "takes no input that could be large": [
      "TextOperation.init()", "TextOperation.identity(length:)", "TextOperation.lengthMax",
      "TextOperation.customMirror",
      "Selection.init(anchor:head:)", "Selection.anchor", "Selection.head",
      "ClientSynchronizer.init(epoch:revision:nextSequence:)", "ClientSynchronizer.disconnect()",
    ],
    "takes what a program spells out": ["TextOperation.init(arrayLiteral:)"],
    "reads a number that is kept": [
      "TextOperation.baseLength", "TextOperation.targetLength", "TextOperation.componentCount",
      "TextOperation.insertedBytes", "TextOperation.isIdentity",
      "Document.scalarCount", "Document.utf8Count", "Document.utf16Count", "Document.lineCount",
      "ClientSynchronizer.epoch", "ClientSynchronizer.revision", "ClientSynchronizer.isConnected",
      "ClientSynchronizer.isHeld", "ClientSynchronizer.unconfirmedCount",
      "ClientSynchronizer.isOvertaken", "ClientSynchronizer.isPart", "ClientSynchronizer.limits",
      "ServerSequencer.revision", "ServerSequencer.durableRevision", "ServerSequencer.oldestBase",
    ],
    "hands out what it has": [
      "ClientSynchronizer.unacknowledged", "ClientSynchronizer.changeInFlight",
      "ClientSynchronizer.retry()",
      "ServerSequencer.document", "ServerSequencer.durableDocument",
      "ServerSequencer.content", "ServerSequencer.durableContent",
      "ServerSequencer.formats(after:)", "TextOperation.text", "TextOperation.writtenAttributes",
    ],
    "does what another one does, which has a row": [
      "TextOperation.apply(to:)", "ServerSequencer.init(content:revision:recent:formats:)",
      "ServerSequencer.submit(_:at:growth:within:)",
      "ServerSequencer.submit(inheriting:at:within:)",
    ],
    "walks the edits that wait once": [
      "ClientSynchronizer.dropFormats()", "ClientSynchronizer.makeRichAgain()",
    ],
  ]

  @Test("eight times as large an input costs at most sixteen times as much", arguments: rows)
  func growth(row: Row) {
    let finding = row.law.check()
    #expect(finding.holds, "\(finding)")
  }

  // MARK: Completeness

  @Test("every public declaration has a row, or a reason for none")
  func completeness() throws {
    let declared = try Self.declarations()
    #expect(declared.count > 80)
    let listed = Self.rows.flatMap(\.names) + Self.exceptions.values.flatMap(\.self)
    let known = Set(listed)
    #expect(known.count == listed.count, "a name is listed twice")
    #expect(declared.subtracting(known).isEmpty, "these have neither a row nor a reason")
    #expect(known.subtracting(declared).isEmpty, "listed, and not declared")
  }

  private static func declarations() throws -> Set<String> {
    let types = [
      "TextOperation", "Document", "Synchronizer", "ServerSequencer", "Cursor", "Selection",
    ]
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Sources/OTCore").resolvingSymlinksInPath()
    var found: Set<String> = []
    for file in try FileManager.default.contentsOfDirectory(
      at: sources, includingPropertiesForKeys: nil) where file.pathExtension == "swift"
    {
      var code = try String(contentsOf: file, encoding: .utf8)
      // Declarations within `#if` are indented by one level.
      code.replace(/(?s)\n#if .*?\n#endif/) { $0.output.replacing("\n  ", with: "\n") }
      // An extension or type begins a line. Its members are indented once, members of nested types
      // twice.
      for part in code.split(separator: /\n(?=(?:\w+ )*(?:extension|struct|enum|class) )/) {
        guard let type = part.firstMatch(of: /(?:extension|struct|enum|class) (\w+)/)?.1,
          types.contains(String(type))
        else { continue }
        let member =
          /\n  public (?:(?:internal|private)\(set\) )?(?:mutating |static )*(?:(?:func|var|let) ([\w=]+)|(init))(\([^{]*)?/
        for match in part.matches(of: member) {
          let name = match.1 ?? match.2 ?? ""
          let owner = type == "Synchronizer" ? "ClientSynchronizer" : type
          found.insert("\(owner).\(name)\(match.3.map { Self.labels($0) } ?? "")")
        }
      }
    }
    return found
  }

  /// The labels of a list of parameters: `(over:side:)`.
  private static func labels(_ list: Substring) -> String {
    var depth = 0
    var labels = "("
    var label = ""
    var isLabel = true
    for character in list {
      switch character {
      case "(", "[", "<":
        depth += 1
      case ")", "]", ">":
        depth -= 1
        if depth == 0 { return labels + ")" }
      case ",": isLabel = depth == 1
      case ":" where depth == 1 && isLabel:
        labels += label.split(separator: " ").first.map { $0 + ":" } ?? ""
        label = ""
        isLabel = false
      default: break
      }
      if depth == 1, isLabel, character != ",", character != "(" {
        label.append(character.isNewline ? " " : character)
      }
    }
    return labels + ")"
  }
}
