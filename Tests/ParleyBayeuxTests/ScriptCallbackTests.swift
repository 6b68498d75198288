import ParleyBayeux
import Testing

@Suite("Scripts for pages of other origins")
struct ScriptCallbackTests {
  @Test(
    "names of functions are accepted",
    arguments: [
      "jsonpcallback", "__jsonp1__", "jQuery17_42", "org.cometd._callback", "$", "a.$.b_1", "_",
      String(repeating: "a", count: 128),
    ])
  func names(name: String) throws {
    let callback = try #require(ScriptCallback(name))
    #expect(callback.name == name)
  }

  @Test(
    "other texts, which could run as code or end the script, are rejected",
    arguments: [
      "", ".", "a.", ".a", "a..b", "1a", "a.1", "a-b", "a b", "a()", "a;b", "a[0]", "alert(1)//",
      "</script>", "a\n", "a\u{2028}", "a\u{0}", "é", "a\"", "a'", "a/**/", "a=b", "a,b", "a?b",
      "%61",
      String(repeating: "a", count: 129),
    ])
  func noNames(name: String) { #expect(ScriptCallback(name) == nil) }

  @Test("JSON becomes a call, and characters that end a line in old scripts are escaped")
  func script() throws {
    let callback = try #require(ScriptCallback("f.g"))
    func script(_ json: String) -> String {
      String(decoding: callback.script(Array(json.utf8)), as: UTF8.self)
    }
    #expect(script("[]") == "/**/f.g([]);")
    #expect(
      script(#"["a\#u{2028}b\#u{2029}","\#u{2027}\#u{202a}é\#u{20ac}"]"#)
        == #"/**/f.g(["a\u2028b\u2029","\#u{2027}\#u{202a}é\#u{20ac}"]);"#)
  }
}
