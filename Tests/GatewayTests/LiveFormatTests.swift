import Gateway
import ParleyGatewayPorts
import OTCore
import ParleyOTWorkloads
import Testing

@Suite("Formatting in a document's log")
struct LiveFormatTests {
  private static func document(
    _ content: NoteContent = NoteContent("The fox"), kind: NoteKind = .rich,
    isShared: Bool = false
  ) -> LiveDocument {
    LiveDocument(
      StoredDocument(
        summary: NoteSummary(
          id: "note", title: "Note", revision: 0, createdAt: 0, updatedAt: 0, kind: kind),
        epoch: "epoch", content: content, recent: [], marks: [:],
        chain: isShared ? LogChain(high: 0, low: 0) : nil))
  }

  private static func change(
    _ operation: TextOperation, _ format: String?, client: String = "ada", sequence: Int = 1,
    revision: Int = 0, knowsFormats: Bool = true
  ) throws -> LiveDocument.Submission {
    LiveDocument.Submission(
      client: client, sequence: sequence, revision: revision, operation: operation,
      format: try format.flatMap { try ChangeFormat(json: Array($0.utf8), of: operation) },
      knowsFormats: knowsFormats, author: client, time: 0)
  }

  private static let same = TextOperation.identity(length: 7)
  private static let bold = #"{"sets":[{"bold":true}],"kept":[0,3,1]}"#
  private static let richBold = #"{"kind":"rich","sets":[{"bold":true}],"kept":[0,3,1]}"#

  private static func commit(_ document: inout LiveDocument) -> [LogEntry] {
    guard document.takeCommit() != nil else { return [] }
    return Array(document.commitSucceeded())
  }

  @Test("a plain note becomes a rich one by a change that says so, and by no other")
  func kind() throws {
    var document = Self.document(kind: .plain)
    #expect(
      document.submit(try Self.change(Self.same, Self.bold), scalarsMax: 100)
        == .refused(.plainNote))
    // The author's number is not used up.
    #expect(
      document.submit(try Self.change(Self.same, Self.richBold), scalarsMax: 100)
        == .accepted(revision: 1))
    #expect(document.isRich && document.durableKind == .plain)
    // A failed commit takes the kind back, with everything built on it.
    #expect(
      document.submit(
        try Self.change(Self.same, Self.bold, client: "ben"), scalarsMax: 100)
        == .accepted(revision: 2))
    _ = document.takeCommit()
    #expect(document.commitFailed().count == 2)
    #expect(!document.isRich)
    #expect(
      document.submit(
        try Self.change(Self.same, Self.bold, client: "ben"), scalarsMax: 100)
        == .refused(.plainNote))
    #expect(
      document.submit(try Self.change(Self.same, Self.richBold), scalarsMax: 100)
        == .accepted(revision: 1))
    let entries = Self.commit(&document)
    #expect(entries.first?.format == (try Self.change(Self.same, Self.richBold).format))
    #expect(document.durableKind == .rich)
    #expect(
      document.durableContent.document.attributes(at: 2)
        == (try AttributeSet(json: #"{"bold":true}"#)))
  }

  @Test("the kind alone is a change, and stays when it is said again")
  func kindAlone() throws {
    var document = Self.document(kind: .plain)
    let kind = #"{"kind":"rich"}"#
    _ = document.submit(try Self.change(Self.same, kind), scalarsMax: 100)
    #expect(Self.commit(&document).first?.format?.makesRich == true)
    _ = document.submit(try Self.change(Self.same, kind, client: "ben"), scalarsMax: 100)
    #expect(Self.commit(&document).first?.format?.makesRich == true)
    #expect(document.durableKind == .rich)
  }

  @Test("formatting of a client that did not ask for formatting is refused")
  func unknownFormats() throws {
    var document = Self.document()
    #expect(
      document.submit(
        try Self.change(Self.same, Self.bold, knowsFormats: false), scalarsMax: 100)
        == .refused(.formatsUnknown))
  }

  @Test(
    "a repetition is recognised with its formatting, whoever sends it",
    arguments: [10, 20_000])
  func repetition(spans: Int) throws {
    var document = Self.document(NoteContent(String(repeating: "ab", count: spans)))
    let operation = TextOperation.identity(length: 2 * spans)
    func format(_ value: Int) -> String {
      let triples = repeatElement("1,1,1", count: spans).joined(separator: ",")
      return #"{"sets":[{"size":\#(value)}],"kept":[\#(triples)]}"#
    }
    func submit(_ format: String?, knowsFormats: Bool = true) throws -> LiveDocument.Outcome {
      document.submit(
        try Self.change(operation, format, knowsFormats: knowsFormats), scalarsMax: .max)
    }
    #expect(try submit(format(1)) == .accepted(revision: 1))
    #expect(try submit(format(1)) == .duplicatePending)
    _ = Self.commit(&document)
    #expect(try submit(format(1)) == .duplicate(revision: 1))
    // The client has joined again without formats.
    #expect(try submit(format(1), knowsFormats: false) == .duplicate(revision: 1))
    #expect(try submit(format(2)) == .refused(.sequenceReused(last: 1)))
    #expect(try submit(nil) == .refused(.sequenceReused(last: 1)))
  }

  @Test("a plain client's text is rebased first, and inherits from the text around it then")
  func inheriting() throws {
    var document = Self.document()
    _ = document.submit(
      try Self.change([.insert("old "), .retain(3), .delete(4)], Self.bold), scalarsMax: 100)
    // The same length as before: the place has moved into bold text.
    let typed = try Self.change(
      [.retain(3), .insert("x"), .retain(4)], nil, client: "ben", knowsFormats: false)
    #expect(document.submit(typed, scalarsMax: 100) == .accepted(revision: 2))
    let entry = try #require(Self.commit(&document).last)
    #expect(entry.operation == [.retain(7), .insert("x")])
    #expect(
      entry.format
        == (try ChangeFormat(
          json: Array(#"{"sets":[{"bold":true}],"put":[1,1]}"#.utf8), of: entry.operation)))
    // U+FFFC is a character, and no image, if a plain client types it.
    _ = document.submit(
      try Self.change(
        [.insert("\u{fffc}"), .retain(8)], nil, client: "ben", sequence: 2, revision: 2,
        knowsFormats: false), scalarsMax: 100)
    #expect(Self.commit(&document).last?.format == nil)
  }

  @Test("entries of other writers keep their formatting, kind and texts")
  func adoption() throws {
    var document = Self.document(kind: .plain, isShared: true)
    _ = document.submit(try Self.change(Self.same, Self.richBold), scalarsMax: 100)
    let theirs = [
      LogEntry(
        revision: 1, client: "eve", sequence: 1, digest: 1, operation: [.delete(1), .retain(6)],
        format: ChangeFormat(nil, makesRich: true), author: "Eve", time: 1),
      LogEntry(
        revision: 2, client: "eve", sequence: 2, digest: 2, operation: .identity(length: 6),
        format: try ChangeFormat(
          json: Array(#"{"sets":[{"bold":1}],"kept":[0,1,1]}"#.utf8),
          of: .identity(length: 6)), author: "Eve", time: 2),
    ]
    let withdrawn = document.withdraw()
    #expect(!document.isRich)
    #expect(document.adopt(theirs).map(\.format) == theirs.map(\.format))
    #expect(document.isRich && document.durableKind == .rich)
    for change in withdrawn {
      #expect(document.submit(change.submission, scalarsMax: 100) == .accepted(revision: 3))
    }
    // The committed value of the first letter stays.
    let entry = try #require(Self.commit(&document).first)
    let expected = #"{"kind":"rich","sets":[{"bold":true}],"kept":[1,1,1]}"#
    #expect(entry.format == (try ChangeFormat(json: Array(expected.utf8), of: entry.operation)))
  }

  @Test("a change is rebased over older entries that were read again with their formatting")
  func prepended() throws {
    var document = Self.document()
    _ = document.submit(try Self.change(Self.same, Self.bold), scalarsMax: 100)
    var entries = Self.commit(&document)
    for sequence in 2...9 {
      _ = document.submit(
        try Self.change(Self.same, nil, sequence: sequence, revision: sequence - 1),
        scalarsMax: 100)
      entries += Self.commit(&document)
    }
    document.trim(keeping: 4)
    #expect(document.oldestBase > 0)
    document.prepend(Array(entries.prefix(document.oldestBase)))
    let late = try Self.change(
      Self.same, #"{"sets":[{"bold":null}],"kept":[0,7,1]}"#, client: "ben")
    #expect(document.submit(late, scalarsMax: 100) == .accepted(revision: 10))
    let expected = #"{"sets":[{"bold":null}],"kept":[3,4,1]}"#
    #expect(
      Self.commit(&document).last?.format
        == (try ChangeFormat(json: Array(expected.utf8), of: Self.same)))
  }

  @Test("spans count as components, and with the changes that they are moved over")
  func limits() throws {
    var document = Self.document()
    let three = #"{"sets":[{"bold":true}],"kept":[0,1,1,1,1,1,1,1,1]}"#
    #expect(
      document.submit(
        try Self.change(Self.same, three), scalarsMax: 100, componentsMax: 5)
        == .refused(.tooManyComponents(componentsMax: 5)))
    #expect(
      document.submit(
        try Self.change(Self.same, three), scalarsMax: 100, componentsMax: 6)
        == .accepted(revision: 1))
    let late = try Self.change([.retain(7), .insert("!")], nil, client: "ben")
    #expect(document.submit(late, scalarsMax: 100, historyComponentsMax: 5) == .tooMuchHistory)
    #expect(
      document.submit(late, scalarsMax: 100, historyComponentsMax: 6)
        == .accepted(revision: 2))
    let keys = (0..<16).map { "\"k\($0)\":1" }.joined(separator: ",")
    let many = #"{"sets":[{\#(keys)}],"kept":[0,1,1]}"#
    #expect(
      document.submit(
        try Self.change(Self.same, many, client: "eve"), scalarsMax: 100)
        == .refused(.operation(.tooManyKeys(max: 16))))
  }

  @Test("a text is the same with formatting and without it", arguments: UInt64(1)...20)
  func plainLaw(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let units = ReferenceRich.text(scalars: 12, using: &random)
    var document = Self.document(NoteContent(ReferenceRich.document(units)))
    var plain = Self.document(NoteContent(ReferenceRich.document(units).text), kind: .plain)
    var text = plain.durableDocument
    var texts = [text]
    for number in 1...40 {
      let base = random.between(max(0, texts.count - 6), texts.count - 1)
      let rich = ReferenceRich.random(length: texts[base].scalarCount, using: &random).packed
      let knows = random.chance(50)
      var change = try Self.change(
        rich.text, nil, client: "client \(number)", revision: base, knowsFormats: knows)
      #expect(plain.submit(change, scalarsMax: .max) == .accepted(revision: number))
      if knows { change.format = ChangeFormat(rich.format) }
      #expect(document.submit(change, scalarsMax: .max) == .accepted(revision: number))
      let (one, two) = (Self.commit(&document), Self.commit(&plain))
      #expect(one.map(\.operation) == two.map(\.operation))
      for entry in one { try text.apply(entry.operation) }
      #expect(text == document.durableDocument)
      document.durableContent.document.checkInvariants()
      texts.append(text)
    }
  }
}
