import ParleyModel

extension Unicode.Scalar {
  /// Whether it separates words, in any script.
  package var isBlank: Bool { properties.isWhitespace }

  /// Whether it is drawn as nothing: ``CharacterRules/isInvisible(_:)``.
  package var isInvisible: Bool { CharacterRules.isInvisible(self) }

  /// Whether it breaks a line, controls a terminal, or changes the direction of writing:
  /// ``CharacterRules/isDeceiving(_:)``.
  package var isDeceiving: Bool { CharacterRules.isDeceiving(self) }
}
