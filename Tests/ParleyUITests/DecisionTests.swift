import OTCore
import ParleyOTWorkloads
import ParleyClient
import ParleyUI
import SocketMessages
import Testing

@MainActor @Suite("What views show")
struct DecisionTests {
  @Test(
    "an edit is found at the caret",
    arguments: [
      ("aa", "aaa", 1, "+a =2"), ("aa", "aaa", 3, "=2 +a"), ("abc", "axc", 2, "=1 +x -1 =1"),
      ("", "x", 1, "+x"), ("x", "", 0, "-1"), ("abab", "ab", 2, "=2 -2"),
      ("abab", "ab", 0, "-2 =2"),
    ])
  func difference(old: String, new: String, caret: Int, expected: String) throws {
    let operation = TextOperation(replacing: Document(old), by: Document(new), caret: caret)
    let words = operation.components.map { component in
      switch component {
      case .retain(let count): "=\(count)"
      case .insert(let text): "+\(text)"
      case .delete(let count): "-\(count)"
      }
    }
    #expect(words.joined(separator: " ") == expected)
  }

  @Test("differences and replacements make the new text", arguments: 1...200)
  func laws(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let old = Document(RandomTexts.text(scalars: 12, using: &random))
    var new = old
    try new.apply(TextOperation.random(length: old.scalarCount, using: &random))
    let caret = random.below(new.scalarCount + 1)
    var made = old
    try made.apply(TextOperation(replacing: old, by: new, caret: caret))
    #expect(made.text.utf8.elementsEqual(new.text.utf8))

    let start = random.below(old.scalarCount + 1)
    let range = start..<start + random.below(old.scalarCount - start + 1)
    let text = RandomTexts.text(scalars: 3, using: &random)
    let trimmed = try TextOperation(replacing: range, of: old, with: text)
    var (a, b) = (old, old)
    try a.apply(trimmed)
    try b.replace(range, with: text)
    #expect(a.text.utf8.elementsEqual(b.text.utf8))
  }

  @Test("a selection grows from the end that stays")
  func directions() {
    let caret = Selection(anchor: 5, head: 5)
    #expect(caret.directed(to: 5..<8) == Selection(anchor: 5, head: 8))
    #expect(caret.directed(to: 2..<5) == Selection(anchor: 5, head: 2))
    #expect(Selection(anchor: 5, head: 2).directed(to: 1..<5) == Selection(anchor: 5, head: 1))
    #expect(Selection(anchor: 5, head: 2).directed(to: 3..<3) == Selection(anchor: 3, head: 3))
  }

  @Test("a selection ends where it began to, or earlier, in either direction")
  func apart() throws {
    let operation = try TextOperation(json: Array(#"[1,"X",1,"Y",-1,"Z",1]"#.utf8))
    func kept(_ anchor: Int, _ head: Int) -> [Int] {
      let kept = Selection(anchor: anchor, head: head).keptApart(from: operation)
      return [kept.anchor, kept.head]
    }
    #expect(kept(1, 2) == [2, 3])
    #expect(kept(2, 1) == [3, 2])
    #expect(kept(1, 1) == [1, 1])
    // Its text is gone, and it is a caret between what replaces it.
    #expect(kept(2, 3) == [4, 4])
    #expect(kept(3, 2) == [4, 4])
  }

  @Test("a colour is read from its hex, and is the same for an id everywhere")
  func colors() {
    let red = CaretColor("#ff0000", of: "x")
    #expect((red.red, red.green, red.blue) == (1, 0, 0))
    for malformed in [nil, "", "#ff00", "red", "#+f0000", "#ff00000", "＃ff0000"] {
      #expect(CaretColor(malformed, of: "ann") == CaretColor(nil, of: "ann"))
    }
    #expect(Set((0..<100).map { CaretColor(nil, of: "c\($0)") }).count == 8)
    #expect(CaretColor("#ffff00", of: "").takesDarkText)
    #expect(!CaretColor("#0000ff", of: "").takesDarkText)
  }

  @Test("a name stays within the view, above its caret or below it")
  func labels() {
    func place(_ x: Double, _ y: Double) -> CaretLabel {
      CaretLabel(
        caret: (x, y, 20), size: (50, 15), bounds: (x: 0, y: 100, width: 200, height: 300))
    }
    #expect((place(10, 150).x, place(10, 150).y) == (10, 135))
    #expect((place(190, 110).x, place(190, 110).y) == (150, 130))
    #expect(place(-5, 150).x == 0)
  }

  @Test("only carets and parts of selections in the window are laid out")
  func windows() {
    func caret(_ head: Int, _ range: Range<Int>) -> RemoteCaret {
      RemoteCaret(
        id: "\(head)", name: "", color: CaretColor(nil, of: ""), head: head, range: range,
        isLabelled: false)
    }
    let carets =
      (0..<100).map { caret($0 * 75, $0 * 75..<$0 * 75) } + [
        caret(7_500, 0..<7_500), caret(160, 160..<9_000),
      ]
    let visible = VisibleCaret.visible(carets, in: 100..<250)
    #expect(visible.map(\.caret.head) == [150, 225, 7_500, 160])
    #expect(visible.map(\.isHeadVisible) == [true, true, false, true])
    #expect(visible.map(\.range.count) == [0, 0, 150, 90])
    #expect(
      VisibleCaret.visible([caret(250, 250..<250)], in: 100..<250).count == 1, "the end of the text"
    )
  }

  @Test("initials are of the first and the last word")
  func initials() {
    #expect(PeopleSummary.initials("ada king  lovelace") == "AL")
    #expect(PeopleSummary.initials("Ann") == "A")
    #expect(PeopleSummary.initials(" ") == "?")
    #expect(PeopleSummary.initials("👩‍🚀 b") == "👩‍🚀B")
  }

  @Test("a note's summary follows it: saving, saved, refused, offline, closed")
  func summary() async throws {
    let server = ScriptedServer("abc")
    let parley = Parley(transport: server, as: "Ann", time: ManualTime(), seed: 1)
    let note = parley.note("n")
    #expect(NoteSummary(note) == .opening)
    try await note.opened()
    #expect(NoteSummary(note) == .saved)
    server.set { $0.refusal = .tooLarge }
    try note.append("!")
    #expect(NoteSummary(note) == .saving(unsaved: 1))
    #expect(NoteSummary(note).words == "Saving 1 edit…")
    await until { note.refusal != nil }
    #expect(NoteSummary(note).words == "Not saved: the server answers tooLarge.")
    #expect(NoteSummary(note).remedies == [.retry, .discard])
    NoteSummary.Remedy.discard.apply(to: note)
    await until { NoteSummary(note) == .saved }
    note.isRebased = true
    #expect(NoteSummary(note).remedies == [.understood])
    NoteSummary.Remedy.understood.apply(to: note)
    server.cut()
    await until { NoteSummary(note) == .offline(unsaved: 0) }
    try note.append("?")
    #expect(NoteSummary(note).words == "Offline, 1 edit not saved")
    note.close()
    #expect(NoteSummary(note) == .closed)
  }
}
