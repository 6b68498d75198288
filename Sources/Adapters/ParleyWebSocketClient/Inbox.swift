/// Received messages that wait for the caller, oldest first.
///
/// Its memory is proportional to the waiting messages, even if it never becomes empty.
package struct Inbox {
  private var messages: [[UInt8]] = []
  private var head = 0
  /// The number of waiting bytes.
  package private(set) var byteCount = 0

  package init() {}

  /// The number of array elements, including those of removed messages.
  package var storageCount: Int { messages.count }

  package mutating func append(_ message: [UInt8]) {
    messages.append(message)
    byteCount += message.count
  }

  /// Removes and returns the oldest message.
  ///
  /// - Complexity: O(1), averaged over all calls.
  package mutating func popFirst() -> [UInt8]? {
    guard head < messages.count else { return nil }
    let message = messages[head]
    messages[head] = []
    head += 1
    byteCount -= message.count
    if head == messages.count {
      messages.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= 64, head * 2 > messages.count {
      messages.removeFirst(head)
      head = 0
    }
    return message
  }
}
