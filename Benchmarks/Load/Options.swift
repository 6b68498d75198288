/// The options of the command line.
struct Options {
  private var values: [String: String] = [:]
  let mode: String

  init(_ words: [String]) {
    mode = words.first ?? "help"
    var words = words.dropFirst()
    while let word = words.popFirst() {
      guard word.hasPrefix("--"), let value = words.popFirst() else {
        fail("expected --name value, got \(word)")
      }
      values[String(word.dropFirst(2))] = value
    }
  }

  func number(_ name: String, _ standard: Int) -> Int {
    guard let text = values[name] else { return standard }
    guard let number = Int(text) else { fail("--\(name) takes a whole number, not \(text)") }
    return number
  }

  /// Returns integers separated by commas.
  func numbers(_ name: String, _ standard: Int) -> [Int] {
    guard let text = values[name] else { return [standard] }
    return text.split(separator: ",").map { word in
      guard let number = Int(word) else {
        fail("--\(name) takes whole numbers with commas between, not \(text)")
      }
      return number
    }
  }

  func seconds(_ name: String, _ standard: Double) -> Double {
    guard let text = values[name] else { return standard }
    guard let number = Double(text) else { fail("--\(name) takes seconds, not \(text)") }
    return number
  }

  func text(_ name: String, _ standard: String) -> String { values[name] ?? standard }

  /// Returns an optional word.
  func word(_ name: String) -> String? { values[name] }
}
