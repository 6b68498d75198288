extension String {
  /// The text in normalisation form C (NFC). Two texts have the same bytes in this form if and only
  /// if `==` treats them as equal.
  ///
  /// The standard library compares strings in this form, but exposes it only under an underscored
  /// name; see decision 62. A test compares the result with Unicode's examples.
  ///
  /// - Complexity: O(*n*) bytes.
  package var composed: String {
    if utf8.allSatisfy({ $0 < 0x80 }) { return self }
    return String(decoding: _nfcCodeUnits, as: UTF8.self)
  }
}
