package import ParleyGatewayPorts

extension NotePlace {
  /// The place as clients send it back, in hexadecimal digits: clients need not read it or make one up.
  package var cursor: String { "\(time) \(id)".utf8.hexadecimal }

  /// Reads a cursor; `nil` if the text is not a cursor.
  package init?(cursor: String) {
    guard let bytes = [UInt8](hexadecimal: cursor.utf8),
      let text = String(validating: bytes, as: UTF8.self)
    else { return nil }
    // By scalars: with a mark behind it, a blank is a part of another character.
    let parts = text.unicodeScalars
      .split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let time = Timestamp(String(parts[0])) else { return nil }
    self.init(time: time, id: DocumentID(String(parts[1])))
  }
}
