/// Names from tokens, providers, files and requests that have a special meaning elsewhere: in
/// patterns, paths, queries, headers and lines.
package enum HostileNames {
  /// Names that could be read as a pattern, a path or an empty value. No right may contain them.
  package static let meaningful: [String] =
    [
      "", "*", "**", "*/*", "a*", "*a", ".", "..", "/", "//", "\\", "../..", "..\\..", "./a",
      "a/..", "/a", "a/",
      "team/*", "ann/*", "ann/x", "home/ann", "/etc/passwd", "</script>",
    ] + blanks + invisible.flatMap { [$0, $0 + "ann", "an" + $0 + "n", "ann" + $0] }

  private static let blanks = [
    " ", "ann ", " ann", "an n", "\t", "a\tb", "\u{A0}", "ann\u{3000}", "\u{2003}",
  ]

  /// Control, zero-width and direction characters, line separators, tags, byte order marks.
  private static let invisible = [
    "\u{0}", "\u{1}", "\u{7}", "\u{8}", "\n", "\r", "\r\n", "\u{B}", "\u{C}", "\u{1B}", "\u{7F}",
    "\u{85}",
    "\u{9B}", "\u{AD}", "\u{34F}", "\u{61C}", "\u{115F}", "\u{180E}", "\u{200B}", "\u{200C}",
    "\u{200D}", "\u{200E}",
    "\u{200F}", "\u{2028}", "\u{2029}", "\u{202A}", "\u{202E}", "\u{2060}", "\u{2066}", "\u{2069}",
    "\u{2800}",
    "\u{3164}", "\u{E000}", "\u{FE0F}", "\u{FEFF}", "\u{FFA0}", "\u{FFF9}", "\u{FFFF}", "\u{E0001}",
    "\u{E0041}",
  ]

  /// Names with syntax of other languages that must be treated literally: SQL, FTS5, tsquery, JSON
  /// paths, HTTP, HTML, shells, the file of users, and broker subjects.
  package static let plain: [String] = [
    "%", "_", "a%", "%2A", "%2F", "%2e%2e", "%0d%0a", "'", "''", "';--", "\"", "\"\"", "`", "$1",
    "$2", "$$", "?", "#",
    "##", "&", "|", "!", "~", "^", "(", ")", "[", "]", "{", "}", "{user}", "{{user}}", "{id}", ":",
    "::",
    "=", "a=all", ",", ";", "a;b", "@", "@admins", "@ann", "-", "--", "-x", "--help", "+", "<",
    "<->", "<b>",
    "&amp;", "NEAR", "AND", "OR", "NOT", "title:ann", "a.b", "a.>", ">", "...",
    "group:admins",
    "role:admin", "name:x", "since:0", "scrypt$1$8$1$x$y", "$.parley", "__proto__", "constructor",
    "null", "true", "0",
    "-1", "NaN", "=cmd()", "%00", "%s", "＊", "／", "．．", "ａｎｎ", "é", "e\u{301}",
    "\u{301}", "ß", "ſ", "ı", "İ", "Ⅳ", "\u{212A}", "👩", "山田", "نام",
  ]

  /// The names of both lists.
  package static let all = meaningful + plain
}
