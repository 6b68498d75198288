/// Paragraphs of a message, written once for its text and for its HTML.
public struct MailParagraphs: Sendable, Equatable {
  /// A paragraph.
  public enum Paragraph: Sendable, Equatable {
    /// A plain text.
    case text(String)
    /// A link, with the words that HTML shows; the text shows the URL.
    case link(url: String, words: String)
  }

  /// The paragraphs, in order.
  public var paragraphs: [Paragraph]

  /// Creates a message's paragraphs.
  public init(_ paragraphs: [Paragraph]) { self.paragraphs = paragraphs }

  /// The plain text: paragraphs with empty lines between them.
  public var text: String {
    paragraphs.map { paragraph in
      switch paragraph {
      case .text(let text): text
      case .link(let url, let words): "\(words):\n\(url)"
      }
    }.joined(separator: "\n\n") + "\n"
  }

  /// Returns an HTML page with no scripts, styles or pictures, so that reading it contacts no server.
  ///
  /// A URL that is neither `https:` nor `http:` is shown, but is no link.
  public func html(language: String?, isRightToLeft: Bool = false) -> String {
    let body = paragraphs.map { paragraph in
      switch paragraph {
      case .text(let text): "<p>\(Self.escaped(text))</p>\n"
      case .link(let url, let words) where url.hasPrefix("https://") || url.hasPrefix("http://"):
        "<p><a href=\"\(Self.escaped(url))\">\(Self.escaped(words))</a></p>\n"
      case .link(let url, let words): "<p>\(Self.escaped(words)): \(Self.escaped(url))</p>\n"
      }
    }
    let attribute =
      (language.map { " lang=\"\(Self.escaped($0))\"" } ?? "")
      + (isRightToLeft ? " dir=\"rtl\"" : "")
    return "<!DOCTYPE html>\n<html\(attribute)>\n<body>\n\(body.joined())</body>\n</html>\n"
  }

  /// Returns a text in which HTML sees no markup.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
