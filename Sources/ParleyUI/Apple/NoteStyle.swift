// This repository's own builds, which run on Linux, do not compile it. `make apple-check` compares
// it with declarations written from Apple's documentation.
#if (canImport(UIKit) || canImport(AppKit)) && !os(tvOS) && !os(watchOS)
  public import Foundation
  import ParleyClient

  #if canImport(UIKit)
    import UIKit
    private typealias Font = UIFont
    private typealias Color = UIColor
  #else
    import AppKit
    private typealias Font = NSFont
    private typealias Color = NSColor
  #endif

  /// The looks of formatting in a text view: fonts, colours and lines.
  ///
  /// Signs of lists are not drawn. An app that wants them, or other fonts, sets
  /// ``NoteTextView/style``.
  public enum NoteStyle {
    /// The font size of plain text: the person's setting, or the system's.
    @MainActor public static var textSize: CGFloat {
      #if canImport(UIKit)
        UIFont.preferredFont(forTextStyle: .body).pointSize
      #else
        NSFont.systemFontSize
      #endif
    }

    /// Returns the attributes that show a run.
    ///
    /// - Parameter size: The font size of plain text.
    @MainActor public static func attributes(
      of run: FormattedRun, size: CGFloat
    ) -> [NSAttributedString.Key: Any] {
      var result: [NSAttributedString.Key: Any] = [.font: font(of: run, size: size)]
      if run.attributes["italic"] == .set { result[.obliqueness] = 0.2 }
      if run.attributes["underline"] == .set || run.attributes["link"] != nil {
        result[.underlineStyle] = NSUnderlineStyle.single.rawValue
      }
      if run.attributes["strike"] == .set || run.line["list"] == .text("checked") {
        result[.strikethroughStyle] = NSUnderlineStyle.single.rawValue
      }
      if let color = color(run.attributes["color"]) { result[.foregroundColor] = color }
      if let color = color(run.attributes["background"]) { result[.backgroundColor] = color }
      return result
    }

    @MainActor private static func font(of run: FormattedRun, size: CGFloat) -> Font {
      if run.attributes["code"] == .set || run.line["code-block"] != nil {
        return .monospacedSystemFont(ofSize: size, weight: .regular)
      }
      if case .number(let level)? = run.line["header"] {
        return .boldSystemFont(ofSize: size * (level == 1 ? 1.6 : level == 2 ? 1.3 : 1.1))
      }
      return run.attributes["bold"] == .set
        ? .boldSystemFont(ofSize: size) : .systemFont(ofSize: size)
    }

    /// Returns a colour written as `#rrggbb`; `nil` for any other value.
    private static func color(_ value: NoteAttribute?) -> Color? {
      guard case .text(let text)? = value, let color = CaretColor(hex: text) else { return nil }
      return Color(color)
    }
  }
#endif
