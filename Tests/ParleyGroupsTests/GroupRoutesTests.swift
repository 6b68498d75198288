import ParleyJSON
import ParleyOffline
import Testing

import ParleyGroups

@Suite("Group chat's requests")
struct GroupRoutesTests {
  /// A gateway that has two messages of a group, one of them liked.
  private struct Gateway: WebTransport {
    let offsets: [Int]

    func send(_ request: WebRequest) async throws -> WebResponse {
      let body: String
      if request.url.contains("/history") {
        let lines = offsets.map { #"{"offset":\#($0),"data":{"subject":{"text":"t\#($0)"}}}"# }
        body = #"{"publications":[\#(lines.joined(separator: ","))]}"#
      } else {
        body = #"{"likes":[{"offset":4,"personId":"ben","reaction":"like"}],"next":"9"}"#
      }
      return WebResponse(status: 200, body: Array(body.utf8))
    }
  }

  @Test(
    "messages come with their likes, in whatever order the gateway names them",
    arguments: [
      [4, 9], [9, 4], [9, 4, 7],
    ])
  func order(offsets: [Int]) async throws {
    let routes = GroupRoutes("http://h/api", transport: Gateway(offsets: offsets)) { "ann" }
    let answer = try await routes.send(WebRequest("GET", "http://h/api/messages?group=g"))
    #expect(answer.status == 200)
    let lines = try #require(JSONValue(answer.body)?.elements).compactMap(\.fields)
    #expect(lines.map { $0["text"]?.string } == offsets.map { "t\($0)" })
    let liked = lines.filter { $0["likes"]?.fields?["ben"]?.string == "like" }
    #expect(liked.map { $0["text"]?.string } == ["t4"])
  }
}
