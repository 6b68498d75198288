/// A time in the format of a response's `date` (RFC 9110, section 5.6.7). It is created once a
/// second, and shared.
public struct HTTPDate: Sendable, Hashable {
  /// The text, as in `Sun, 06 Nov 1994 08:49:37 GMT`.
  public let text: [UInt8]

  /// Formats a time.
  ///
  /// - Parameter secondsSince1970: Clamped to the years 1970 to 9999.
  public init(secondsSince1970: Int64) {
    let seconds = min(max(0, secondsSince1970), 253_402_300_799)
    let days = seconds / 86_400
    let time = Int(seconds % 86_400)
    // Days since 1 March 0000, in eras of 400 years (Hinnant, chrono-compatible date algorithms).
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted % 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = Int(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    let month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
    let year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
    let days7 = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let date = "\(days7[Int(days % 7)]), \(two(day)) \(months[month - 1]) \(year)"
    let clock = "\(two(time / 3_600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT"
    text = Array("\(date) \(clock)".utf8)
  }
}
