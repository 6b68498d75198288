package import ParleyGatewayPorts

extension NoteSortKey {
  /// The position as an opaque cursor in hexadecimal digits, which clients send back unchanged.
  package var cursor: String { "\(time) \(id)".utf8.hexadecimal }

  /// Decodes a cursor; `nil` if the text is not a cursor.
  package init?(cursor: String) {
    guard let bytes = [UInt8](hexadecimal: cursor.utf8),
      let text = String(validating: bytes, as: UTF8.self)
    else { return nil }
    // Splits scalars, not characters: a combining mark after the blank would change the character.
    let parts = text.unicodeScalars
      .split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let time = Timestamp(String(parts[0])) else { return nil }
    self.init(time: time, id: DocumentID(String(parts[1])))
  }
}
