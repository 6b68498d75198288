/// The values of a room under load.
enum Values {
  /// Returns the name of a value; all are equally long.
  static func name(_ number: Int) -> String {
    let digits = String(number)
    return "card-" + String(repeating: "0", count: max(0, 5 - digits.utf8.count)) + digits
  }

  /// Sets the values of a room over HTTP.
  static func fill(_ room: String, names: Int, port: Int) {
    for first in stride(from: 0, to: names, by: 200) {
      let operations = (first..<min(first + 200, names)).map {
        #"{"set":"\#(name($0))","to":{"column":"todo","text":"Soup of the day"}}"#
      }
      let answer = Notes.ask(
        port: port, "PATCH /api/rooms/\(escaped(room))/values", type: "application/json",
        body: #"{"values":[\#(operations.joined(separator: ","))]}"#)
      guard answer.hasPrefix("HTTP/1.1 200") else {
        fail("the values were not taken: \(answer.prefix(300))")
      }
    }
  }

  private static func escaped(_ room: String) -> String {
    let hexadecimal = Array("0123456789ABCDEF")
    return room.utf8.reduce(into: "") { text, byte in
      let character = Character(Unicode.Scalar(byte))
      if character.isLetter || character.isNumber {
        text.append(character)
      } else {
        text += "%\(hexadecimal[Int(byte) >> 4])\(hexadecimal[Int(byte) & 15])"
      }
    }
  }
}
