import ParleyClientCore
import ParleyJSON
import SocketMessages
import Testing

@Suite("Undo of a room's values")
struct ValueUndoTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The values before, by name.
    let start: [String: String]
    /// The own operations, and another client's later ones, as JSON.
    let own: String
    var others = "[]"
    /// The values after the undo, or the name that prevents it.
    let expected: Expected

    enum Expected: Sendable { case values([String: String]), changedSince(String) }

    init(
      _ what: String, _ start: [String: String], _ own: String, _ others: String = "[]",
      gives values: [String: String]
    ) {
      (testDescription, self.start, self.own) = (what, start, own)
      (self.others, expected) = (others, .values(values))
    }

    init(
      _ what: String, _ start: [String: String], _ own: String, _ others: String,
      isPreventedBy name: String
    ) {
      (testDescription, self.start, self.own) = (what, start, own)
      (self.others, expected) = (others, .changedSince(name))
    }
  }

  static let cases = [
    Case("a set", ["a": "1"], #"[{"set":"a","to":2}]"#, gives: ["a": "1"]),
    Case("a new value", [:], #"[{"set":"a","to":2}]"#, gives: [:]),
    Case("a delete", ["a": #"{"b":null}"#], #"[{"delete":"a"}]"#, gives: ["a": #"{"b":null}"#]),
    Case("a delete of nothing", [:], #"[{"delete":"a"}]"#, gives: [:]),
    Case(
      "an addition", ["n": "5"], #"[{"add":"n","by":2}]"#, #"[{"add":"n","by":10}]"#,
      gives: ["n": "15"]),
    Case("a first addition", [:], #"[{"add":"n","by":2}]"#, gives: [:]),
    Case(
      "a first addition, with others", [:], #"[{"add":"n","by":2}]"#, #"[{"add":"n","by":1}]"#,
      gives: ["n": "1"]),
    Case(
      "fields", ["a": #"{"in":{"u":1,"v":null},"x":1.50,"y":1}"#],
      #"[{"merge":"a","with":{"x":2,"y":null,"z":3,"in":{"u":null}}}]"#,
      #"[{"merge":"a","with":{"w":9,"in":{"t":1}}}]"#,
      gives: ["a": #"{"in":{"t":1,"u":1,"v":null},"w":9,"x":1.50,"y":1}"#]),
    Case(
      "a field that held null", ["a": #"{"x":null}"#], #"[{"merge":"a","with":{"x":2}}]"#,
      gives: ["a": #"{"x":null}"#]),
    Case(
      "a field that held an object with null", ["a": #"{"x":{"n":null}}"#],
      #"[{"merge":"a","with":{"x":2}}]"#, gives: ["a": #"{"x":{"n":null}}"#]),
    Case(
      "a merge into a number", ["a": "5"], #"[{"merge":"a","with":{"x":2}}]"#, gives: ["a": "5"]),
    Case("true in place of 1", ["a": "true"], #"[{"set":"a","to":1}]"#, gives: ["a": "true"]),
    Case(
      "several of one name", ["a": #"{"x":1}"#],
      #"[{"set":"a","to":{"y":2}},{"merge":"a","with":{"z":3}},{"add":"n","by":1}]"#,
      gives: ["a": #"{"x":1}"#]),
    Case(
      "a name beside another's", ["a": "1"], #"[{"set":"a","to":2}]"#, #"[{"set":"b","to":3}]"#,
      gives: ["a": "1", "b": "3"]),
    Case(
      "another's set", ["a": "1"], #"[{"set":"a","to":2}]"#, #"[{"set":"a","to":3}]"#,
      isPreventedBy: "a"),
    Case(
      "another's equal set", ["a": "1"], #"[{"set":"a","to":2}]"#, #"[{"set":"a","to":2}]"#,
      isPreventedBy: "a"),
    Case(
      "another's value after a delete", ["a": "1"], #"[{"delete":"a"}]"#, #"[{"set":"a","to":1}]"#,
      isPreventedBy: "a"),
    Case(
      "another's delete", ["a": "1"], #"[{"set":"a","to":2}]"#, #"[{"delete":"a"}]"#,
      isPreventedBy: "a"),
    Case(
      "another's field in a new value", [:], #"[{"merge":"a","with":{"x":1}}]"#,
      #"[{"merge":"a","with":{"y":1}}]"#, isPreventedBy: "a"),
    Case(
      "another's equal field", ["a": #"{"x":1}"#], #"[{"merge":"a","with":{"x":2}}]"#,
      #"[{"merge":"a","with":{"x":2}}]"#, isPreventedBy: "a"),
    Case(
      "another's set over an addition", ["n": "1"], #"[{"add":"n","by":2}]"#,
      #"[{"set":"n","to":3}]"#, isPreventedBy: "n"),
    Case(
      "one of two names", ["a": "1", "b": "1"], #"[{"set":"a","to":2},{"set":"b","to":2}]"#,
      #"[{"set":"b","to":3}]"#, isPreventedBy: "b"),
  ]

  private func operations(_ json: String) throws -> [ValueOperation] {
    try #require(JSONValue(json.utf8).flatMap { ValueOperation.list(in: $0) })
  }

  private func live(_ start: [String: String]) -> Rig {
    var rig = Rig()
    rig.connect()
    rig.room(.followValues)
    rig.room(.subscribe(isPresent: false, from: nil))
    var reply = ServerMessage.Subscribed(
      room: "r", position: RoomPosition(epoch: "p", offset: 5))
    reply.values = NamedValues(
      start.map { .init(ValueName($0), JSONValue($1.utf8) ?? .null, offset: 5) }
        .sorted { $0.name < $1.name })
    rig.receive(.subscribed(reply), to: "subscribe")
    return rig
  }

  private func change(_ rig: inout Rig, _ operations: [ValueOperation]) {
    var publish = ClientMessage.Publish(room: "r", data: .null, key: "k")
    publish.data = nil
    publish.values = ValueOperationList(operations)
    rig.room(.change(publish, key: "k", .change))
  }

  private func publication(
    _ rig: inout Rig, _ offset: Int, by sender: String?, _ operations: [ValueOperation]
  ) {
    let publication = Publication(
      offset: offset, time: 1, senderID: sender, data: nil,
      values: ValueOperation.json(of: operations))
    rig.receive(.publication(.init(room: "r", epoch: "p", publication: publication)))
  }

  @Test("restores what was replaced, unless another has changed it since", arguments: cases)
  func inverse(_ example: Case) throws {
    var rig = live(example.start)
    let (own, others) = (try operations(example.own), try operations(example.others))
    change(&rig, own)
    #expect(rig.machine.values(ofRoom: "r")?.inverse(of: "k", .undo) == .unknown)
    publication(&rig, 6, by: "k", own)
    rig.published(6)
    if !others.isEmpty { publication(&rig, 7, by: nil, others) }
    let inverse = rig.machine.values(ofRoom: "r")?.inverse(of: "k", .undo)
    switch example.expected {
    case .changedSince(let name): #expect(inverse == .changedSince([ValueName(name)]))
    case .values(let values):
      guard case .operations(let undo, let offsets) = inverse else {
        Issue.record("\(String(describing: inverse))")
        return
      }
      let replica = try #require(rig.machine.values(ofRoom: "r"))
      for (name, offset) in offsets { #expect(replica.stored(name)?.offset ?? 0 == offset) }
      publication(&rig, 8, by: nil, undo)
      for name in Set(["a", "b", "n"]).union(values.keys) {
        let value = rig.machine.values(ofRoom: "r")?.stored(ValueName(name))?.value
        #expect(value.map { String(decoding: $0.utf8, as: UTF8.self) } == values[name])
      }
    }
  }

  @Test("values that were read again, without the changes in between, are not overwritten")
  func reread() throws {
    var rig = live(["a": "1", "b": "1"])
    let own = try operations(#"[{"set":"a","to":2},{"set":"b","to":2}]"#)
    change(&rig, own)
    publication(&rig, 6, by: "k", own)
    rig.published(6)
    _ = rig.reconnect()
    var reply = ServerMessage.Subscribed(
      room: "r", position: RoomPosition(epoch: "p", offset: 9))
    reply.isRecovered = false
    reply.values = NamedValues([
      .init("a", JSONValue(2), offset: 6), .init("b", JSONValue(2), offset: 9),
    ])
    rig.receive(.subscribed(reply), to: "subscribe")
    #expect(rig.machine.values(ofRoom: "r")?.inverse(of: "k", .undo) == .changedSince(["b"]))
  }

  @Test("a refused change cannot be undone, and at most 100 can")
  func bounds() throws {
    var rig = live([:])
    change(&rig, try operations(#"[{"add":"a","by":1}]"#))
    let refusal = ServerMessage.Failure(
      code: .badOperation, message: "", retryable: false, retryAfter: nil)
    rig.receive(.error(refusal), to: "publish")
    #expect(rig.machine.values(ofRoom: "r")?.undo.last(.undo) == nil)
    for number in 0..<120 {
      var publish = ClientMessage.Publish(room: "r", data: .null, key: "k\(number)")
      publish.data = nil
      publish.values = ValueOperationList([ValueOperation("a", .add(1))])
      rig.room(.change(publish, key: "k\(number)", .change))
    }
    let undo = try #require(rig.machine.values(ofRoom: "r")?.undo)
    #expect(undo.last(.undo) == "k119")
    #expect((0..<120).filter { undo.contains("k\($0)", .undo) } == Array(20..<120))
  }
}
