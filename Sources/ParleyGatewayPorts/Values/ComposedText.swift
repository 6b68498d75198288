extension String {
  /// The text in normalisation form C: the bytes that two texts share if and only if `==` finds them equal.
  ///
  /// The standard library compares strings in this form and offers it under an underscored name alone; decision 62 has
  /// the alternatives. A test compares it with Unicode's own examples.
  ///
  /// - Complexity: O(*n*) bytes.
  package var composed: String {
    if utf8.allSatisfy({ $0 < 0x80 }) { return self }
    return String(decoding: _nfcCodeUnits, as: UTF8.self)
  }
}
