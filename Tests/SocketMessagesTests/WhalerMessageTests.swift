import OTCore
import SocketMessages
import Testing

@Suite("The messages of the Whaler family")
struct WhalerMessageTests {
  @Test(
    "frames as deployed clients send them",
    arguments: [
      #"{"messageId":"5E1C…","type":"resourceConnection","data":{"resourceId":"acc-1"}}"#,
      #"{"messageId":"A77B…","type":"docChange","data":{"resourceId":"acc-1","rev":0,"n":[6,0,4],"s":["","w",""]}}"#,
    ])
  func clientFrames(frame: String) throws {
    #expect(try Dialect.whalerClient.again(frame) == frame)
  }

  @Test(
    "frames as deployed clients understand them",
    arguments: [
      #"{"senderId":"S","messageId":"5E1C…","type":"resourceConnectionConf","data":{"resourceId":"acc-1","initialState":"Hello orld","revision":0}}"#,
      #"{"senderId":"S","messageId":"A77B…","type":"docChangeReturnOps","data":{"resourceId":"acc-1","n":[6,0,4],"s":["","w",""]}}"#,
      #"{"senderId":"S","messageId":"F00D","type":"resourceUpdate","data":{"resourceId":"org-1","senderId":"app-1"}}"#,
      #"{"senderId":"S","messageId":"F00D","type":"resourceUpdate","data":{"resourceId":"org-1","senderId":null}}"#,
    ])
  func serverFrames(frame: String) throws {
    let expected = frame.replacing(
      #""senderId":"S","#, with: #""senderId":"\#(Dialect.whalerSender)","#)
    #expect(try Dialect.whalerServer.again(frame) == expected)
  }

  @Test("the worked exchange, value by value")
  func exchange() throws {
    let (id, message) = try decode(
      #"{"messageId":"A77B…","type":"docChange","data":{"resourceId":"acc-1","rev":0,"n":[6,0,4],"s":["","w",""]}}"#
    )
    #expect(id == "A77B…")
    guard case .docChange(let change) = message else {
      Issue.record("not a docChange")
      return
    }
    #expect(change.resourceID == "acc-1")
    #expect(change.revision == 0)
    #expect(change.operation == (try operation(#"[6,"w",4]"#)))
    #expect(try change.operation.applied(to: "Hello orld") == "Hello world")
  }

  @Test(
    "operations in two arrays",
    arguments: [
      // Typing at the end: the client sends a trailing "retain 0".
      (#""n":[5,0,0],"s":["","!",""]"#, #"[5,"!"]"#, #""n":[5,0],"s":["","!"]"#),
      // A text beside a retain or a delete means nothing.
      (#""n":[1,-2],"s":["x","y"]"#, "[1,-2]", #""n":[1,-2],"s":["",""]"#),
      // What does nothing on the empty document.
      (#""n":[0],"s":[""]"#, "[0]", #""n":[0],"s":[""]"#),
      (#""n":[0,0,0],"s":["","",""]"#, "[0]", #""n":[0],"s":[""]"#),
      // Two empty arrays are let in, and never sent.
      (#""n":[],"s":[]"#, "[0]", #""n":[0],"s":[""]"#),
      // Parts of one kind are joined.
      (
        #""n":[1,2,0,0,-1,-1],"s":["","","a","b","",""]"#, #"[3,"ab",-2]"#,
        #""n":[3,0,-2],"s":["","ab",""]"#
      ),
      // The order of insert and delete is kept.
      (#""n":[-1,0],"s":["","x"]"#, #"[-1,"x"]"#, #""n":[-1,0],"s":["","x"]"#),
      (#""n":[0,-1],"s":["x",""]"#, #"["x",-1]"#, #""n":[0,-1],"s":["x",""]"#),
      // `s` may come first.
      (#""s":["","é👍"],"n":[1,0]"#, #"[1,"é👍"]"#, #""n":[1,0],"s":["","é👍"]"#),
    ])
  func operations(fields: String, expected: String, written: String) throws {
    let frame =
      #"{"messageId":"m","type":"docChange","data":{"resourceId":"r","rev":3,\#(fields)}}"#
    let (_, message) = try decode(frame)
    let expected = try operation(expected)
    #expect(
      message
        == .docChange(
          WhalerClientMessage.DocChange(resourceID: "r", revision: 3, operation: expected)))
    #expect(
      try Dialect.whalerClient.again(frame)
        == #"{"messageId":"m","type":"docChange","data":{"resourceId":"r","rev":3,\#(written)}}"#)
  }

  @Test("an operation without components is written as a no-op, never as empty arrays")
  func noEmptyArrays() {
    var buffer: [UInt8] = []
    WhalerServerMessage.docChangeReturnOps(
      WhalerServerMessage.DocChangeReturnOps(resourceID: "r", operation: .identity(length: 0))
    ).encode(senderID: "S", messageID: "m", into: &buffer)
    #expect(
      String(decoding: buffer, as: UTF8.self)
        == #"{"senderId":"S","messageId":"m","type":"docChangeReturnOps","data":{"resourceId":"r","n":[0],"s":[""]}}"#
    )
  }

  @Test(
    "n and s of different lengths are refused with both lengths",
    arguments: [
      (#""n":[6,0,4],"s":["","w"]"#, 3, 2), (#""n":[],"s":[""]"#, 0, 1),
      (#""n":[1],"s":[]"#, 1, 0), (#""n":[0,0],"s":["a","b","c"]"#, 2, 3),
    ])
  func unequal(fields: String, numbers: Int, texts: Int) throws {
    let error = try #require(
      Dialect.whalerClient.error(
        #"{"messageId":"m7","type":"docChange","data":{"resourceId":"r","rev":3,\#(fields)}}"#))
    #expect(error.code == .badOperation)
    #expect(error.messageID == "m7")
    #expect(error.description.contains("n has \(numbers) elements"))
    #expect(error.description.contains("s has \(texts)"))
  }

  @Test(
    "operations that no document can be long enough for are refused",
    arguments: [
      "1073741824", "-1073741824", "9007199254740992", "-9007199254740992",
      "1073741823,1", "1,-1073741823", "536870912,536870912",
    ])
  func tooLong(numbers: String) throws {
    let texts = Array(repeating: #""""#, count: numbers.split(separator: ",").count)
      .joined(separator: ",")
    let error = try #require(
      Dialect.whalerClient.error(
        #"{"messageId":"m","type":"docChange","data":{"resourceId":"r","rev":0,"n":[\#(numbers)],"s":[\#(texts)]}}"#
      ))
    #expect(error.code == .badOperation)
  }

  @Test("senderId may come first, as the server writes it")
  func senderFirst() throws {
    let (id, message) = try decode(
      #"{"senderId":"someone","messageId":"m","type":"resourceConnection","data":{"resourceId":"r"}}"#
    )
    #expect(id == "m")
    #expect(
      message == .resourceConnection(WhalerClientMessage.ResourceConnection(resourceID: "r")))
  }

  private func decode(
    _ json: String
  ) throws -> (messageID: String, message: WhalerClientMessage) {
    try withBytes(of: json.utf8) { bytes throws(MessageError) in
      try WhalerClientMessage.decode(bytes)
    }
  }
}
