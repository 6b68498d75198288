import Gateway
import OTCore
import ParleyGatewayPorts
import ParleySimulationKit
import SocketMessages
import Testing

/// A ShareDB client of a rig.
private final class ShareDBClient {
  let rig: GatewayRig
  var id: UInt64
  /// The id under which the client sends changes.
  var source: String

  init(_ rig: GatewayRig, token: String? = nil) {
    self.rig = rig
    id = rig.connect(as: .shareDB, token: token)
    source = Self.source(in: rig.frames(id).first ?? "")
  }

  private static func source(in greeting: String) -> String {
    let start = #""id":""#
    guard let range = greeting.firstRange(of: start) else { return "" }
    return String(greeting[range.upperBound...].prefix { $0 != "\"" })
  }

  /// Sends a message and returns the messages sent since.
  @discardableResult
  func say(_ message: String) -> [String] {
    rig.say(id, message)
    return rig.frames(id)
  }

  func subscribe(_ version: Int? = nil, note: String = "n") -> [String] {
    let version = version.map { #","v":\#($0)"# } ?? ""
    return say(#"{"a":"s","c":"notes","d":"\#(note)"\#(version)}"#)
  }

  func change(
    _ operation: String, at version: Int, _ sequence: Int, again: Bool = false
  ) -> [String] {
    let source = again ? #","src":"\#(source)""# : ""
    return say(
      #"{"a":"op","c":"notes","d":"n","v":\#(version),"seq":\#(sequence)\#(source),"x":{},"op":\#(operation)}"#
    )
  }

  func create(_ text: String, _ sequence: Int = 1) -> [String] {
    say(
      #"{"a":"op","c":"notes","d":"n","v":0,"seq":\#(sequence),"x":{},"create":{"type":"http://sharejs.org/types/text-unicode","data":"\#(text)"}}"#
    )
  }

  func acknowledgement(at version: Int, _ sequence: Int) -> String {
    #"{"a":"op","c":"notes","d":"n","v":\#(version),"src":"\#(source)","seq":\#(sequence)}"#
  }

  /// The id by which others know the client.
  var publicSource: String { String(source.prefix { $0 != "." }) }

  /// Ends the connection, and begins another one under the former id.
  func reconnect(_ rig: GatewayRig? = nil, closes: Bool = true) {
    if closes { self.rig.close(id) }
    let former = source
    let rig = rig ?? self.rig
    id = rig.connect(as: .shareDB)
    _ = rig.frames(id)
    source = Self.source(in: say(#"{"a":"hs","id":"\#(former)","protocol":1}"#).first ?? "")
  }
}

@Suite("ShareDB in the gateway")
struct ShareDBGatewayTests {
  private static func rig(_ change: (inout GatewaySettings) -> Void = { _ in }) -> GatewayRig {
    let rig = GatewayRig(isDemo: true, change: change)
    rig.make("n")
    return rig
  }

  private static let type = "http://sharejs.org/types/text-unicode"

  private func text(_ rig: GatewayRig) -> String {
    rig.request("GET", "/api/notes/n/text?format=text").body
  }

  // MARK: Connections

  @Test func a_connection_keeps_its_id_in_all_handshakes() {
    let rig = Self.rig()
    let client = ShareDBClient(rig)
    for _ in 0..<2 {
      #expect(
        client.say(#"{"a":"hs","id":null,"protocol":1,"protocolMinor":2}"#) == [
          #"{"a":"hs","protocol":1,"protocolMinor":2,"id":"\#(client.source)","type":"http://sharejs.org/types/JSONv0"}"#
        ])
    }
    #expect(client.say(#"{"a":"pp"}"#) == [#"{"a":"pp"}"#])
  }

  @Test func a_client_continues_under_its_former_id_and_no_other() {
    let rig = Self.rig()
    let (ann, ben) = (ShareDBClient(rig), ShareDBClient(rig))
    let former = ann.source
    ann.reconnect()
    #expect(ann.source == former)
    // The public part of an id, which others see, is no proof.
    let own = ben.source
    ben.say(#"{"a":"hs","id":"\#(ann.publicSource)"}"#)
    ben.say(#"{"a":"hs","id":"\#(ann.publicSource).guess"}"#)
    #expect(ben.say(#"{"a":"hs","id":null}"#).first?.contains(own) ?? false)
    // An open connection of the same client is replaced.
    let open = ann.id
    ann.reconnect(closes: false)
    #expect(rig.closeCodes[open] != nil)
    #expect(ann.source == former)
  }

  @Test func no_client_without_a_token_and_none_that_floods() {
    let rig = GatewayRig()
    #expect(rig.refusal(ofUpgrade: [:], as: .shareDB) == 401)
    let late = rig.connect(as: .shareDB, token: "ended")
    #expect(rig.closeCodes[late] != nil)
    let client = ShareDBClient(Self.rig { $0.limits.messagesPerSecondMax = 1 })
    for _ in 0..<50 { client.say(#"{"a":"pp"}"#) }
    #expect(client.rig.closeCodes[client.id] != nil)
  }

  @Test(arguments: ["", "[]", "{"])
  func what_is_no_object_closes_the_connection(message: String) {
    let client = ShareDBClient(Self.rig())
    client.say(message)
    #expect(client.rig.closeCodes[client.id] != nil)
  }

  // MARK: Documents

  @Test func a_missing_document_is_created_and_others_learn_of_it() {
    let rig = GatewayRig(isDemo: true)
    let (ann, ben) = (ShareDBClient(rig), ShareDBClient(rig))
    let missing = #"{"a":"s","c":"notes","d":"n","data":{"v":0,"type":null}}"#
    #expect(ann.subscribe() == [missing])
    #expect(ben.subscribe() == [missing])
    #expect(ann.create("a😀") == [ann.acknowledgement(at: 0, 1)])
    rig.pass(milliseconds: 1_000)
    #expect(
      rig.frames(ben.id) == [
        #"{"a":"op","c":"notes","d":"n","v":0,"src":"\#(ann.publicSource)","seq":1,"create":{"type":"\#(Self.type)","data":"a😀"}}"#
      ])
    #expect(ben.change(#"[2,"b"]"#, at: 1, 1) == [ben.acknowledgement(at: 1, 1)])
    #expect(
      rig.frames(ann.id) == [
        #"{"a":"op","c":"notes","d":"n","v":1,"src":"\#(ben.publicSource)","seq":1,"op":[2,"b"]}"#
      ])
    #expect(text(rig) == "a😀b")
    // The second creation is refused; one that is sent again is acknowledged.
    #expect(ben.create("c", 2).first?.contains("ERR_DOC_ALREADY_CREATED") ?? false)
    #expect(ann.create("a😀") == [ann.acknowledgement(at: 0, 1)])
    #expect(
      ShareDBClient(rig).subscribe() == [
        #"{"a":"s","c":"notes","d":"n","data":{"v":2,"data":"a😀b","type":"\#(Self.type)"}}"#
      ])
  }

  @Test func an_own_insert_goes_before_one_that_the_client_had_not_seen() throws {
    let rig = Self.rig()
    let client = ShareDBClient(rig)
    _ = client.create("ab")
    let (native, _) = try rig.connectNative(nil)
    rig.ask(native, .join(.init(documentID: "n")))
    rig.ask(
      native,
      .change(
        .init(
          documentID: "n", epoch: "epoch of n", revision: 1, sequence: 1,
          operation: [.retain(1), .insert("N"), .retain(1)])))
    #expect(rig.frames(client.id).count == 1)
    #expect(client.change(#"[1,"S"]"#, at: 1, 2) == [client.acknowledgement(at: 2, 2)])
    #expect(text(rig) == "aSNb")
  }

  @Test func a_change_that_is_sent_again_is_stored_once() {
    let rig = Self.rig()
    let (ann, ben) = (ShareDBClient(rig), ShareDBClient(rig))
    _ = ann.create("ab")
    _ = ben.subscribe()
    _ = ben.change(#"["B"]"#, at: 1, 1)
    // The answer to Ann's change is lost. She sends it again, before she subscribes again.
    #expect(ann.change(#"[3,"x"]"#, at: 2, 5).last == ann.acknowledgement(at: 2, 5))
    _ = ben.change(#"["C"]"#, at: 3, 2)
    ann.reconnect()
    let answers = ann.change(#"[3,"x"]"#, at: 2, 5, again: true)
    #expect(
      answers == [
        #"{"a":"op","c":"notes","d":"n","v":2,"src":"\#(ann.source)","seq":5,"op":[3,"x"]}"#,
        #"{"a":"op","c":"notes","d":"n","v":3,"src":"\#(ben.publicSource)","seq":2,"op":["C"]}"#,
        ann.acknowledgement(at: 2, 5),
      ])
    #expect(ann.subscribe(4) == [#"{"a":"s","c":"notes","d":"n"}"#])
    #expect(text(rig) == "CBabx")
    // Numbers of other documents are skipped; a smaller number is of no new change.
    #expect(ann.change(#"["y"]"#, at: 4, 9) == [ann.acknowledgement(at: 4, 9)])
    #expect(ann.change(#"["z"]"#, at: 5, 7).first?.contains("ERR_OP_SUBMIT_REJECTED") ?? false)
    #expect(
      ben.say(
        #"{"a":"op","c":"notes","d":"n","v":5,"seq":9,"src":"\#(ann.source)","op":["z"]}"#
      ).last?.contains("ERR_OP_SUBMIT_REJECTED") ?? false)
    #expect(text(rig) == "yCBabx")
  }

  @Test func a_client_is_sent_the_changes_since_its_version() {
    let rig = Self.rig()
    let (ann, ben) = (ShareDBClient(rig), ShareDBClient(rig))
    _ = ann.create("a")
    for number in 2...5 { _ = ann.change("[\"\(number)\"]", at: number - 1, number) }
    let changes = ben.subscribe(2)
    #expect(changes.count == 4)
    #expect(changes.last == #"{"a":"s","c":"notes","d":"n"}"#)
    #expect(changes.first?.contains(#""v":2,"#) ?? false)
    #expect(ben.say(#"{"a":"f","c":"notes","d":"n","v":4}"#).count == 2)
    #expect(ben.subscribe(9).first?.contains("ERR_OP_VERSION_NEWER") ?? false)
    #expect(ben.say(#"{"a":"f","c":"notes","d":"n"}"#).first?.contains("5432a") ?? false)
  }

  @Test func a_client_that_unsubscribes_is_sent_no_further_changes() {
    let rig = Self.rig()
    let (ann, ben) = (ShareDBClient(rig), ShareDBClient(rig))
    _ = ann.create("a")
    _ = ben.subscribe()
    #expect(
      ben.say(#"{"a":"u","c":"notes","d":"n"}"#) == [#"{"a":"u","c":"notes","d":"n"}"#])
    _ = ann.change(#"["b"]"#, at: 1, 2)
    #expect(rig.frames(ben.id) == [])
    // A fetch is no subscription, and a change is answered without one.
    #expect(ben.say(#"{"a":"f","c":"notes","d":"n"}"#).count == 1)
    _ = ann.change(#"["c"]"#, at: 2, 3)
    #expect(rig.frames(ben.id) == [])
    #expect(ben.change(#"["d"]"#, at: 2, 1).last == ben.acknowledgement(at: 3, 1))
  }

  @Test func several_documents_are_answered_together() {
    let rig = Self.rig()
    let client = ShareDBClient(rig)
    _ = client.create("a")
    #expect(
      client.say(#"{"a":"bs","c":"notes","b":["n","m"]}"#) == [
        #"{"a":"bs","c":"notes","data":{"n":{"v":1,"data":"a","type":"\#(Self.type)"},"m":{"v":0,"type":null}}}"#
      ])
    #expect(
      client.say(#"{"a":"bf","c":"notes","b":{"n":1}}"#) == [
        #"{"a":"bf","c":"notes","b":["n"]}"#
      ])
    #expect(
      client.say(#"{"a":"bu","c":"notes","b":["n","m"]}"#) == [
        #"{"a":"bu","c":"notes","b":["n","m"]}"#
      ])
    #expect(
      client.say(#"{"a":"bf","c":"books","b":["n"]}"#).first?.contains(
        "ERR_SNAPSHOT_READS_REJECTED") ?? false)
  }

  @Test(arguments: [
    (#"{"a":"s","c":"books","d":"n"}"#, "ERR_SNAPSHOT_READS_REJECTED"),
    (#"{"a":"s","c":"notes","d":""}"#, "ERR_SNAPSHOT_READS_REJECTED"),
    (#"{"a":"s","c":"notes"}"#, "ERR_MESSAGE_BADLY_FORMED"),
    (#"{"a":"qf","id":1,"c":"notes","q":{}}"#, "ERR_DATABASE_METHOD_NOT_IMPLEMENTED"),
    (#"{"a":"nf","id":1,"c":"notes","d":"n","v":1}"#, "ERR_DATABASE_METHOD_NOT_IMPLEMENTED"),
    (#"{"a":"op","c":"notes","d":"n","v":1,"seq":2,"del":true}"#, "ERR_OP_SUBMIT_REJECTED"),
    (#"{"a":"op","c":"notes","d":"n","v":1,"seq":2,"op":[7,"x"]}"#, "ERR_OP_SUBMIT_REJECTED"),
    (#"{"a":"op","c":"notes","d":"n","v":9,"seq":2,"op":["x"]}"#, "ERR_OP_"),
    (#"{"a":"op","c":"notes","d":"n","v":1,"seq":2,"op":[{"p":[]}]}"#, "ERR_OT_OP_BADLY_FORMED"),
    (
      #"{"a":"op","c":"notes","d":"m","v":0,"seq":2,"create":{"type":"json0","data":{}}}"#,
      "ERR_DOC_TYPE_NOT_RECOGNIZED"
    ),
    (#"{"a":"op","c":"notes","d":"m","v":0,"seq":2,"op":["x"]}"#, "ERR_DOC_DOES_NOT_EXIST"),
  ])
  func refusals_have_the_form_of_sharedb(message: String, code: String) {
    let client = ShareDBClient(Self.rig())
    _ = client.create("a")
    #expect(client.say(message).last?.contains(code) ?? false)
    #expect(client.rig.closeCodes[client.id] == nil)
    #expect(text(client.rig) == "a")
  }

  @Test func rights_are_those_of_the_token() {
    let rig = GatewayRig()
    rig.make("n")
    let reader = rig.token("reader", [Grant(.documents, NamePattern("n"), [.read])])
    let writer = rig.token("writer", [Grant(.documents, NamePattern("n"), [.read, .write])])
    let ann = ShareDBClient(rig, token: writer)
    #expect(ann.create("a") == [ann.acknowledgement(at: 0, 1)])
    #expect(ann.subscribe(note: "m").first?.contains("ERR_SNAPSHOT_READS_REJECTED") ?? false)
    let ben = ShareDBClient(rig, token: reader)
    #expect(ben.subscribe().first?.contains(#""data":"a""#) ?? false)
    #expect(ben.change(#"["b"]"#, at: 1, 1).first?.contains("ERR_OP_SUBMIT_REJECTED") ?? false)
    #expect(
      ben.say(#"{"a":"ps","ch":"notes.n","seq":1}"#).first?.contains(
        "ERR_SNAPSHOT_READS_REJECTED") ?? false)
  }

  @Test func clients_of_two_dialects_in_one_note_each_receive_their_frames() {
    let rig = Self.rig()
    let client = ShareDBClient(rig)
    _ = client.create("a")
    let whaler = rig.connectWhaler(pool: nil, token: nil)
    rig.say(whaler, #"{"messageId":"j","type":"resourceConnection","data":{"resourceId":"n"}}"#)
    _ = rig.frames(whaler)
    _ = client.change(#"["b"]"#, at: 1, 2)
    #expect(rig.frames(whaler).first?.contains("docChangeReturnOps") ?? false)
    rig.say(
      whaler,
      #"{"messageId":"c","type":"docChange","data":{"resourceId":"n","rev":2,"n":[2,0],"s":["","w"]}}"#
    )
    #expect(rig.frames(client.id).first?.contains(#""op":[2,"w"]"#) ?? false)
  }

  @Test func a_change_that_may_be_stored_later_closes_the_connection() {
    let rig = Self.rig()
    let client = ShareDBClient(rig)
    _ = client.create("a")
    rig.drainGateway()
    #expect(client.change(#"["b"]"#, at: 1, 2) == [])
    #expect(rig.closeCodes[client.id] != nil)
  }

  // MARK: Presence

  @Test func presence_goes_to_the_others_of_a_channel() {
    let rig = Self.rig()
    let (ann, ben) = (ShareDBClient(rig), ShareDBClient(rig))
    let subscription = #"{"a":"ps","ch":"notes.n","seq":1}"#
    #expect(ann.say(subscription) == [subscription])
    #expect(ben.say(subscription) == [subscription])
    func presence(_ value: String, _ number: Int, of source: String) -> String {
      #"{"a":"p","ch":"notes.n","src":"\#(source)","id":"i","p":\#(value),"pv":\#(number)}"#
    }
    #expect(
      ann.say(#"{"a":"p","ch":"notes.n","id":"i","p":{"index": 1},"pv":1}"#)
        == [presence(#"{"index": 1}"#, 1, of: ann.source)])
    #expect(rig.frames(ben.id) == [presence(#"{"index": 1}"#, 1, of: ann.publicSource)])
    #expect(
      ben.say(#"{"a":"pr","ch":"notes.n"}"#)
        == [presence(#"{"index": 1}"#, 1, of: ann.publicSource)])
    rig.close(ann.id)
    #expect(rig.frames(ben.id) == [presence("null", 2, of: ann.publicSource)])
    let long = String(repeating: "x", count: 5_000)
    #expect(
      ben.say(#"{"a":"p","ch":"notes.n","id":"i","p":"\#(long)","pv":1}"#).first?.contains(
        "error") ?? false)
  }
}
