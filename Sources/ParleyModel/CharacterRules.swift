/// Rules for characters that names, titles and lines must not contain.
package enum CharacterRules {
  /// Whether a scalar breaks a line or is a control character.
  package static func isBreak(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  /// Whether a scalar breaks a line, is a control character, or changes the direction of writing.
  /// Joiners, as in Persian, do not.
  package static func isDeceiving(_ scalar: Unicode.Scalar) -> Bool {
    isBreak(scalar) || scalar.properties.isBidiControl
  }

  /// Whether a folder's name must not contain a scalar, because the scalar is deceptive,
  /// private-use or unassigned.
  package static func isRefusedInNames(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .privateUse, .unassigned: true
    default: isDeceiving(scalar)
    }
  }

  /// Whether a scalar becomes a space in a title from a file: white space, control characters, the
  /// byte order mark, and marks that change the direction of writing.
  package static func isBlankInTitle(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "\u{feff}" || scalar.properties.isWhitespace || isDeceiving(scalar)
  }

  /// Whether a scalar is invisible: control and format characters, separators of lines and
  /// paragraphs, private-use and unassigned scalars, and some others.
  package static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
      return true
    default: break
    }
    // Unicode counts these as letters, signs or marks although they are invisible: the Braille
    // pattern without dots, Egyptian blanks, the Khitan filler, and the null notehead.
    switch scalar.value {
    case 0x2800, 0x13441, 0x13442, 0x16fe4, 0x1d159: return true
    default: return scalar.properties.isDefaultIgnorableCodePoint
    }
  }
}
