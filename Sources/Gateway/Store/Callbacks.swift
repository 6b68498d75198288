/// The callers that wait for a reply of the store, by number.
///
/// Work that is done for a caller outside the gateway ends in a function of the caller's. The part that was called keeps the
/// function; the work at the store names its number, and stays plain data (``Awaited``).
struct Callbacks<Reply> {
  /// Identifies a callback.
  typealias Number = UInt64

  private var waiting: [Number: (Reply) -> Void] = [:]
  private var nextNumber: Number = 0

  /// Keeps a function until the reply arrives.
  mutating func add(_ callback: @escaping (Reply) -> Void) -> Number {
    nextNumber += 1
    waiting[nextNumber] = callback
    return nextNumber
  }

  /// Removes and returns a function, which is called once.
  mutating func take(_ number: Number) -> (Reply) -> Void {
    guard let callback = waiting.removeValue(forKey: number) else {
      preconditionFailure("no callback has the number \(number), or it was called before")
    }
    return callback
  }
}
