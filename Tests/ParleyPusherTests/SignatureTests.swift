import ParleyPusher
import Testing

@Suite("Signatures of Pusher's protocol")
struct SignatureTests {
  @Test("subscriptions and sign-ins are signed as in the published examples")
  func examples() throws {
    let app = exampleApp()
    let restricted = try #require(PusherChannel("private-foobar"))
    let presence = try #require(PusherChannel("presence-foobar"))
    for (text, signature) in [
      (
        PusherApp.subscriptionText(
          socketID: "1234.1234", channel: restricted, channelData: nil),
        "58df8b0c36d6982b82c3ecf6b4662e34fe8c25bba48f5369f135bf843651c3a4"
      ),
      (
        PusherApp.subscriptionText(
          socketID: "1234.1234", channel: presence,
          channelData: #"{"user_id":10,"user_info":{"name":"Mr. Channels"}}"#),
        "31935e7d86dba64c2a90aed31fdc61869f9b22ba9d8863bba239c03ca481bc80"
      ),
      (
        PusherApp.signInText(socketID: "1234.1234", userData: #"{"id":"12345"}"#),
        "4708d583dada6a56435fb8bc611c77c359a31eebde13337c16ab43aa6de336ba"
      ),
    ] {
      #expect(app.signature(Array(text.utf8)) == signature)
      #expect(app.accepts("278d425bdf160c739803:" + signature, of: text))
      #expect(!app.accepts("278d425bdf160c739803:" + signature.dropLast() + "b", of: text))
      #expect(!app.accepts("278d425bdf160c739803:" + signature, of: text + " "))
      #expect(!app.accepts("278d425bdf160c739804:" + signature, of: text))
      #expect(!app.accepts(signature, of: text) && !app.accepts("", of: text))
    }
  }

  @Test("requests are signed as in the published example")
  func requests() throws {
    let app = exampleApp()
    let body = Array(#"{"name":"foo","channels":["project-3"],"data":"{\"some\":\"data\"}"}"#.utf8)
    let text =
      "auth_key=278d425bdf160c739803&auth_timestamp=1353088179&auth_version=1.0"
      + "&body_md5=ec365a775a4cd0599faeb73354201b6f"
      + "&auth_signature=da454824c97ba181a32ccc17a72625ba02771f50b50e1e7430e47a1f3f457e6c"
    let query = try #require(PusherQuery(text))
    try query.check("POST", "/apps/3/events", of: app, at: 1_353_088_179)
    try query.check(body, of: app)
    #expect(throws: PusherQuery.Problem.body) { try query.check([], of: app) }
    #expect(throws: PusherQuery.Problem.time) {
      try query.check("POST", "/apps/3/events", of: app, at: 1_353_088_780)
    }
    #expect(throws: PusherQuery.Problem.signature) {
      try query.check("GET", "/apps/3/events", of: app, at: 1_353_088_179)
    }
  }

  @Test("values may be signed as they are sent, or decoded, but not as another query")
  func encodedValues() throws {
    let app = exampleApp()
    func holds(_ sent: String, signed: String) throws -> Bool {
      let start = "auth_key=\(app.key)&auth_timestamp=0&auth_version=1.0&"
      let signature = app.signature(Array("GET\n/a\n\(start)\(signed)".utf8))
      let query = try #require(PusherQuery("\(start)\(sent)&auth_signature=\(signature)"))
      return (try? query.check("GET", "/a", of: app, at: 0)) != nil
    }
    #expect(try holds("info=a%2Cb", signed: "info=a%2Cb"))
    #expect(try holds("info=a%2Cb", signed: "info=a,b"))
    #expect(try holds("Info=a", signed: "info=a"))
    #expect(try !holds("info=a%26z%3Db", signed: "info=a&z=b"))
    #expect(PusherQuery("a=1&A=2") == nil && PusherQuery("a=%4") == nil)
  }
}
