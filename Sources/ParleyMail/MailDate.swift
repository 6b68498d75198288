/// Dates of the form `Mon, 30 Nov 2026 09:32:24 +0000`, by RFC 5322, section 3.3.
enum MailDate {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  /// The last second of the year 9999, after which years have five digits.
  private static let secondsMax: Int64 = 253_402_300_799

  /// Returns the date of a time in milliseconds since 1970; a time out of range is the nearest one.
  static func text(milliseconds: Int64) -> String {
    let seconds = min(max(milliseconds / 1_000, 0), secondsMax)
    let day = Int(seconds / 86_400)
    let (year, month, dayOfMonth) = date(ofDay: day)
    let second = Int(seconds % 86_400)
    let time = [second / 3_600, second / 60 % 60, second % 60].map(twoDigits)
    return "\(days[day % 7]), \(twoDigits(dayOfMonth)) \(months[month]) \(year) "
      + time.joined(separator: ":") + " +0000"
  }

  private static func twoDigits(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }

  /// Returns the date of a day since 1970; months count from 0.
  private static func date(ofDay day: Int) -> (year: Int, month: Int, day: Int) {
    // Counts from March of the year 0, so that a leap day is the last day of its year.
    let shifted = day + 719_468
    let era = shifted / 146_097
    let ofEra = shifted % 146_097
    let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * ofYear + 2) / 153
    let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
    return (year, (month + 2) % 12, ofYear - (153 * month + 2) / 5 + 1)
  }
}
