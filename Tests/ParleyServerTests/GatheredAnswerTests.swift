import ParleyGatewayPorts
import ParleyServer
import Testing

/// Merging the responses of several loops into one.
@Suite("Answers of several loops")
struct GatheredAnswerTests {
  private func response(_ body: String, status: Int = 200) -> Response {
    Response(status: status, headers: [], body: Array(body.utf8))
  }

  private func kind(_ method: String, _ path: String, query: String = "") throws
    -> MergedResponse.Kind
  {
    try #require(
      MergedResponse.Kind(RequestHead(method: method, path: path, query: query, headers: [:])))
  }

  private func text(_ answer: MergedResponse) -> String {
    String(decoding: answer.response.body, as: UTF8.self)
  }

  @Test(
    "a request is retryable if any loop has not done its part",
    arguments: [
      ("GET", "/api/connections"), ("GET", "/api/rooms"), ("POST", "/api/revoke"),
      ("POST", "/api/users/a/b/disconnect"), ("POST", "/api/users/a/refresh-rights"),
    ])
  func unfinished(method: String, path: String) throws {
    let good = response(#"{"connections":1}"#)
    var answer = MergedResponse(try kind(method, path), good)
    answer.add(MergedResponse.unfinished)
    #expect(answer.response.status == 503)
    answer.add(good)
    #expect(answer.response.status == 503)
    #expect(text(answer).contains(#""unavailable""#))
    // An invalid response counts as a missing one.
    var broken = MergedResponse(try kind(method, path), good)
    broken.add(response("nonsense"))
    #expect(broken.response.status == 503)
  }

  @Test("numbers are added")
  func numbers() throws {
    var answer = MergedResponse(
      try kind("POST", "/api/users/ada/disconnect"), response(#"{"connections":2}"#))
    answer.add(response(#"{"connections":3}"#))
    answer.add(response(#"{"connections":0}"#))
    #expect(text(answer) == #"{"connections":5}"#)
  }

  @Test("connections are merged in order, up to the requested number")
  func connections() throws {
    var answer = MergedResponse(
      try kind("GET", "/api/connections", query: "limit=3"),
      response(#"{"connections":[{"id":"1"},{"id":"10"}],"total":2,"more":false}"#))
    answer.add(response(#"{"connections":[{"id":"2"},{"id":"9"}],"total":7,"more":false}"#))
    #expect(
      text(answer)
        == #"{"connections":[{"id":"1"},{"id":"2"},{"id":"9"}],"total":9,"more":true}"#)
  }

  @Test("a room at several loops is listed once")
  func rooms() throws {
    var answer = MergedResponse(
      try kind("GET", "/api/rooms"),
      response(
        #"{"rooms":[{"room":"b","subscribers":1,"present":2}],"total":1,"more":false}"#),
      rooms: [Array("b".utf8)])
    answer.add(
      response(
        #"{"rooms":[{"room":"a","subscribers":1,"present":0},{"room":"b","subscribers":3,"present":2}],"total":2,"more":false}"#
      ), rooms: [Array("a".utf8), Array("b".utf8)])
    #expect(
      text(answer)
        == #"{"rooms":[{"room":"a","subscribers":1,"present":0},{"room":"b","subscribers":4,"present":2}],"total":2,"more":false}"#
    )
  }

  @Test(
    "answers that one loop gives for all are not gathered",
    arguments: [("GET", "/api/notes"), ("POST", "/api/connections"), ("POST", "/api/users/a")])
  func others(method: String, path: String) {
    #expect(
      MergedResponse.Kind(RequestHead(method: method, path: path, query: "", headers: [:])) == nil)
  }
}
