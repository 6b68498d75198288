/// The metadata of a page for programs that show link previews: Open Graph and Twitter cards.
///
///     <meta property="og:title" content="…">
///
/// It contains a note's title only if the address alone opens the note, and never the note's text.
package struct PagePreview: Sendable {
  /// The name of the site, and the title if there is no other.
  private static let siteName = "Parley"
  private static let description = "A note to read and write together."
  /// Maximum bytes of a title; previews show less.
  package static let titleBytesMax = 200

  private let title: String
  /// The public address of the site, without a slash at its end; `nil` if it is not set.
  private let site: String?

  /// - Parameter title: The title, not sanitized yet; `nil` for the site's name.
  package init(title: String?, site: String?) {
    let shown = title.map(Self.shown) ?? ""
    self.title = shown.isEmpty ? Self.siteName : shown
    self.site = site
  }

  /// Returns a title as one line, shortened, and without characters that could deceive.
  private static func shown(_ title: String) -> String {
    var shown = ""
    for scalar in title.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator:
        if !shown.isEmpty, shown.unicodeScalars.last != " " { shown.unicodeScalars.append(" ") }
      case .privateUse, .unassigned, .surrogate: continue
      default:
        guard !scalar.properties.isBidiControl, !scalar.properties.isNoncharacterCodePoint else {
          continue
        }
        guard shown.utf8.count + 4 <= titleBytesMax else { return shown + "…" }
        shown.unicodeScalars.append(scalar)
      }
    }
    if shown.unicodeScalars.last == " " { shown.unicodeScalars.removeLast() }
    return shown
  }

  /// The lines to insert into the page's head.
  package var text: String {
    var lines = [
      Self.line("property", "og:title", title),
      Self.line("property", "og:site_name", Self.siteName),
      Self.line("property", "og:type", "website"),
      Self.line("property", "og:description", Self.description),
      Self.line("name", "twitter:card", "summary"),
    ]
    if let site {
      lines.append(Self.line("property", "og:image", site + "/assets/icon-512.png"))
    }
    return lines.joined()
  }

  private static func line(_ kind: String, _ name: String, _ content: String) -> String {
    "<meta \(kind)=\"\(name)\" content=\"\(escaped(content))\">\n"
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
