/// Callbacks that wait for replies of the store, by number.
///
/// A request from outside the gateway ends with a callback. The part that handles it stores the
/// callback; the work at the store contains only the number, and stays plain data (``Awaited``).
struct Callbacks<Reply> {
  /// Identifies a callback.
  typealias Number = UInt64

  private var waiting: [Number: (Reply) -> Void] = [:]
  private var nextNumber: Number = 0

  /// Stores a callback until the reply arrives, and returns its number.
  mutating func add(_ callback: @escaping (Reply) -> Void) -> Number {
    nextNumber += 1
    waiting[nextNumber] = callback
    return nextNumber
  }

  /// Removes and returns a callback, which is called once.
  mutating func take(_ number: Number) -> (Reply) -> Void {
    guard let callback = waiting.removeValue(forKey: number) else {
      preconditionFailure("no callback has the number \(number), or it was called before")
    }
    return callback
  }
}
