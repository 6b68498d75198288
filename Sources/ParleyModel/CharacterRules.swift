/// Characters that names, titles and lines do not have.
package enum CharacterRules {
  /// Whether a scalar breaks a line, or controls a terminal.
  package static func isBreak(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  /// Whether a scalar breaks a line, controls a terminal, or changes the direction of writing. Joiners, as in Persian,
  /// do not.
  package static func isDeceiving(_ scalar: Unicode.Scalar) -> Bool {
    isBreak(scalar) || scalar.properties.isBidiControl
  }

  /// Whether the name of a folder cannot have a scalar: it deceives, or has no meaning that all systems share.
  package static func isRefusedInNames(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .privateUse, .unassigned: true
    default: isDeceiving(scalar)
    }
  }

  /// Whether a title from a file has a space in place of a scalar: blanks, line breaks, control characters, and marks
  /// that change the direction of writing.
  package static func isBlankInTitle(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "\u{feff}" || scalar.properties.isWhitespace || isDeceiving(scalar)
  }

  /// Whether a scalar is drawn as nothing: controls, format characters, line separators, and scalars without a meaning.
  package static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
      return true
    default: break
    }
    // Drawn as nothing, though Unicode has them among letters, signs and marks: the Braille pattern without dots,
    // Egyptian blanks, the Khitan filler, and the null notehead.
    switch scalar.value {
    case 0x2800, 0x13441, 0x13442, 0x16fe4, 0x1d159: return true
    default: return scalar.properties.isDefaultIgnorableCodePoint
    }
  }
}
