import Foundation
import OTCore
import ParleyClient
import ParleyOTWorkloads
import ParleyUI
import SocketMessages
import Testing

/// A text view without a screen, over an attributed string. Typed text has the attributes of the
/// text before it, as in Apple's views.
@MainActor final class FormattedFake: FormattedTextView {
  weak var binding: NoteBinding?
  let storage = NSMutableAttributedString(string: "")
  var selected = 0..<0
  private(set) var marked: Range<Int>?
  private(set) var disturbances = 0

  init(_ binding: NoteBinding) {
    self.binding = binding
    binding.attach(self)
  }

  var wholeText: String { storage.string }
  var utf16Count: Int { storage.length }
  var isComposing: Bool { marked != nil }
  var selectedUnits: Range<Int> { selected }

  func replace(_ range: Range<Int>, with text: String) {
    if isComposing { disturbances += 1 }
    change(range, text)
    binding?.textChanged(in: range, to: text)
    binding?.settle()
  }

  func show(_ runs: [FormattedRun]) {
    if isComposing { disturbances += 1 }
    storage.show(runs)
  }

  func select(_ range: Range<Int>) {
    selected = range
    binding?.selectionChanged()
  }

  func show(_ carets: [RemoteCaret]) {}
  func show(_ problem: NoteError) {}

  private func change(_ range: Range<Int>, _ text: String) {
    let place = NSRange(location: range.lowerBound, length: range.count)
    storage.replaceCharacters(in: place, with: text)
    selected = min(selected.lowerBound, utf16Count)..<min(selected.upperBound, utf16Count)
  }

  // MARK: A person

  func edit(_ range: Range<Int>, _ text: String) {
    change(range, text)
    binding?.textChanged(in: range, to: text)
    let end = range.lowerBound + text.utf16.count
    selected = end..<end
    binding?.selectionChanged()
    binding?.settle()
  }

  func type(_ text: String) { edit(selected, text) }

  func compose(_ text: String) {
    let range = marked ?? selected
    change(range, text)
    marked = range.lowerBound..<range.lowerBound + text.utf16.count
    binding?.textChanged(in: range, to: text)
    selected = range.lowerBound + text.utf16.count..<range.lowerBound + text.utf16.count
    binding?.selectionChanged()
    binding?.settle()
  }

  func endComposing() {
    marked = nil
    binding?.settle()
  }
}

@MainActor @Suite("A formatted text view bound to a note", .timeLimit(.minutes(30)))
struct FormattedBindingTests {
  /// A formatted note on a scripted server, and a view that shows it.
  @MainActor final class Desk {
    let server: ScriptedServer
    let time = ManualTime()
    let parley: Parley
    let note: Note
    let binding: NoteBinding
    let view: FormattedFake

    init(_ text: String, _ format: String = #"{"sets":[],"runs":[]}"#) async throws {
      server = ScriptedServer(
        formatted: try RichDocument(Document(text), formatJSON: Array(format.utf8)))
      parley = Parley(transport: server, as: "Ann", time: time, seed: 1)
      note = parley.note("n", formats: true)
      try await note.opened()
      binding = NoteBinding(note, time: time)
      view = FormattedFake(binding)
    }

    /// Others change the note, and the change arrives.
    func others(_ build: (inout RichOperationBuilder) -> Void) async throws {
      try await note.saved()
      var builder = RichOperationBuilder()
      build(&builder)
      let wanted = try #require(server.formatted).after(builder.finished())
      server.change(formatted: builder.finished())
      await until { [note] in note.delta == NoteDelta(wanted) }
    }

    /// Waits until the server has all; compares what it, the note and the view have, and returns it.
    func agreed() async throws -> [NoteDelta.Operation] {
      try await note.saved()
      let content = try #require(server.formatted)
      let delta = NoteDelta(content)
      #expect(note.delta == delta)
      #expect(view.wholeText.utf8.elementsEqual(content.text.text.utf8))
      #expect(view.storage.noteDelta(of: 0..<view.utf16Count).joined == delta.joined)
      return delta.joined
    }
  }

  private static let bold = #"{"sets":[{"bold":true},{"block":"h1"}],"runs":[5,0,5,1,1,0,1,2]}"#

  @Test("a view shows attributes of text and of lines")
  func showing() async throws {
    let desk = try await Desk("Hello world\nb\n", Self.bold)
    #expect(
      desk.view.storage.noteRuns(in: 0..<14) == [
        FormattedRun(range: 0..<5, line: ["header": .number(1)]),
        FormattedRun(range: 5..<10, attributes: ["bold": .set], line: ["header": .number(1)]),
        FormattedRun(range: 10..<12, line: ["header": .number(1)]),
        FormattedRun(range: 12..<14),
      ])
  }

  @Test("typed text takes the formatting around it, and a heading ends with its line")
  func typing() async throws {
    let desk = try await Desk(
      "Title bold\n", #"{"sets":[{"bold":true},{"block":"h1"}],"runs":[6,0,4,1,1,2]}"#)
    desk.view.select(10..<10)
    desk.view.type("er")
    desk.view.type("\nx")
    #expect(
      try await desk.agreed() == [
        .insert("Title ", [:]), .insert("bolder", ["bold": .set]),
        .insert("\n", ["header": .number(1)]), .insert("x\n", [:]),
      ])
    #expect(desk.binding.undo() && desk.binding.undo())
    #expect(
      try await desk.agreed() == [
        .insert("Title ", [:]), .insert("bold", ["bold": .set]),
        .insert("\n", ["header": .number(1)]),
      ])
  }

  @Test("a link ends where it ends, though the view continues its attributes")
  func links() async throws {
    let desk = try await Desk("see here", #"{"sets":[{"link":"/n/x"}],"runs":[4,0,4,1]}"#)
    desk.view.select(8..<8)
    desk.view.type("!")
    #expect(
      try await desk.agreed() == [
        .insert("see ", [:]), .insert("here", ["link": .text("/n/x")]), .insert("!", [:]),
      ])
  }

  @Test("selected text and lines are formatted, in one undo step each")
  func formatting() async throws {
    let desk = try await Desk("one two\nthree")
    desk.view.select(4..<7)
    #expect(desk.binding.format(["bold": .set]))
    #expect(desk.binding.selectedAttributes == ["bold": .set])
    desk.view.select(0..<10)
    #expect(desk.binding.format(["list": .text("bullet")]))
    let items: [NoteDelta.Operation] = [
      .insert("one ", [:]), .insert("two", ["bold": .set]),
      .insert("\n", ["list": .text("bullet")]),
      .insert("three", [:]), .insert("\n", ["list": .text("bullet")]),
    ]
    #expect(try await desk.agreed() == items)
    #expect(desk.binding.undo())
    #expect(
      try await desk.agreed()
        == [.insert("one ", [:]), .insert("two", ["bold": .set]), .insert("\nthree", [:])])
    #expect(desk.binding.redo())
    #expect(try await desk.agreed() == items)
  }

  @Test("attributes chosen at a caret count for the text typed there")
  func choosing() async throws {
    let desk = try await Desk("ab")
    desk.view.select(1..<1)
    #expect(desk.binding.format(["italic": .set]))
    #expect(desk.binding.selectedAttributes == ["italic": .set])
    desk.view.type("x")
    desk.view.type("y")
    desk.view.select(0..<0)
    desk.view.type("z")
    #expect(
      try await desk.agreed()
        == [.insert("za", [:]), .insert("xy", ["italic": .set]), .insert("b", [:])])
  }

  @Test("others' formatting is shown, and waits while an input method composes")
  func composing() async throws {
    let desk = try await Desk("Hello world")
    desk.view.select(5..<5)
    desk.view.compose("に")
    let bold = try AttributeSet(json: #"{"bold":true}"#)
    try await desk.others {
      $0.retain(11, setting: bold)
      $0.insert("!", with: bold)
    }
    #expect(desk.view.disturbances == 0)
    #expect(desk.view.storage.noteRuns(in: 0..<12).allSatisfy { $0.attributes.isEmpty })
    desk.view.compose("日本")
    desk.view.endComposing()
    // The text that was composed within the range is bold, too.
    #expect(try await desk.agreed() == [.insert("Hello日本 world!", ["bold": .set])])
    #expect(desk.view.disturbances == 0)
  }

  @Test("a formatted copy is inserted in place of the selection, as one undo step")
  func pasting() async throws {
    let desk = try await Desk("Hello world\nb\n", Self.bold)
    let copy = desk.view.storage.noteDelta(of: 4..<12)
    desk.view.select(12..<13)
    #expect(desk.binding.insert(copy))
    #expect(desk.view.selected == 20..<20)
    #expect(
      try await desk.agreed() == [
        .insert("Hello", [:]), .insert(" worl", ["bold": .set]), .insert("d", [:]),
        .insert("\n", ["header": .number(1)]), .insert("o", [:]),
        .insert(" worl", ["bold": .set]), .insert("d", [:]),
        .insert("\n", ["header": .number(1)]), .insert("\n", [:]),
      ])
    #expect(desk.binding.undo())
    #expect(desk.view.wholeText == "Hello world\nb\n")
    _ = try await desk.agreed()
  }

  @Test("embeds are shown and kept")
  func embeds() async throws {
    let desk = try await Desk(
      "a\u{fffc}b", #"{"sets":[{"embed":{"image":"h/p.png"},"alt":"A plan"}],"runs":[1,0,1,1]}"#)
    #expect(
      desk.view.storage.noteRuns(in: 1..<2) == [
        FormattedRun(
          range: 1..<2, attributes: ["alt": .text("A plan")],
          embed: NoteEmbed(kind: "image", value: .text("h/p.png")))
      ])
    desk.view.select(3..<3)
    desk.view.type("c")
    #expect(try await desk.agreed().count == 3)
  }

  @Test("view, note and server agree after random edits of all", arguments: 1...UInt64(20))
  func random(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    let desk = try await Desk("one two\nthree 😀 four\n")
    let sets = try ["{\"bold\":true}", "{\"link\":\"/\"}"].map { try AttributeSet(json: $0) }
    let changes: [NoteAttributes] = [
      ["bold": .set], ["bold": .removed], ["link": .text("/a")], ["header": .number(2)],
      ["list": .text("bullet")], ["header": .removed],
    ]
    for _ in 0..<25 {
      let text = desk.note.document?.text ?? ""
      let document = Document(text)
      let places = (0..<2).map { _ in
        document.utf16Offset(ofScalar: random.below(document.scalarCount + 1))
      }
      let range = min(places[0], places[1])..<max(places[0], places[1])
      desk.view.select(range)
      switch random.below(5) {
      case 0: desk.view.type(["x", "日", "\n", "", "two words"][random.below(5)])
      case 1: _ = desk.binding.format(changes[random.below(changes.count)])
      case 2: _ = desk.binding.undo()
      case 3:
        desk.view.compose("か")
        try await desk.others {
          $0.insert("o", with: sets[0])
          $0.retain(desk.note.document?.scalarCount ?? 0)
        }
        desk.view.compose("漢字")
        desk.view.endComposing()
      default:
        try await desk.others { builder in
          let count = desk.note.document?.scalarCount ?? 0
          let place = random.below(count + 1)
          builder.retain(place, setting: sets[random.below(2)])
          builder.insert("y\n", with: AttributeSet())
          builder.retain(count - place)
        }
      }
      _ = try await desk.agreed()
    }
    #expect(desk.view.disturbances == 0)
  }
}

extension RichDocument {
  fileprivate func after(_ operation: RichOperation) throws -> RichDocument {
    var result = self
    try result.apply(operation)
    return result
  }
}

extension NoteDelta {
  /// The operations, neighbours of equal attributes as one. Text has no attributes of lines, and a
  /// newline no others, as in a view.
  fileprivate var joined: [Operation] {
    var result: [Operation] = []
    for operation in operations.flatMap(\.shown) {
      if case .insert(let text, let attributes) = operation,
        case .insert(let former, attributes)? = result.last
      {
        result[result.count - 1] = .insert(former + text, attributes)
      } else {
        result.append(operation)
      }
    }
    return result
  }
}

extension NoteDelta.Operation {
  /// The operation as a view shows it: newlines apart, each with the attributes that count there.
  fileprivate var shown: [Self] {
    guard case .insert(let text, let attributes) = self else { return [self] }
    return text.unicodeScalars.map { scalar in
      .insert(
        String(scalar),
        attributes.filter { NoteDelta.isOfLines($0.key) == (scalar == "\n") })
    }
  }
}
