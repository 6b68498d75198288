import ParleyImporting
import ParleyModel
import Testing

/// Reads files as `parley import` and the page do.
@Suite("Imports of files")
struct ImportMachineTests {
  /// The outcome of a file: a note's folder, title and text, or a problem.
  private struct Row: Equatable, CustomStringConvertible {
    var path: String
    var words: [String]
    var description: String { "\(path): \(words)" }
  }

  private func rows(
    _ files: [(path: String, bytes: [UInt8])], scalarsMax: Int = 4_000_000, folder: String = ""
  ) -> [Row] {
    var limits = ImportLimits(scalarsMax: scalarsMax)
    limits.folder = folder
    var machine = ImportMachine(limits: limits)
    var rows: [Row] = []
    for (path, bytes) in files {
      machine.begin(path: path, size: Int64(bytes.count))
      reading: while true {
        switch machine.next() {
        case .read(let offset, let count):
          let start = min(max(Int(offset), 0), bytes.count)
          machine.supply(Array(bytes[start..<min(start + count, bytes.count)]))
        case .note(let note):
          rows.append(
            Row(
              path: note.path,
              words: [note.folder, note.title, String(decoding: note.text, as: UTF8.self)]))
        case .problem(let path, let problem): rows.append(Row(path: path, words: [problem.name]))
        case .done: break reading
        }
      }
    }
    return rows
  }

  private func rows(_ path: String, _ text: String, folder: String = "") -> [[String]] {
    rows([(path, Array(text.utf8))], folder: folder).map(\.words)
  }

  // MARK: Archives

  /// An archive with deflated files, which `zlib` has written; `stored` ones are as they are.
  private static func archive(
    _ files: [(name: String, content: [UInt8], packed: [UInt8]?)]
  ) -> [UInt8] {
    var (bytes, directory): ([UInt8], [UInt8]) = ([], [])
    func two(_ number: Int) -> [UInt8] { [UInt8(number & 0xff), UInt8(number >> 8 & 0xff)] }
    func four(_ number: Int) -> [UInt8] { two(number) + two(number >> 16) }
    for file in files {
      let packed = file.packed ?? file.content
      let shared: [UInt8] =
        two(20) + two(0x800) + two(file.packed == nil ? 0 : 8) + four(0)
        + four(checksum(file.content)) + four(packed.count) + four(file.content.count)
        + two(file.name.utf8.count)
      directory += four(0x0201_4b50) + two(0x314) + shared
      directory += [UInt8](repeating: 0, count: 12) + four(bytes.count) + Array(file.name.utf8)
      bytes += four(0x0403_4b50) + shared + two(0) + Array(file.name.utf8) + packed
    }
    let end: [UInt8] =
      four(0x0605_4b50) + four(0) + two(files.count) + two(files.count) + four(directory.count)
      + four(bytes.count) + two(0)
    return bytes + directory + end
  }

  private static func checksum(_ bytes: [UInt8]) -> Int {
    var sum: UInt32 = 0xffff_ffff
    for byte in bytes {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 1 ? 0xedb8_8320 ^ (sum >> 1) : sum >> 1 }
    }
    return Int(sum ^ 0xffff_ffff)
  }

  /// `# One\n` and 60 times `ab`, each in a block of another kind: stored, with fixed codes, and with codes of its own.
  private static let blocks: [(content: [UInt8], packed: [UInt8])] = [
    (Array("# One\n".utf8), [0x01, 6, 0, 0xf9, 0xff] + Array("# One\n".utf8)),
    (Array("# One\n".utf8), [0x53, 0x56, 0xf0, 0xcf, 0x4b, 0xe5, 0x02, 0x00]),
    ([UInt8](String(repeating: "ab", count: 60).utf8), [0x4b, 0x4c, 0x4a, 0x1c, 0x10, 0x08, 0x00]),
    (
      Array((0..<60).map { "line \($0 * $0) of \($0)\n" }.joined().utf8), bytes(ofHex: dynamic)
    ),
  ]

  private static let dynamic = """
    3d924b6e84310883f7738aff08e195c7815aa9d2a8bdffae0ab6670722c017e3f7cfefd7339ebfef67bcde37
    b61b1be2bcb1233e370ebe993749245e372924d195c9f6ee5948660fdb48766f399c367abf09c0814006cb6e
    34d7ea1e6a2239bdd0c402182ba1a14a1edfe8255138266fa1632fa912544eaaccaeba94d9d08654e53dd949
    55abf73aa926a89c549355522df6926a71b294e25e521d5005a90e98435a0d7c2924d6c08f436a19048994d4
    208b520e39836816503bd6e716984f382bdc2a74c909bcd429270e9de25b70418a6fc322f9b926fc933ae700
    5fea9e46e7e9a03ed04f3e8f81f9e4f31cd87fe407f015f97ca25ee4f385fe721906f38b7c7eb0bfc817e42b
    b9dfc05ff3e330f4cb7181ff972c97d0a7ceeb1f
    """

  private static func bytes(ofHex text: String) -> [UInt8] {
    let digits = text.utf8.filter { $0 != 0x0a }.map { $0 < 0x3a ? $0 - 0x30 : $0 - 0x57 }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  @Test("blocks of DEFLATE are inflated, and exactly as far as the archive says")
  func inflate() {
    for block in Self.blocks {
      let found = rows([("a.zip", Self.archive([("dir/a.md", block.content, block.packed)]))])
      #expect(found.map(\.words.last) == [String(decoding: block.content, as: UTF8.self)])
      #expect(found.map(\.words.first) == ["dir"])
      for content in [block.content.dropLast(), block.content + [0x0a]] {
        let lying = Self.archive([("a.md", Array(content), block.packed)])
        #expect(rows([("a.zip", lying)]).map(\.words) == [["damaged"]])
      }
    }
  }

  @Test("names that differ in composition only are one folder")
  func composition() {
    #expect(rows("e\u{301}/a.md", "x").map { Array($0[0].utf8) } == [Array("é".utf8)])
    #expect(rows("a/b*c/\u{202e}/x.md", "x", folder: "again").map(\.first) == ["again/a/b c"])
    let deep = rows("1/2/3/4/5/6/7/8/9/x.md", "x", folder: "a/b").map(\.first)
    #expect(deep == ["a/b/1/2/3/4/5/6"])
  }

  @Test(
    "a title comes from front matter, a heading or the name",
    arguments: [
      (
        #"---\#ntitle: "\u00dcber\x20\U0001F426 \ud83d\udc26\ttab \"q\""\#n---\#n"#,
        "Über 🐦 🐦 tab \"q\""
      ),
      ("---\ntitle: 'It''s'\n---\n", "It's"), ("Title\n=====\n", "Title"),
      ("Two\nlines\n===\n", "Two lines"), ("> quote\n===\n", "file"), ("- item\n===\n", "file"),
      ("```\n# code\n```\n# *Out* [a](b)\\_ #\n", "Out a_"), ("text\n---\n", "file"),
      ("---\ntitle: open\n", "file"),
    ])
  func titles(text: String, title: String) {
    #expect(rows("file.md", text).map { $0[1] } == [title])
  }

  @Test("a text is UTF-8, or UTF-16 with a mark, and has LF")
  func encodings() {
    let cases: [([UInt8], String)] = [
      ([0xef, 0xbb, 0xbf] + Array("a\r\nb\rc".utf8), "a\nb\nc"),
      ([0xff, 0xfe, 0x61, 0, 0x3d, 0xd8, 0x26, 0xdc, 0x0d, 0], "a🐦\n"),
      ([0xfe, 0xff, 0, 0x61], "a"), ([], ""),
      (Array("a\u{85}\u{2028}\u{0c}".utf8), "a\u{85}\u{2028}\u{0c}"),
    ]
    for (bytes, text) in cases { #expect(rows([("a.txt", bytes)]).map { $0.words.last } == [text]) }
    let refused: [[UInt8]] = [
      [0x47, 0x72, 0xf6, 0xdf], [0x61, 0], [0xff, 0xfe, 0x61], [0xff, 0xfe, 0x00, 0xd8],
      [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82],
    ]
    for bytes in refused { #expect(rows([("a.txt", bytes)]).map(\.words) == [["notText"]]) }
  }

  @Test("limits hold before anything is read, and each file has a row")
  func limits() {
    let long = [UInt8](repeating: 0x61, count: 101)
    let found = rows(
      [
        ("long.md", long), (".hidden.md", []), ("x.png", []), ("__MACOSX/a.md", []),
        ("a.zip", []), ("birds.md", Array(String(repeating: "🐦", count: 100).utf8)),
      ], scalarsMax: 100)
    #expect(
      found.map { $0.words[0] } == ["tooLong", "notANote", "notANote", "notZip", ""])
  }

  // MARK: Any bytes

  /// Examples of all formats, which the tests below cut and change.
  private static let examples: [(path: String, bytes: [UInt8])] = [
    ("a.md", Array("---\ntitle: \"a\\u00e9\"\n---\n# b [c](d)\n".utf8)),
    (
      "a.etherpad",
      Array(
        #"{"pad:g.1$x":{"atext":{"text":"*a\nb\ud83d\udc26\n","attribs":"*0*1|1+3|1+4"},"pool":{"numToAttrib":{"0":["list","number1"],"1":["start","3"]}},"head":1.5e3},"globalAuthor:a":{"name":null}}"#
          .utf8)
    ),
    ("a.json", Array(#"[{"id":"a","text":"b","time":1}]"#.utf8)),
    ("b.json", Array(#"{"title":"a","folder":"b/c","text":"\r\n"}"#.utf8)),
    ("u.txt", [0xff, 0xfe, 0x61, 0, 0x3d, 0xd8, 0x26, 0xdc]),
    (
      "a.zip",
      archive([
        ("d/a.md", blocks[0].content, nil), ("b.md", blocks[1].content, blocks[1].packed),
        ("c.md", blocks[2].content, blocks[2].packed),
      ])
    ),
  ]

  @Test("any bytes give notes or problems", arguments: examples.indices)
  func anyBytes(example: Int) {
    let (path, bytes) = Self.examples[example]
    for count in bytes.indices { #expect(rows([(path, Array(bytes[..<count]))]).count <= 3) }
    for place in bytes.indices {
      for byte in [0, 1, 0x22, 0x5c, 0x7f, 0x80, 0xff] as [UInt8] where bytes[place] != byte {
        var changed = bytes
        changed[place] = byte
        #expect(rows([(path, changed)]).count <= 3)
      }
    }
  }

  @Test("random bytes after each header are no crash", arguments: [1, 2, 3, 4, 5] as [UInt64])
  func randomBytes(seed: UInt64) {
    var state = seed
    func next() -> UInt8 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 33)
    }
    for _ in 0..<300 {
      let packed = (0..<Int(next())).map { _ in next() }
      let content = [UInt8](repeating: 0x61, count: Int(next()))
      let zip = Self.archive([("a.md", content, packed)])
      #expect(rows([("a.zip", zip)]).count == 1)
      #expect(rows([("a.etherpad", Array(#"{"pad:"#.utf8) + packed)]).count == 1)
    }
  }
}
