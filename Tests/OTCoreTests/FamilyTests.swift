import FoundationEssentials
import OTCore
import ParleyOTWorkloads
import Testing

/// Builds operations with the lengths of the families.
enum FamilyNotation {
  /// Returns the operation of components, whose inserts are counted in the unit of the rules.
  static func operation(
    _ components: [TextOperation.Component], _ rules: FamilyRules
  ) -> TextOperation {
    var inScalars = TextOperation()
    var text = ""
    for component in components {
      switch component {
      case .retain(let count):
        inScalars.retain(count)
        text += String(repeating: "x", count: count)
      case .delete(let count):
        inScalars.delete(count)
        text += String(repeating: "x", count: count)
      case .insert(let inserted): inScalars.insert(inserted)
      }
    }
    guard rules.unit == .utf16 else { return inScalars }
    // On a text without scalars beyond U+FFFF, only inserts change their lengths.
    guard let converted = try? inScalars.inUTF16(on: Document(text)) else {
      fatalError("not convertible")
    }
    return converted
  }
}

/// A text in the unit of a family, as an array: a model of the family's own text.
struct UnitText: Equatable {
  var units: [UInt32]
  let unit: FamilyRules.Unit

  init(_ text: String, _ unit: FamilyRules.Unit) {
    self.unit = unit
    units = Self.units(of: text, unit)
  }

  private static func units(of text: String, _ unit: FamilyRules.Unit) -> [UInt32] {
    unit == .utf16 ? text.utf16.map { UInt32($0) } : text.unicodeScalars.map(\.value)
  }

  var string: String {
    guard unit == .utf16 else {
      return OTCoreTests.string(units.compactMap { Unicode.Scalar($0) })
    }
    return String(decoding: units.map { UInt16($0) }, as: UTF16.self)
  }

  /// Applies an operation; `nil` if its base length differs from the text's length.
  func applying(_ operation: TextOperation) -> UnitText? {
    guard operation.baseLength == units.count else { return nil }
    var result = self
    result.units = []
    var place = 0
    for component in operation.components {
      switch component {
      case .retain(let count):
        result.units += units[place..<place + count]
        place += count
      case .delete(let count): place += count
      case .insert(let text): result.units += Self.units(of: text, unit)
      }
    }
    return result.units.count == operation.targetLength ? result : nil
  }

  /// Returns a random operation on the text, in its unit.
  func randomOperation(using random: inout SplitMix64) -> TextOperation {
    let scalars = Array(string.unicodeScalars)
    let operation = TextOperation.random(
      length: scalars.count, edits: random.between(1, 2), using: &random)
    guard unit == .utf16 else { return operation }
    var place = 0
    func width(_ count: Int) -> Int {
      defer { place += count }
      return scalars[place..<place + count].reduce(0) { $0 + UTF16.width($1) }
    }
    let components = operation.components.map { component -> TextOperation.Component in
      switch component {
      case .retain(let count): .retain(width(count))
      case .delete(let count): .delete(width(count))
      case .insert(let text): .insert(text)
      }
    }
    return FamilyNotation.operation(components, .otJS)
  }
}

@Suite("Families of clients")
struct FamilyTests {
  static let families: [FamilyRules] = [.native, .shareDBText, .rustpad, .otJS]

  // MARK: Examples

  @Test(arguments: [
    ("-1 +x", "+x -1"), ("=2 -1 +x -2 +y =1", "=2 +xy -3 =1"), ("+a -1 +b", "+ab -1"),
    ("=1 -1 =1 +x", "=1 -1 =1 +x"), ("", ""),
    ("-3 +a-text-longer-than-eight-bytes =1 -1 +b", "+a-text-longer-than-eight-bytes -3 =1 +b -1"),
  ])
  func inserts_come_first(operation: String, expected: String) throws {
    let ordered = op(operation).insertingFirst()
    #expect(ordered == op(expected))
    #expect(ordered.isInsertFirst)
    #expect(op(operation).isInsertFirst == (operation == expected))
    #expect(ordered.insertingFirst() == ordered)
  }

  /// A client's operation `own`, made on a text into which `committed` has inserted meanwhile.
  @Test func a_tie_is_won_by_the_side_of_the_family() throws {
    for (rules, expected) in [
      (FamilyRules.native, "aCOb"), (.shareDBText, "aOCb"), (.rustpad, "aOCb"), (.otJS, "aOCb"),
    ] {
      var server = ServerSequencer(document: Document("ab"), revision: 0)
      _ = try server.submit(op("=1 +C =1"), at: 0)
      server.markDurable(through: 1)
      var view = FamilyView(rules, at: 0)
      try view.append(op("=1 +C =1"), on: Document("ab"))
      let own = try server.rebased(op("=1 +O =1"), at: 0, by: rules, in: view)
      _ = try server.submit(own, at: 1)
      #expect(server.document == Document(expected))
    }
  }

  @Test func an_open_operation_retains_the_rest() throws {
    var server = ServerSequencer(document: Document("abc"), revision: 0)
    _ = try server.submit(op("=3 +de"), at: 0)
    #expect(try server.rebased(op("=1 +x"), at: 0, by: .shareDBText) == op("=1 +x =4"))
    #expect(try server.rebased(op("=1 +x"), at: 1, by: .shareDBText) == op("=1 +x =4"))
    #expect(throws: SequencerError.self) { try server.rebased(op("=1 +x"), at: 0, by: .rustpad) }
    #expect(throws: SequencerError.self) {
      try server.rebased(op("=9 +x"), at: 0, by: .shareDBText)
    }
  }

  @Test func inserts_of_read_operations_are_counted_in_utf16() throws {
    let sent = try read(#"[2,"a😀",-1]"#)
    #expect(sent.targetLength == 4)
    let counted = try sent.countingInsertsInUTF16()
    #expect(counted.targetLength == 5)
    #expect(json(counted) == json(sent))
    #expect(try op("=2 +abc").countingInsertsInUTF16() == op("=2 +abc"))
    let server = ServerSequencer(document: Document("😀b"), revision: 0)
    #expect(try server.rebased(counted, at: 0, by: .otJS) == op("=1 +a😀 -1"))
  }

  @Test func a_position_inside_a_surrogate_pair_is_refused() throws {
    let server = ServerSequencer(document: Document("a😀b"), revision: 0)
    #expect(try server.rebased(op("=1 -2 =1"), at: 0, by: .otJS) == op("=1 -1 =1"))
    #expect(throws: SequencerError.operation(.malformed(offset: 0))) {
      try server.rebased(op("=2 +x =2"), at: 0, by: .otJS)
    }
    #expect(throws: SequencerError.operation(.malformed(offset: 0))) {
      try server.rebased(op("=1 -1 =2"), at: 0, by: .otJS)
    }
    #expect(throws: SequencerError.operation(.lengthMismatch(expected: 4, found: 3))) {
      try server.rebased(op("=3 +x"), at: 0, by: .otJS)
    }
  }

  @Test func without_a_view_older_bases_are_gone() throws {
    var server = ServerSequencer(document: Document("ab"), revision: 4)
    _ = try server.submit(op("=2 +c"), at: 4)
    server.markDurable(through: 5)
    #expect(throws: SequencerError.historyGone(oldestBase: 5)) {
      try server.rebased(op("=2"), at: 4, by: .otJS)
    }
    #expect(try server.rebased(op("=3"), at: 5, by: .otJS) == op("=3"))
    #expect(throws: SequencerError.historyGone(oldestBase: 5)) {
      try server.rebased(op("=2"), at: 4, by: .otJS, in: FamilyView(.otJS, at: 5))
    }
  }

  @Test func a_view_is_trimmed() throws {
    var view = FamilyView(.otJS, at: 0)
    for _ in 0..<5 { try view.append(op("=1"), on: Document("a")) }
    view.trim(keeping: 2)
    #expect(view.oldestBase == 3)
    #expect(view.revision == 5)
    #expect(view.operations(after: 4).count == 1)
  }

  @Test func an_operation_that_is_sent_again_is_recognised() throws {
    var server = ServerSequencer(document: Document("ab"), revision: 0)
    for entry in ["=1 +x =1", "=3 +mine", "+y =7"] {
      _ = try server.submit(op(entry), at: server.revision)
    }
    func repetition(_ operation: String, at base: Int, of own: Set<Int>) throws -> Int? {
      try server.repetition(of: op(operation), at: base, by: .rustpad) { own.contains($0) }
    }
    #expect(try repetition("=2 +mine", at: 0, of: [2]) == 2)
    #expect(try repetition("=3 +mine", at: 1, of: [2]) == 2)
    // Of other authors, with other text, or after the entry was received, it is a new one.
    #expect(try repetition("=2 +mine", at: 0, of: []) == nil)
    #expect(try repetition("=2 +mine", at: 0, of: [1, 3]) == nil)
    #expect(try repetition("=2 +mind", at: 0, of: [2]) == nil)
    #expect(try repetition("=7 +mine", at: 2, of: [2]) == nil)
  }

  // MARK: Laws

  /// Each entry of a view leads from the text before to the text after, in the unit of the family.
  @Test(arguments: Seeds.smoke)
  func entries_of_views_apply_to_the_familys_text(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for rules in Self.families {
      var document = Document(RandomTexts.text(scalars: random.below(12), using: &random))
      var model = UnitText(document.text, rules.unit)
      for _ in 0..<40 {
        let entry = TextOperation.random(length: document.scalarCount, using: &random)
        let form = try FamilyView.form(of: entry, on: document, by: rules)
        if rules.order == .insertFirst { #expect(form.isInsertFirst) }
        if rules.unit == .utf16 {
          #expect(try form.inScalars(on: document) == entry.insertingFirst())
        }
        try document.apply(entry)
        model = try #require(model.applying(form), "seed \(seed)")
        #expect(model == UnitText(document.text, rules.unit), "seed \(seed)")
      }
    }
  }

  /// The folder with recorded results of the families' own libraries, uncompressed; optional.
  private static let vectors = ProcessInfo.processInfo.environment["PARLEY_FAMILY_VECTORS"]

  @Test(
    .enabled(if: vectors != nil),
    arguments: [("otjs", FamilyRules.otJS), ("text-unicode", .shareDBText)])
  func recorded_results_of_the_original_libraries(file: String, rules: FamilyRules) throws {
    let folder = try #require(Self.vectors)
    let data = try Data(contentsOf: URL(filePath: "\(folder)/\(file).jsonl"))
    var count = 0
    for line in data.split(separator: 0x0a) {
      let vector = try JSONDecoder().decode(Recorded.self, from: line)
      var server = ServerSequencer(document: Document(vector.doc), revision: 0)
      let first = vector.committed.operation(rules)
      let committed = try server.rebased(first, at: 0, by: rules)
      var view = FamilyView(rules, at: 0)
      try view.append(committed, on: Document(vector.doc))
      _ = try server.submit(committed, at: 0)
      server.markDurable(through: 1)
      let incoming = vector.incoming.operation(rules)
      let rebased = try server.rebased(incoming, at: 0, by: rules, in: view)
      let result = try server.rebased(
        vector.result.operation(rules), at: 1, by: rules, in: view)
      #expect(rebased == result, "line \(count + 1) of \(file)")
      _ = try server.submit(rebased, at: 1)
      #expect(scalars(server.document.text) == scalars(vector.text), "line \(count + 1) of \(file)")
      count += 1
    }
    #expect(count > 100)
  }

  /// A line of a recorded file.
  private struct Recorded: Decodable {
    let doc: String
    let committed: Components
    let incoming: Components
    let result: Components
    let text: String
  }

  private struct Components: Decodable {
    var components: [TextOperation.Component] = []

    private struct Deletion: Decodable { let d: Int }

    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      while !list.isAtEnd {
        if let text = try? list.decode(String.self) {
          components.append(.insert(text))
        } else if let count = try? list.decode(Int.self) {
          components.append(count < 0 ? .delete(-count) : .retain(count))
        } else {
          components.append(.delete(try list.decode(Deletion.self).d))
        }
      }
    }

    func operation(_ rules: FamilyRules) -> TextOperation {
      FamilyNotation.operation(components, rules)
    }
  }
}
