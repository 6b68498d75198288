import ParleyModel

extension Unicode.Scalar {
  /// Whether the scalar is white space, in any script.
  package var isBlank: Bool { properties.isWhitespace }

  /// Whether the scalar is invisible: ``CharacterRules/isInvisible(_:)``.
  package var isInvisible: Bool { CharacterRules.isInvisible(self) }

  /// Whether the scalar breaks a line, controls a terminal, or changes the direction of writing:
  /// ``CharacterRules/isDeceiving(_:)``.
  package var isDeceiving: Bool { CharacterRules.isDeceiving(self) }
}
