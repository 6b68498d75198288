import OTCore
import ParleyJSON
import ParleyShareDB
import Testing

/// Examples of all messages. A client of ShareDB 5 sends and reads these forms.
@Suite("ShareDB messages")
struct ShareDBTests {
  private static let note = ShareDBDocument(collection: "notes", id: "n1")

  private func read(_ text: String) -> ShareDBRequest? {
    ShareDBRequest.read(Array(text.utf8), componentsMax: 100)
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  // MARK: Reading

  @Test(arguments: [
    (#"{"a":"hs","id":null,"protocol":1,"protocolMinor":2}"#, ShareDBRequest.handshake(id: nil)),
    (#"{"a":"hs","id":"x.y","protocol":1}"#, .handshake(id: "x.y")),
    (#"{"a":"s","c":"notes","d":"n1"}"#, .document(.subscribe, note, version: nil)),
    (#"{"a":"s","c":"notes","d":"n1","v":null}"#, .document(.subscribe, note, version: nil)),
    (#"{"a":"s","c":"notes","d":"n1","v":7}"#, .document(.subscribe, note, version: 7)),
    (#"{"a":"u","c":"notes","d":"n1"}"#, .document(.unsubscribe, note, version: nil)),
    (#"{"a":"f","c":"notes","d":"n1","v":0}"#, .document(.fetch, note, version: 0)),
    (
      #"{"a":"bs","c":"notes","b":["n1","n2"]}"#,
      .documents(
        .bulkSubscribe, collection: "notes",
        versions: [.init(id: "n1", version: nil), .init(id: "n2", version: nil)])
    ),
    (
      #"{"a":"bf","c":"notes","b":{"n1":3,"n2":null}}"#,
      .documents(
        .bulkFetch, collection: "notes",
        versions: [.init(id: "n1", version: 3), .init(id: "n2", version: nil)])
    ),
    (#"{"a":"nf","id":4,"c":"notes","d":"n1","v":2}"#, .past(.snapshot, number: 4, note)),
    (#"{"a":"qs","id":9,"c":"notes","q":{}}"#, .query(.querySubscribe, number: 9)),
    (
      #"{"a":"ps","ch":"notes.n1","seq":2}"#,
      .presenceSubscription(.presenceSubscribe, channel: "notes.n1", sequence: 2)
    ),
    (#"{"a":"pr","ch":"notes.n1"}"#, .presenceRequest(channel: "notes.n1")),
    (
      #"{"a":"p","ch":"notes.n1","id":"i","p":{"x": 1},"pv":3}"#,
      .presence(
        ShareDBPresence(channel: "notes.n1", id: "i", value: Array(#"{"x": 1}"#.utf8), number: 3))
    ),
    (
      #"{"a":"p","ch":"notes.n1","id":"i","p":null,"pv":4}"#,
      .presence(ShareDBPresence(channel: "notes.n1", id: "i", value: nil, number: 4))
    ),
    (#"{"a":"pp"}"#, .ping),
    (#"{"a":"zz"}"#, .malformed(action: nil)),
    (#"{}"#, .malformed(action: nil)),
    (#"{"a":"s","c":"notes"}"#, .malformed(action: "s")),
    (#"{"a":"s","c":"notes","d":"n1","v":-1}"#, .malformed(action: "s")),
    (#"{"a":"op","c":"notes","d":"n1","v":1,"op":[]}"#, .malformed(action: "op")),
    (#"{"a":"bs","c":"notes","b":[1]}"#, .malformed(action: "bs")),
    (#"{"a":"p","ch":"notes.n1","p":1}"#, .malformed(action: "p")),
  ])
  func reads(message: String, expected: ShareDBRequest) {
    #expect(read(message) == expected)
  }

  @Test(arguments: ["", "[]", "{", "7", "\"s\"", "{\"a\":\"\\ud83d\"}", "{\"a\":\"s\"} x"])
  func refuses_what_is_no_object(message: String) { #expect(read(message) == nil) }

  private func change(_ fields: String) -> ShareDBChange? {
    guard
      case .change(let change, Self.note)? = read(
        #"{"a":"op","c":"notes","d":"n1","v":7,"seq":1,"x":{},\#(fields)}"#)
    else { return nil }
    return change
  }

  private static let readOperations: [(String, TextOperation)] = [
    (#"[3,"é",{"d":2}]"#, [.retain(3), .insert("é"), .delete(2)]),
    (#"[{"d":"a😀"},"x"]"#, [.delete(2), .insert("x")]),
    ("[]", []),
  ]

  @Test(arguments: readOperations)
  func reads_operations(operation: String, expected: TextOperation) throws {
    let read = change(#""op":\#(operation)"#)
    let change = try #require(read)
    #expect(change.content == .operation(expected))
    #expect(change.version == 7)
    #expect(change.sequence == 1)
    #expect(change.source == nil)
    #expect(self.change(#""src":"s.t","op":[]"#)?.source == "s.t")
    #expect(self.change(#""src":"s.t""#)?.content == .operation([]))
  }

  @Test(arguments: [
    "[0]", "[-1]", "[1.5]", #"[{"d":0}]"#, #"[{"d":-2}]"#, #"[{"x":1}]"#, "[null]", "[[1]]", "7",
    #"[{"p":["a",0],"si":"x"}]"#, "[9007199254740991]", "[1073741823,1]",
  ])
  func refuses_what_is_no_operation_of_a_text(operation: String) throws {
    guard case .refused(let error)? = change(#""op":\#(operation)"#)?.content else {
      Issue.record("\(operation) is taken")
      return
    }
    #expect(error.code == .operationBadlyFormed)
  }

  @Test func refuses_too_many_components() {
    let many = Array(repeating: #"1,"x""#, count: 51).joined(separator: ",")
    guard case .refused? = change(#""op":[\#(many)]"#)?.content else {
      Issue.record("too many components are taken")
      return
    }
  }

  @Test func reads_creations_and_deletions() {
    #expect(
      change(#""create":{"type":"\#(ShareDBType.text)","data":"hi"}"#)?.content
        == .creation(text: "hi"))
    #expect(change(#""create":{"type":"text-unicode"}"#)?.content == .creation(text: ""))
    #expect(change(#""del":true"#)?.content == .deletion)
    guard case .refused(let error)? = change(#""create":{"type":"json0","data":{}}"#)?.content
    else {
      Issue.record("another type is taken")
      return
    }
    #expect(error.code == .unknownType)
  }

  // MARK: Writing

  @Test func greets() {
    let rest =
      #""protocol":1,"protocolMinor":2,"id":"a","type":"http://sharejs.org/types/JSONv0"}"#
    #expect(text(ShareDBFrame.initial(id: "a")) == #"{"a":"init","# + rest)
    #expect(text(ShareDBFrame.handshake(id: "a")) == #"{"a":"hs","# + rest)
    #expect(text(ShareDBFrame.pong) == #"{"a":"pp"}"#)
  }

  @Test func answers() {
    #expect(
      text(
        ShareDBFrame.answer(
          .subscribe, of: Self.note, snapshot: ShareDBSnapshot(version: 7, text: "a\n")))
        == #"{"a":"s","c":"notes","d":"n1","data":{"v":7,"data":"a\n","type":"http://sharejs.org/types/text-unicode"}}"#
    )
    #expect(
      text(ShareDBFrame.answer(.fetch, of: Self.note, snapshot: .missing))
        == #"{"a":"f","c":"notes","d":"n1","data":{"v":0,"type":null}}"#)
    #expect(text(ShareDBFrame.answer(.fetch, of: Self.note)) == #"{"a":"f","c":"notes","d":"n1"}"#)
    let versions = [ShareDBRequest.Version(id: "n1", version: 2)]
    #expect(
      text(
        ShareDBFrame.answer(.bulkSubscribe, of: "notes", versions: versions, results: nil))
        == #"{"a":"bs","c":"notes","b":["n1"]}"#)
    let results = [
      ShareDBResult(id: "n1", snapshot: .missing),
      ShareDBResult(id: "n2", snapshot: nil, error: ShareDBError(.readRejected, "no")),
    ]
    #expect(
      text(
        ShareDBFrame.answer(.bulkFetch, of: "notes", versions: versions, results: results))
        == #"{"a":"bf","c":"notes","data":{"n1":{"v":0,"type":null},"n2":{"error":{"code":"ERR_SNAPSHOT_READS_REJECTED","message":"no"}}}}"#
    )
  }

  private static let writtenOperations: [(TextOperation, String)] = [
    ([.retain(3), .insert("x"), .delete(2), .retain(9)], #"[3,"x",{"d":2}]"#),
    ([.delete(1), .insert("é")], #"[{"d":1},"é"]"#), ([.retain(4)], "[]"), ([], "[]"),
  ]

  @Test(arguments: writtenOperations)
  func writes_operations_without_the_last_retain(operation: TextOperation, expected: String) {
    #expect(
      text(
        ShareDBFrame.change(
          .operation(operation), of: Self.note, version: 7, source: "o", sequence: 4))
        == #"{"a":"op","c":"notes","d":"n1","v":7,"src":"o","seq":4,"op":\#(expected)}"#)
  }

  @Test func writes_changes_without_an_operation() {
    #expect(
      text(
        ShareDBFrame.change(
          .acknowledgement, of: Self.note, version: 8, source: "a.t", sequence: 1))
        == #"{"a":"op","c":"notes","d":"n1","v":8,"src":"a.t","seq":1}"#)
    #expect(
      text(
        ShareDBFrame.change(
          .creation(text: "t"), of: Self.note, version: 0, source: "o", sequence: 1))
        == #"{"a":"op","c":"notes","d":"n1","v":0,"src":"o","seq":1,"create":{"type":"http://sharejs.org/types/text-unicode","data":"t"}}"#
    )
  }

  @Test func writes_errors_and_presence() {
    let error = ShareDBError(.rejected, "no")
    #expect(
      text(ShareDBFrame.error(error, .operation, of: Self.note, change: 3))
        == #"{"a":"op","c":"notes","d":"n1","seq":3,"error":{"code":"ERR_OP_SUBMIT_REJECTED","message":"no"}}"#
    )
    #expect(
      text(ShareDBFrame.error(error, "qf", number: 2))
        == #"{"a":"qf","id":2,"error":{"code":"ERR_OP_SUBMIT_REJECTED","message":"no"}}"#)
    #expect(
      text(ShareDBFrame.answer(.presenceSubscribe, ofPresenceIn: "notes.n1", sequence: 2))
        == #"{"a":"ps","ch":"notes.n1","seq":2}"#)
    let presence = ShareDBPresence(
      channel: "notes.n1", id: "i", value: Array("[1]".utf8), number: 3)
    #expect(
      text(ShareDBFrame.presence(presence, source: "s"))
        == #"{"a":"p","ch":"notes.n1","src":"s","id":"i","p":[1],"pv":3}"#)
  }

  /// A written operation is read as the same operation, but for its last retain.
  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func written_operations_are_read(seed: UInt64) throws {
    var random = seed &* 0x9e37_79b9_7f4a_7c15 | 1
    func below(_ bound: UInt64) -> Int {
      random ^= random << 13
      random ^= random >> 7
      random ^= random << 17
      return Int(random % bound)
    }
    var operation = TextOperation()
    for _ in 0..<below(12) {
      switch below(3) {
      case 0: operation.retain(1 + below(5))
      case 1: operation.insert(["a", "é", "😀\n", "\"\\"][below(4)])
      default: operation.delete(1 + below(3))
      }
    }
    var bytes: [UInt8] = []
    ShareDBFrame.append(operation, to: &bytes)
    guard case .operation(let known)? = change(#""op":\#(text(bytes))"#)?.content else {
      Issue.record("not read: \(text(bytes))")
      return
    }
    var components = operation.components
    if case .retain? = components.last { components.removeLast() }
    #expect(known.components == components)
  }
}
