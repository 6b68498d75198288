/// The description of a page for programs that show its address as a card: Open Graph and Twitter cards.
///
///     <meta property="og:title" content="…">
///
/// Never contains a note's text, and its title only where the address alone suffices to read the note.
package struct PagePreview: Sendable {
  /// The name of the site, and the title where there is none to show.
  private static let siteName = "Parley"
  private static let description = "A note to read and write together."
  /// Longer titles are cut: a card shows less.
  package static let titleBytesMax = 200

  private let title: String
  /// The address of the site, without a slash at its end; `nil` where the server cannot know it.
  private let site: String?

  /// - Parameter title: The title, unchecked; `nil` for the site's own name.
  package init(title: String?, site: String?) {
    let shown = title.map(Self.shown) ?? ""
    self.title = shown.isEmpty ? Self.siteName : shown
    self.site = site
  }

  /// The title on one line, cut, and without invisible characters or marks of direction.
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

  /// The lines for the head of the page.
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
