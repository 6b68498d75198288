import OTCore
import ParleyJSON
import ParleyRustpad
import Testing

/// Examples of all messages.
@Suite("Rustpad messages")
struct RustpadTests {
  private func read(_ text: String) -> RustpadMessage? {
    RustpadMessage(Array(text.utf8), componentsMax: 10)
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test(arguments: [
    (
      #"{"Edit":{"revision":7,"operation":[3,"x",-2]}}"#,
      RustpadMessage.edit(revision: 7, [.retain(3), .insert("x"), .delete(2)])
    ),
    (#"{"Edit":{"revision":0,"operation":[]}}"#, .edit(revision: 0, [])),
    (#"{"SetLanguage":"go"}"#, .language("go")),
    (#"{"ClientInfo":{"name":"Bo","hue":9}}"#, .info(RustpadUser(name: "Bo", hue: 9))),
    (
      #"{"CursorData":{"cursors":[3],"selections":[[1,3]]}}"#,
      .cursors(JSONValue(Array(#"{"cursors":[3],"selections":[[1,3]]}"#.utf8)) ?? .null)
    ),
  ])
  func reads(message: String, expected: RustpadMessage) { #expect(read(message) == expected) }

  @Test(arguments: [
    "", "{}", "[]", "7", #"{"Edit":{}}"#, #"{"Edit":{"revision":-1,"operation":[]}}"#,
    #"{"Edit":{"revision":1,"operation":[1.5]}}"#, #"{"Edit":{"revision":1,"operation":[null]}}"#,
    #"{"Edit":{"revision":1,"operation":[1,"a",1,"a",1,"a",1,"a",1,"a",1]}}"#,
    #"{"Edit":{"revision":1,"operation":["\ud83d"]}}"#, #"{"SetLanguage":7}"#,
    #"{"ClientInfo":{"name":"Bo"}}"#, #"{"CursorData":{"cursors":[-1],"selections":[]}}"#,
    #"{"CursorData":{"cursors":[],"selections":[[1]]}}"#, #"{"CursorData":{"cursors":["x"]}}"#,
    "{\"SetLanguage\":\"\(String(repeating: "x", count: 300))\"}",
  ])
  func refuses(message: String) { #expect(read(message) == nil) }

  @Test func writes() {
    #expect(text(RustpadFrame.identity(4)) == #"{"Identity":4}"#)
    #expect(
      text(
        RustpadFrame.history(
          [
            .init(number: 2, operation: [.insert("Hello")]),
            .init(number: 0, operation: [.retain(5)]),
          ], from: 0))
        == #"{"History":{"start":0,"operations":[{"id":2,"operation":["Hello"]},{"id":0,"operation":[5]}]}}"#
    )
    #expect(text(RustpadFrame.language("markdown")) == #"{"Language":"markdown"}"#)
    #expect(
      text(RustpadFrame.user(2, RustpadUser(name: "Ann", hue: 120)))
        == #"{"UserInfo":{"id":2,"info":{"name":"Ann","hue":120}}}"#)
    #expect(text(RustpadFrame.user(2, nil)) == #"{"UserInfo":{"id":2,"info":null}}"#)
    #expect(
      text(RustpadFrame.cursors(2, JSONValue(Array(#"{"cursors":[3]}"#.utf8)) ?? .null))
        == #"{"UserCursor":{"id":2,"data":{"cursors":[3]}}}"#)
  }
}
