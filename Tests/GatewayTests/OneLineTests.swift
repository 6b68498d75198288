import Gateway
import ParleyGatewayPorts
import ParleyJSON
import ParleySimulationKit
import SocketMessages
import Testing

@Suite("Titles and names of versions are one line")
struct OneLineTests {
  private static let broken = [
    "a\nb", "a\r\nb", "\u{0}", "a\u{1b}[31mb", "a\tb", "\u{7f}", "a\u{85}b", "\u{9f}", "a\u{2028}b",
    "a\u{2029}",
  ]

  private let rig = GatewayRig(isDemo: true)

  private func body(_ fields: (StaticString, String)..., revision: Int? = nil) -> String {
    var body: [UInt8] = []
    JSONWriter.object(&body) { object, body in
      for (name, value) in fields { object.field(name, value, &body) }
      if let revision { object.field("revision", revision, &body) }
    }
    return String(decoding: body, as: UTF8.self)
  }

  private var notes: [NoteSummary] {
    guard case .notes(let notes) = rig.store.perform([.list])[0] else { return [] }
    return notes
  }

  @Test("texts of several lines are refused everywhere, without effect", arguments: broken)
  func refused(text: String) throws {
    rig.make("n1")
    for (method, path, body) in [
      ("POST", "", body(("title", text))), ("PUT", "/own", body(("title", text))),
      ("PATCH", "/n1", body(("title", text))),
      ("PATCH", "/n1", body(("title", text), ("folder", "team"))),
      ("POST", "/n1/versions", body(("name", text), revision: 0)),
    ] {
      let answer = rig.request(method, "/api/notes" + path, body)
      #expect(answer.status == 400, "\(method) \(path)")
      #expect(answer.body.contains(#""code":"badMessage""#) && answer.body.contains("one line"))
    }
    let (connection, _) = try rig.connectNative(nil)
    guard
      case .error(let error) = rig.ask(
        connection, .create(.init(documentID: "own", title: text)))
    else {
      Issue.record("a note was made")
      return
    }
    #expect(error.code == .badMessage && error.message.contains("one line"))
    #expect(notes.map(\.id) == ["n1"] && notes.first?.title == "n1")
    #expect(notes.first?.folder == FolderPath.none)
    #expect(rig.request("GET", "/api/notes/n1/versions").body == #"{"versions":[]}"#)
  }

  @Test("stored texts of several lines can be read and replaced", arguments: broken)
  func stored(text: String) throws {
    _ = rig.store.perform([
      .create(id: "n1", epoch: "e", title: text, time: rig.clock.now),
      .saveVersion(
        id: "n1", epoch: "e",
        version: NamedVersion(revision: 0, name: text, author: "A", time: rig.clock.now)),
    ])
    for (path, list) in [("", "notes"), ("/n1/versions", "versions")] {
      let answer = rig.request("GET", "/api/notes" + path)
      let found = JSONFields(Array(answer.body.utf8))?[list]?.elements?.first?.fields
      let read = found?[list == "notes" ? "title" : "name"]?.string
      #expect(read?.utf8.elementsEqual(text.utf8) ?? false, "\(path)")
    }
    #expect(rig.request("PATCH", "/api/notes/n1", body(("folder", "team"))).status == 200)
    #expect(rig.request("PATCH", "/api/notes/n1", body(("title", "Größe 🐦 می‌خواهم"))).status == 200)
    #expect(
      rig.request("POST", "/api/notes/n1/versions", body(("name", "v"), revision: 0)).status == 201)
  }

  @Test(
    "names from other sources are converted to one line",
    arguments: [
      ("a\nb", "a b"), ("\r\n a\tb \u{0}", "a b"), ("a\u{2028}\u{85}b", "a  b"), ("\u{7f}", ""),
      (" a ", " a "),
      ("می‌خواهم", "می‌خواهم"),
    ])
  func made(text: String, line: String) {
    #expect(OneLine.made(of: text).utf8.elementsEqual(line.utf8))
    #expect(OneLine.isMet(by: OneLine.made(of: text)))
  }
}
