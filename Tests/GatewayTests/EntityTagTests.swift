import Gateway
import ParleyGatewayPorts
import Testing

@Suite("If-None-Match")
struct EntityTagTests {
  @Test(
    "tags match in lists, and by weak comparison",
    arguments: [
      #""41""#, #"W/"41""#, #""7", "41""#, #""7","41","8""#, #"  "7" , W/"41"  "#, "*", " *",
      #""a,b", "41""#, #",, "41""#, #""41", broken"#,
    ])
  func known(header: String) {
    #expect(EntityTags(header)?.matches("\"41\"") ?? false)
    #expect(EntityTags(header)?.matches("W/\"41\"") ?? false)
  }

  @Test(
    "other tags and invalid tags do not match",
    arguments: [
      #""4""#, #""411""#, "41", "", #"W/"#, #"""#, #""41"#, #"w/"41""#, "**", #"broken, "41""#,
      #""7,41""#,
    ])
  func unknown(header: String) {
    #expect(EntityTags(header)?.matches("\"41\"") == false)
  }

  @Test("the answer to a matching request has headers, but no body")
  func responses() {
    let whole = Response(
      status: 200,
      headers: [("content-type", "text/plain"), ("etag", "\"1\""), ("cache-control", "no-store")],
      body: [1])
    let known = whole.unless(known: EntityTags("\"1\""))
    #expect(known.status == 304 && known.body.isEmpty)
    #expect(known.headers.map(\.name) == ["etag", "cache-control"])
    #expect(whole.unless(known: EntityTags("\"2\"")).status == 200)
    #expect(whole.unless(known: nil).status == 200)
    var failed = whole
    failed.status = 404
    #expect(failed.unless(known: EntityTags("*")).status == 404)
  }
}
