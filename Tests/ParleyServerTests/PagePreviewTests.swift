import ParleyGatewayPorts
import ParleyServer
import Testing

@Suite("Previews of the page, and names of devices")
struct PagePreviewTests {
  private func title(_ title: String?) throws -> String {
    let text = PagePreview(title: title, site: nil).text
    let match = try #require(
      text.firstMatch(of: /<meta property="og:title" content="([^"<>]*)">\n/))
    return String(match.1)
  }

  @Test(
    "a title is one line, and cannot end its element",
    arguments: [
      ("Plan", "Plan"), (nil, "Parley"), ("", "Parley"), (" \n\t ", "Parley"),
      ("a\r\nb\u{2028}c", "a b c"),
      ("\"><script>x</script>", "&quot;&gt;&lt;script&gt;x&lt;/script&gt;"),
      ("'&amp;", "&#39;&amp;amp;"), ("\u{202e}gpj.exe\u{2066}", "gpj.exe"), ("\u{0}\u{7f}x", "x"),
    ] as [(String?, String)])
  func escapes(written: String?, shown: String) throws { #expect(try title(written) == shown) }

  @Test("a long title is truncated between scalars", arguments: ["x", "é", "\u{1f426}"])
  func cuts(letter: String) throws {
    let shown = try title(String(repeating: letter, count: 10_000))
    #expect(shown.utf8.count <= PagePreview.titleBytesMax + 3)
    #expect(shown.hasPrefix(letter) && shown.hasSuffix("…"))
  }

  @Test("the picture has the site's address")
  func picture() {
    let text = PagePreview(title: nil, site: "https://notes.example.org/a").text
    #expect(
      text.contains(
        "<meta property=\"og:image\" content=\"https://notes.example.org/a/assets/icon-512.png\">"))
  }

  @Test(
    "a device has a readable name",
    arguments: [
      (
        "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox", "Linux"
      ),
      (
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
          + "Chrome/126.0 Safari/537.36 Edg/126.0", "Edge", "Windows"
      ),
      (
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like "
          + "Gecko) Version/17.5 Mobile/15E148 Safari/604.1", "Safari", "iPhone"
      ),
      (
        "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Mobile "
          + "Safari/537.36", "Chrome", "Android"
      ),
      ("curl/8.5.0", "curl", ""), ("", "", ""), ("<b>\u{202e}x", "", ""),
      (String(repeating: "a", count: 5_000), String(repeating: "a", count: 40), ""),
    ])
  func devices(agent: String, browser: String, system: String) {
    var head = RequestHead(method: "POST", path: "/", query: "", headers: [:])
    head.headers["user-agent"] = agent
    #expect(
      DeviceName.device(of: head) == Session.Device(browser: browser, system: system))
  }
}
