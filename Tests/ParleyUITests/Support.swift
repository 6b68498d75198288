import Observation
import OTCore
import ParleyClient
import ParleyUI
import Synchronization

/// A clock that moves only when a test moves it.
final class ManualTime: ClientTime {
  private let state = Mutex((now: Int64(0), waiting: [(time: Int64, feed: Feed<Void>)]()))

  var now: Int64 { state.withLock { $0.now } }

  func wait(until time: Int64) async {
    let feed = Feed<Void>(bound: 1)
    state.withLock { state in
      if state.now >= time { feed.finish() } else { state.waiting.append((time, feed)) }
    }
    _ = await feed.next()
  }

  func pass(_ milliseconds: Int64) {
    state.withLock { state in
      state.now += milliseconds
      for waiter in state.waiting where waiter.time <= state.now { waiter.feed.finish() }
      state.waiting.removeAll { $0.time <= state.now }
    }
  }
}

/// Waits until something holds that views could observe.
@MainActor func until(_ condition: @escaping @MainActor () -> Bool) async {
  while !condition() {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let isResumed = Mutex(false)
      _ = withObservationTracking(condition) {
        let isFirst = isResumed.withLock { isResumed in
          defer { isResumed = true }
          return !isResumed
        }
        // The value changes after this.
        if isFirst { Task { @MainActor in continuation.resume() } }
      }
    }
  }
}

/// A text view without a screen, with an input method.
@MainActor final class FakeView: EditableTextView {
  weak var binding: NoteBinding?
  private(set) var units: [UInt16] = []
  var selected = 0..<0
  /// The text that an input method is composing.
  private(set) var marked: Range<Int>?
  private(set) var carets: [RemoteCaret] = []
  private(set) var problems: [NoteError] = []
  /// The ranges that were replaced from outside.
  private(set) var replaced: [Range<Int>] = []
  /// Done within the next change from outside.
  var whenReplaced: (() -> Void)?
  /// Changes from outside that came while an input method was composing.
  private(set) var disturbances = 0

  init(_ binding: NoteBinding) {
    self.binding = binding
    binding.attach(self)
  }

  var wholeText: String { String(decoding: units, as: UTF16.self) }
  var utf16Count: Int { units.count }
  var isComposing: Bool { marked != nil }
  var selectedUnits: Range<Int> { selected }

  func replace(_ range: Range<Int>, with text: String) {
    if marked != nil { disturbances += 1 }
    replaced.append(range)
    change(range, Array(text.utf16))
    let then = whenReplaced
    whenReplaced = nil
    then?()
    // A storage tells its delegate of every change.
    binding?.textChanged(in: range, to: text)
    binding?.settle()
  }

  func select(_ range: Range<Int>) {
    if marked != nil { disturbances += 1 }
    selected = range
    binding?.selectionChanged()
  }

  func show(_ carets: [RemoteCaret]) { self.carets = carets }
  func show(_ problem: NoteError) { problems.append(problem) }
  func forgetReplaced() { replaced = [] }

  private func change(_ range: Range<Int>, _ text: [UInt16]) {
    units.replaceSubrange(range, with: text)
    selected = min(selected.lowerBound, units.count)..<min(selected.upperBound, units.count)
  }

  /// A range that cuts no character in two, as a person's never does.
  func whole(_ range: Range<Int>) -> Range<Int> {
    func start(_ place: Int) -> Int {
      let isSecondHalf = place < units.count && 0xdc00..<0xe000 ~= units[place]
      return isSecondHalf ? place - 1 : place
    }
    return start(range.lowerBound)..<start(range.upperBound)
  }

  // MARK: A person

  /// Types over the selection.
  func type(_ text: String) { edit(selected, text) }

  func edit(_ range: Range<Int>, _ text: String) {
    edit(range, units: Array(text.utf16))
  }

  func edit(_ range: Range<Int>, units text: [UInt16]) {
    change(range, text)
    binding?.textChanged(in: range, to: String(decoding: text, as: UTF16.self))
    let end = range.lowerBound + text.count
    selected = end..<end
    binding?.selectionChanged()
    binding?.settle()
  }

  /// Changes the text without telling.
  func changeUntold(_ range: Range<Int>, _ text: String) {
    change(range, Array(text.utf16))
    let end = range.lowerBound + text.utf16.count
    selected = end..<end
  }

  func moveCaret(to range: Range<Int>) {
    selected = range
    binding?.selectionChanged()
  }

  /// Has the input method show another text in place of that which it has marked.
  func compose(_ text: String) {
    let range = marked ?? selected
    marked = range.lowerBound..<range.lowerBound + text.utf16.count
    edit(range, text)
  }

  /// Ends composing.
  func commit(_ text: String? = nil) {
    guard let range = marked else { return }
    marked = nil
    if let text { edit(range, text) } else { binding?.settle() }
  }
}
