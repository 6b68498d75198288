import Gateway
import ParleyGatewayPorts
import ParleySimulationKit
import SocketMessages
import Testing

/// A Rustpad client of a rig.
private struct RustpadClient {
  let rig: GatewayRig
  let id: UInt64
  let number: String
  /// The messages that followed the greeting.
  let first: [String]

  /// - Parameter settles: Whether the client has no unanswered edit, and is sent the log.
  init(_ rig: GatewayRig, token: String? = nil, note: String = "n", settles: Bool = true) {
    self.rig = rig
    id = rig.connect(as: .rustpad(note: note), token: token)
    if settles { rig.pass(milliseconds: 10_000) }
    let frames = rig.frames(id)
    number = String((frames.first ?? "").filter { $0.isNumber })
    first = Array(frames.dropFirst())
  }

  @discardableResult
  func say(_ message: String) -> [String] {
    rig.say(id, message)
    return rig.frames(id)
  }

  @discardableResult
  func edit(_ operation: String, at revision: Int) -> [String] {
    say(#"{"Edit":{"revision":\#(revision),"operation":\#(operation)}}"#)
  }

  /// An entry of the history as the client is sent it.
  func history(_ operation: String, from start: Int, isOwn: Bool = false) -> String {
    #"{"History":{"start":\#(start),"operations":[{"id":\#(isOwn ? number : "0"),"operation":\#(operation)}]}}"#
  }
}

@Suite("Rustpad in the gateway")
struct RustpadGatewayTests {
  private static func rig(_ change: (inout GatewaySettings) -> Void = { _ in }) -> GatewayRig {
    let rig = GatewayRig(isDemo: true, change: change)
    rig.make("n")
    return rig
  }

  private func text(_ rig: GatewayRig) -> String {
    rig.request("GET", "/api/notes/n/text?format=text").body
  }

  @Test func a_client_is_sent_the_whole_log_and_its_own_edits_under_its_number() {
    let rig = Self.rig()
    let ann = RustpadClient(rig)
    #expect(ann.edit(#"["ab"]"#, at: 0) == [ann.history(#"["ab"]"#, from: 0, isOwn: true)])
    let ben = RustpadClient(rig)
    #expect(ben.number != ann.number)
    #expect(ben.first == [ben.history(#"["ab"]"#, from: 0)])
    #expect(ben.edit(#"[-1,"x",1]"#, at: 1) == [ben.history(#"["x",-1,1]"#, from: 1, isOwn: true)])
    #expect(rig.frames(ann.id) == [ann.history(#"["x",-1,1]"#, from: 1)])
    // A tie is won by the own insert.
    #expect(ann.edit(#"["y",2]"#, at: 1) == [ann.history(#"["y",2]"#, from: 2, isOwn: true)])
    #expect(text(rig) == "yxb")
  }

  @Test func an_edit_that_is_sent_again_is_stored_once() {
    let rig = Self.rig()
    let ann = RustpadClient(rig)
    ann.edit(#"["a"]"#, at: 0)
    ann.edit(#"[1,"b"]"#, at: 1)
    let ben = RustpadClient(rig)
    rig.close(ann.id)
    _ = rig.frames(ben.id)
    ben.edit(#"[2,"c"]"#, at: 2)
    // The answer to the second edit was lost.
    let again = RustpadClient(rig, settles: false)
    #expect(again.first == [])
    #expect(
      again.edit(#"[1,"b"]"#, at: 1) == [
        #"{"History":{"start":0,"operations":[{"id":0,"operation":["a"]},{"id":\#(again.number),"operation":[1,"b"]},{"id":0,"operation":[2,"c"]}]}}"#
      ])
    #expect(text(rig) == "abc")
    // A client without an unanswered edit is sent the log after a while.
    rig.close(again.id)
    let later = RustpadClient(rig, settles: false)
    #expect(later.first == [])
    later.say(#"{"CursorData":{"cursors":[],"selections":[]}}"#)
    rig.pass(milliseconds: 1_000)
    #expect(rig.frames(later.id) == [])
    rig.pass(milliseconds: 1_000)
    #expect(rig.frames(later.id).count == 1)
    // An equal edit that is no repetition is a new one.
    later.edit(#"[3,"c"]"#, at: 3)
    #expect(text(rig) == "abcc")
  }

  @Test func users_and_the_language_are_shared() {
    let rig = Self.rig()
    let ann = RustpadClient(rig)
    ann.say(#"{"ClientInfo":{"name":"Ann","hue":120}}"#)
    ann.say(#"{"CursorData":{"cursors":[3],"selections":[[1,3]]}}"#)
    let ben = RustpadClient(rig, settles: false)
    #expect(
      ben.first == [
        #"{"UserInfo":{"id":\#(ann.number),"info":{"name":"Ann","hue":120}}}"#,
        #"{"UserCursor":{"id":\#(ann.number),"data":{"cursors":[3],"selections":[[1,3]]}}}"#,
      ])
    #expect(ben.say(#"{"SetLanguage":"go"}"#) == [#"{"Language":"go"}"#])
    #expect(rig.frames(ann.id) == [#"{"Language":"go"}"#])
    rig.close(ann.id)
    #expect(rig.frames(ben.id) == [#"{"UserInfo":{"id":\#(ann.number),"info":null}}"#])
    #expect(RustpadClient(rig).first.contains(#"{"Language":"go"}"#))
  }

  @Test(arguments: [
    "{", "{}", #"{"Edit":{"revision":0,"operation":[7]}}"#,
    #"{"Edit":{"revision":9,"operation":[]}}"#, #"{"Edit":{"revision":0,"operation":[1.5]}}"#,
  ])
  func refusals_close_the_connection(message: String) {
    let client = RustpadClient(Self.rig())
    client.say(message)
    #expect(client.rig.closeCodes[client.id] != nil)
  }

  @Test func rights_are_those_of_the_token() {
    let rig = GatewayRig()
    rig.make("n")
    #expect(rig.refusal(ofUpgrade: [:], as: .rustpad(note: "n")) == 401)
    let reader = rig.token("reader", [Grant(.documents, NamePattern("n"), [.read])])
    let ben = RustpadClient(rig, token: reader)
    #expect(rig.closeCodes[ben.id] == nil)
    #expect(ben.say(#"{"SetLanguage":"go"}"#) == [])
    ben.edit(#"["a"]"#, at: 0)
    #expect(rig.closeCodes[ben.id] != nil)
    let other = RustpadClient(rig, token: reader, note: "m")
    #expect(rig.closeCodes[other.id] != nil)
    let long = RustpadClient(rig, token: reader, note: String(repeating: "x", count: 5_000))
    #expect(rig.closeCodes[long.id] != nil)
  }

  @Test func a_note_with_too_many_changes_is_refused() {
    let rig = Self.rig { $0.lagRevisionsMax = 2 }
    let ann = RustpadClient(rig)
    for revision in 0..<3 {
      ann.edit(revision == 0 ? #"["a"]"# : #"[\#(revision),"a"]"#, at: revision)
    }
    let ben = RustpadClient(rig)
    #expect(rig.closeCodes[ben.id] != nil)
  }

  @Test func paths_name_the_note() {
    func kind(_ path: String) -> ClientKind? {
      ClientKind(RequestHead(method: "GET", path: path), shareDBPath: "/share")
    }
    #expect(kind("/api/socket/a%20b") == .rustpad(note: "a b"))
    #expect(kind("/api/socket/") == nil)
    #expect(kind("/api/socket/a/b") == nil)
    #expect(kind("/share") == .shareDB)
    #expect(kind("/sharedb") == nil)
  }
}
