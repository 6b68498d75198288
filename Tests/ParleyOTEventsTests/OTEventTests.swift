import OTCore
import ParleyJSON
import ParleyOTEvents
import Testing

/// Examples of all events.
@Suite("Events of ot.js")
struct OTEventTests {
  private func json(_ text: String) -> JSONValue { JSONValue(Array(text.utf8)) ?? .null }

  private func read(_ name: String, _ arguments: String) -> OTEvent? {
    OTEvent(name, json("[\(arguments)]").elements ?? [], componentsMax: 10)
  }

  private func text(_ frame: OTFrame) -> String {
    let all = [JSONValue(frame.name)] + frame.arguments
    return String(decoding: JSONValue(all).utf8, as: UTF8.self)
  }

  @Test func reads() throws {
    let selection = #"{"ranges":[{"anchor":4,"head":4}]}"#
    #expect(
      read("operation", #"7,[3,"x",-2,4],\#(selection)"#)
        == .operation(
          revision: 7, [.retain(3), .insert("x"), .delete(2), .retain(4)],
          selection: json(selection)))
    #expect(
      read("operation", #"0,[-1,"x"],null"#)
        == .operation(revision: 0, [.insert("x"), .delete(1)], selection: .null))
    #expect(read("selection", selection) == .selection(json(selection)))
    #expect(read("get_operations", "7,11") == .getOperations(7..<11))
    guard case .operation(_, let operation, _)? = read("operation", #"0,["😀"]"#) else {
      Issue.record("not read")
      return
    }
    #expect(operation.targetLength == 2)
  }

  @Test(arguments: [
    ("operation", ""), ("operation", "7"), ("operation", "-1,[]"), ("operation", "7,[1.5]"),
    ("operation", "7,[null]"), ("operation", #"7,["\ud83d"]"#), ("operation", "7,[1],{}"),
    ("operation", #"7,[1,"a",1,"a",1,"a",1,"a",1,"a",1]"#), ("selection", "7"), ("selection", ""),
    ("get_operations", "7"), ("get_operations", "8,7"), ("get_operations", "0,999999"),
    ("user status", "{}"), ("", ""),
  ])
  func refuses(name: String, arguments: String) { #expect(read(name, arguments) == nil) }

  @Test func writes() {
    let user = OTFrame.User(
      session: "S", name: "Ann", color: "#aabbcc", selection: json(#"{"ranges":[]}"#))
    #expect(
      text(.document("a\n", revision: 7, users: [user]))
        == ##"["doc",{"str":"a\n","revision":7,"clients":{"S":{"name":"Ann","color":"#aabbcc","selection":{"ranges":[]}}}}]"##
    )
    #expect(
      text(.document("", revision: 0, users: [], force: true))
        == #"["doc",{"str":"","revision":0,"clients":{},"force":true}]"#)
    #expect(text(.acknowledgement(revision: nil)) == #"["ack"]"#)
    #expect(text(.acknowledgement(revision: 8)) == #"["ack",8]"#)
    let operation: TextOperation = [.retain(1), .insert("x"), .delete(2)]
    #expect(
      text(.operation(operation, by: "S", revision: nil, selection: nil))
        == #"["operation","S",[1,"x",-2],null]"#)
    #expect(
      text(.operation(operation, by: "S", revision: 8, selection: json(#"{"ranges":[]}"#)))
        == #"["operation","S",8,[1,"x",-2],{"ranges":[]}]"#)
    #expect(text(.operations([operation], before: 11)) == #"["operations",11,[[1,"x",-2]]]"#)
    #expect(text(.selection(.null, of: "S")) == #"["selection","S",null]"#)
    #expect(text(.name("Ann", of: "S")) == #"["set_name","S","Ann"]"#)
    #expect(text(.color("#aabbcc", of: "S")) == ##"["set_color","S","#aabbcc"]"##)
    #expect(text(.left("S")) == #"["client_left","S"]"#)
  }
}
