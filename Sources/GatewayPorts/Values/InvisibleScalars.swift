extension Unicode.Scalar {
  /// Whether it separates words, in any script.
  package var isBlank: Bool { properties.isWhitespace }

  /// Whether it is drawn as nothing: controls, format characters, line separators, and scalars without a meaning.
  package var isInvisible: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
    default: properties.isDefaultIgnorableCodePoint || Self.drawnAsNothing.contains(self)
    }
  }

  /// Whether it breaks a line, controls a terminal, or changes the direction of writing. Joiners, as in Persian, do not.
  package var isDeceiving: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: properties.isBidiControl
    }
  }

  /// Characters that are drawn as nothing, though Unicode has them among letters, signs and marks: the Braille pattern
  /// without dots, Egyptian blanks, the Khitan filler, and the notehead without a shape.
  package static let drawnAsNothing: Set<Unicode.Scalar> = [
    "\u{2800}", "\u{13441}", "\u{13442}", "\u{16FE4}", "\u{1D159}",
  ]
}
