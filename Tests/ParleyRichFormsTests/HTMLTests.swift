import OTCore
import ParleyRichForms
import Testing

/// HTML of formatted texts.
@Suite("HTML of formatted texts")
struct HTMLTests {
  @Test(
    "examples",
    arguments: [
      (
        #"[{"insert":"Title"},{"insert":"\n","attributes":{"header":1}},{"insert":"a < b\n\n"}]"#,
        "<h1>Title</h1>\n<p>a &lt; b</p>\n<p><br></p>\n"
      ),
      (
        #"[{"insert":"a"},{"insert":"\n","attributes":{"list":"bullet"}},{"insert":"b"},"#
          + #"{"insert":"\n","attributes":{"list":"ordered","indent":3}},{"insert":"c"},"#
          + #"{"insert":"\n","attributes":{"list":"bullet"}},{"insert":"d"},"#
          + #"{"insert":"\n","attributes":{"list":"checked"}}]"#,
        """
        <ul>
        <li>a<ol>
        <li>b</li>
        </ol>
        </li>
        <li>c</li>
        </ul>
        <ul class="tasks">
        <li><label><input type="checkbox" disabled checked> d</label></li>
        </ul>

        """
      ),
      (
        #"[{"insert":"a"},{"insert":"\n","attributes":{"blockquote":true}},{"insert":"b\tc"},"#
          + #"{"insert":"\n","attributes":{"code-block":"c++"}},{"insert":"\n","attributes":{"code-block":"c++"}}]"#,
        "<blockquote>\n<p>a</p>\n</blockquote>\n<pre><code class=\"language-c++\">b\tc\n\n</code></pre>\n"
      ),
      (
        ##"[{"insert":"a","attributes":{"bold":true,"color":"#FF0000"}},"##
          + #"{"insert":"b","attributes":{"italic":true,"bold":true,"background":"red"}},"#
          + #"{"insert":"c","attributes":{"link":"mailto:a@b?x='\"","script":"super"}}]"#,
        "<p><strong><span style=\"color:#FF0000\">a</span><em>b</em></strong>"
          + "<a href=\"mailto:a@b?x=&#39;&quot;\" rel=\"noopener nofollow\"><sup>c</sup></a></p>\n"
      ),
      (
        #"[{"insert":"x"},{"insert":"\n","attributes":{"align":"center","direction":"rtl","indent":2}}]"#,
        "<p dir=\"rtl\" style=\"text-align:center;margin-inline-start:6em\">x</p>\n"
      ),
      (
        #"[{"insert":{"rule":true}},{"insert":"\n"},{"insert":{"formula":"a<b"}}]"#,
        "<hr>\n<p><code class=\"formula\">a&lt;b</code></p>\n"
      ),
      (#"[{"insert":"\n","attributes":{"header":2}}]"#, "<p><br></p>\n"),
      (
        #"[{"insert":"@A<","attributes":{"mention":"p\"><x>","bold":true}},{"insert":"b","attributes":{"mention":""}}]"#,
        "<p><span class=\"mention\" data-mention=\"p&quot;&gt;&lt;x&gt;\"><strong>@A&lt;</strong></span>b</p>\n"
      ),
    ] as [(String, String)])
  func examples(delta: String, expected: String) throws {
    let html = string(try note(delta).html())
    #expect(html == expected)
  }

  @Test func `pictures and files are those of the note`() throws {
    let hash = RandomNotes.hash
    func html(_ embed: String) throws -> String {
      string(try note(#"[{"insert":\#(embed),"attributes":{"alt":"a\"b","width":20}}]"#).html())
    }
    let picture = try html(#"{"image":"\#(hash)/a b\"<.png"}"#)
    #expect(
      picture
        == "<p><img src=\"files/\(hash)/a%20b%22%3C.png\" alt=\"a&quot;b\" width=\"20\"></p>\n")
    let file = try html(#"{"file":"\#(hash)/a%20b.pdf"}"#)
    #expect(
      file
        == "<p><a href=\"files/\(hash)/a%20b.pdf\" rel=\"noopener nofollow\">a b.pdf</a></p>\n")
    for other in [
      "https://evil/a.png", "data:image/svg+xml,x", "/\(hash)/a.png", "\(hash)/../a", "\(hash)/..",
      "\(hash)/%2E.",
      "\(hash)/", "\(hash)", "\(hash)/a\\\\b", "\(hash.uppercased())/a.png", "x\(hash)/a.png",
      "../\(hash)/a",
    ] {
      let html = try html(#"{"image":"\#(other)"}"#)
      #expect(html == "<p></p>\n")
    }
  }

  /// Addresses that run something, or that lead elsewhere than they seem to.
  private static let hostile = [
    "javascript:alert(1)", "JavaScript:alert(1)", "jAvAsCrIpT:alert(1)", " javascript:alert(1)",
    "\tjavascript:alert(1)", "java\tscript:alert(1)", "java\nscript:alert(1)",
    "java\rscript:alert(1)",
    "\u{1}javascript:alert(1)", "javascript\t:alert(1)", "javascript&colon;alert(1):",

    "data:text/html,<script>alert(1)</script>", "vbscript:x", "blob:x", "file:///etc/passwd",
    "about:blank",
    "view-source:x", "filesystem:x", "//evil.example", "/\\evil.example", "\\\\evil.example", "",
    "javascript://%0aalert(1)", "x\u{0}y", "\u{7f}javascript:alert(1)", "jar:x", "intent:x", "ws:x",
    "\u{a0}x:y",
    "ｊavascript:alert(1)", "javascript：alert(1):", "1:x", "-:x", ":x",
  ]

  @Test(arguments: hostile)
  func `hostile addresses are left out`(address: String) throws {
    let escaped = address.unicodeScalars.map { scalar in
      let digits = String(scalar.value, radix: 16)
      return scalar.value < 0x80
        ? "\\u" + String(repeating: "0", count: 4 - digits.count) + digits : String(scalar)
    }.joined()
    let document = try note(#"[{"insert":"x","attributes":{"link":"\#(escaped)"}}]"#)
    let (html, markdown) = (string(try document.html()), string(try document.markdown()))
    #expect(html == "<p>x</p>\n")
    #expect(markdown == "x\n")
  }

  @Test(arguments: [
    "https://a", "HTTP://a", "mailto:a@b", "a", "./a:b", "?a:b", "#a:b", "/a", "../a", "a/b:c",
    "x#javascript:a",
  ])
  func `other addresses are contained`(address: String) throws {
    let document = try note(#"[{"insert":"x","attributes":{"link":"\#(address)"}}]"#)
    let html = string(try document.html())
    #expect(html == "<p><a href=\"\(address)\" rel=\"noopener nofollow\">x</a></p>\n")
  }

  @Test(arguments: 1...600 as ClosedRange<UInt64>)
  func `only known elements are written, and the text is kept`(seed: UInt64) throws {
    let document = try RandomNotes.note(seed: seed)
    let html = string(try document.html())
    let reader = try StrictHTML(html)
    let expected = document.text.text.unicodeScalars.filter { scalar in
      !(scalar.value < 0x20 && scalar != "\t" || scalar.value == 0x7f || scalar == "\u{fffc}")
    }
    let found = reader.text.unicodeScalars.filter { $0 != "\n" && $0 != "\u{fffc}" }
    #expect(
      found.elementsEqual(expected) || reader.hasFileName || html.contains("checkbox"),
      "seed \(seed): \(html)")
  }

  @Test func `a page has the title as text`() throws {
    let page = string(try note(#"[{"insert":"a"}]"#).htmlPage(title: "</title><script>x</script>"))
    #expect(page.hasPrefix("<!DOCTYPE html>\n<html>"))
    #expect(page.contains("<title>&lt;/title&gt;&lt;script&gt;x&lt;/script&gt;</title>"))
    #expect(page.hasSuffix("<main>\n<p>a</p>\n</main>\n</body>\n</html>\n"))
  }
}

/// A reader of exactly the HTML that may be written: anything else is an error.
private struct StrictHTML {
  private(set) var text = ""
  private(set) var hasFileName = false

  private struct Unexpected: Error { let place: String }

  init(_ html: String) throws {
    var open: [Substring] = []
    var rest = html[...]
    while let start = rest.utf8.firstIndex(of: UInt8(ascii: "<")) {
      text += try Self.plain(rest[..<start])
      guard let end = rest[start...].utf8.firstIndex(of: UInt8(ascii: ">")) else {
        throw Unexpected(place: "no end of a tag")
      }
      let tag = rest[rest.index(after: start)..<end]
      rest = rest[rest.index(after: end)...]
      if tag.hasPrefix("/") {
        guard open.popLast() == tag.dropFirst() else {
          throw Unexpected(place: "</\(tag.dropFirst())>")
        }
        continue
      }
      let name = tag.prefix { $0.isASCII && ($0.isLetter || $0.isNumber) }
      guard Self.isKnown(name, tag.dropFirst(name.count)) else {
        throw Unexpected(place: "<\(tag)>")
      }
      if name == "a", tag.contains("\"files/") { hasFileName = true }
      if name == "p" || name == "h1", open.contains(name) {
        throw Unexpected(place: "<\(name)> within one")
      }
      if name == "a", open.contains("a") { throw Unexpected(place: "a link within a link") }
      if !["br", "hr", "img", "input"].contains(name) { open.append(name) }
    }
    text += try Self.plain(rest)
    guard open.isEmpty else { throw Unexpected(place: "the end, within \(open)") }
  }

  private static func isKnown(_ name: Substring, _ attributes: Substring) -> Bool {
    let block =
      /(\ dir="(ltr|rtl)")?(\ style="(text-align:(left|center|right|justify))?;?(margin-inline-start:\d+em)?")?/
    switch name {
    case "p", "li", "h1", "h2", "h3", "h4", "h5", "h6":
      return attributes.wholeMatch(of: block) != nil
    case "ul": return attributes == "" || attributes == " class=\"tasks\""
    case "ol", "blockquote", "pre", "br", "hr", "label", "strong", "em", "u", "s", "sub", "sup":
      return attributes == ""
    case "code":
      return attributes.wholeMatch(of: /(\ class="(language-[A-Za-z0-9+#._-]+|formula)")?/) != nil
    case "input": return attributes.wholeMatch(of: /\ type="checkbox" disabled( checked)?/) != nil
    case "a":
      return attributes.wholeMatch(
        of:
          /\ href="((https?:|mailto:|[^:"<>&]*[\/?#]|files\/)[^"<>]*|[^:"<>]*)" rel="noopener nofollow"/
      ) != nil
    case "img":
      return attributes.wholeMatch(
        of: /\ src="files\/[0-9a-f]{64}\/[^"<>\/ ]+" alt="[^"<>]*"( width="\d+")?/) != nil
    case "span":
      if attributes.wholeMatch(of: /\ class="mention" data-mention="[^"<>]+"/) != nil {
        return true
      }
      return attributes.wholeMatch(
        of:
          /\ style="((background-)?color:#[0-9A-Fa-f]{6};?|font-size:[0-9.]+em;?|font-family:[a-z-]+;?)+"/
      ) != nil
    default: return false
    }
  }

  private static func plain(_ text: Substring) throws -> String {
    guard !text.utf8.contains(UInt8(ascii: ">")) else { throw Unexpected(place: "> in a text") }
    var text = String(text)
    for (name, sign) in [("lt", "<"), ("gt", ">"), ("quot", "\""), ("#39", "'")] {
      text.replace("&\(name);", with: sign)
    }
    guard !text.replacing("&amp;", with: "").utf8.contains(UInt8(ascii: "&")) else {
      throw Unexpected(place: "& in a text")
    }
    return text.replacing("&amp;", with: "&")
  }
}
