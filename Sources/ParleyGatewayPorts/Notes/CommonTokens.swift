/// The common tokens of two sequences: a longest common subsequence, if its search is cheap.
///
/// Uses Myers' algorithm in linear space. When the search in a part gets expensive, the part is
/// split where the search has come furthest, so the result may be slightly shorter than possible.
/// When all work is used up, tokens not yet compared count as different.
struct CommonTokens {
  /// For each token of the first sequence, whether it is common. The common tokens of both
  /// sequences are equal one by one.
  private(set) var isCommonInFirst: [Bool]
  /// For each token of the second sequence, whether it is common.
  private(set) var isCommonInSecond: [Bool]

  /// Maximum steps of a search before its part is split.
  private static let searchStepsMax = 256

  /// The tokens of each sequence that occur in both sequences; the others need no search.
  private var first: [Int32] = []
  private var second: [Int32] = []
  private var firstPlaces: [Int] = []
  private var secondPlaces: [Int] = []
  /// For each diagonal, the furthest index in `first` of paths from the start, and from the end.
  private var forward: [Int] = []
  private var backward: [Int] = []

  /// A part of both sequences.
  private struct Box {
    var first: Range<Int>
    var second: Range<Int>

    var count: Int { first.count + second.count }
  }

  /// Compares two sequences of tokens, which are numbered from 0.
  ///
  /// - Parameter work: The remaining number of comparisons, reduced by those that are made.
  /// - Complexity: O(*n*) tokens and `work`.
  init(_ all: [Int32], _ others: [Int32], tokenCount: Int, work: inout Int) {
    isCommonInFirst = Array(repeating: false, count: all.count)
    isCommonInSecond = Array(repeating: false, count: others.count)
    var isInFirst = Array(repeating: false, count: tokenCount)
    var isInSecond = isInFirst
    for token in all { isInFirst[Int(token)] = true }
    for token in others { isInSecond[Int(token)] = true }
    for (place, token) in all.enumerated() where isInSecond[Int(token)] {
      first.append(token)
      firstPlaces.append(place)
    }
    for (place, token) in others.enumerated() where isInFirst[Int(token)] {
      second.append(token)
      secondPlaces.append(place)
    }
    guard !first.isEmpty else { return }
    forward = Array(repeating: 0, count: first.count + second.count + 3)
    backward = forward
    var boxes = [Box(first: 0..<first.count, second: 0..<second.count)]
    while var box = boxes.popLast() {
      keepEnds(of: &box, work: &work)
      guard !box.first.isEmpty, !box.second.isEmpty, work > 0 else { continue }
      guard let (x, y) = split(box, work: &work) else { continue }
      let parts = [
        Box(first: box.first.lowerBound..<x, second: box.second.lowerBound..<y),
        Box(first: x..<box.first.upperBound, second: y..<box.second.upperBound),
      ]
      boxes += parts.filter { $0.count < box.count }
    }
  }

  /// Marks the common beginning and end of a box as common, and removes them from the box.
  private mutating func keepEnds(of box: inout Box, work: inout Int) {
    var (x, y) = (box.first.lowerBound, box.second.lowerBound)
    var (xEnd, yEnd) = (box.first.upperBound, box.second.upperBound)
    while x < xEnd, y < yEnd, first[x] == second[y] {
      keep(x, y)
      x += 1
      y += 1
    }
    while x < xEnd, y < yEnd, first[xEnd - 1] == second[yEnd - 1] {
      xEnd -= 1
      yEnd -= 1
      keep(xEnd, yEnd)
    }
    work -= box.count - (xEnd - x) - (yEnd - y) + 1
    box = Box(first: x..<xEnd, second: y..<yEnd)
  }

  private mutating func keep(_ x: Int, _ y: Int) {
    isCommonInFirst[firstPlaces[x]] = true
    isCommonInSecond[secondPlaces[y]] = true
  }

  /// Returns a point on a short path through the box; `nil` when the work is used up.
  ///
  /// Paths are extended from both ends of the box, one step in each round, until two of them meet.
  private mutating func split(_ box: Box, work: inout Int) -> (Int, Int)? {
    let (low, high) = (box.first.lowerBound, box.first.upperBound)
    let (lowSecond, highSecond) = (box.second.lowerBound, box.second.upperBound)
    // A diagonal consists of the points with equal `x - y`; `zero` is the index of diagonal 0.
    let zero = second.count + 1
    let (least, most) = (low - highSecond, high - lowSecond)
    let (start, end) = (low - lowSecond, high - highSecond)
    let meetsForward = (start - end) % 2 != 0
    var (forwardMin, forwardMax) = (start, start)
    var (backwardMin, backwardMax) = (end, end)
    forward[start + zero] = low
    backward[end + zero] = high
    for _ in 0..<Self.searchStepsMax {
      work -= forwardMax - forwardMin + backwardMax - backwardMin + 4
      guard work > 0 else { return nil }
      Self.widen(&forwardMin, &forwardMax, within: least...most, &forward, zero, outside: -1)
      for diagonal in stride(from: forwardMax, through: forwardMin, by: -2) {
        let (left, right) = (forward[diagonal - 1 + zero], forward[diagonal + 1 + zero])
        var x = left >= right ? left + 1 : right
        let begin = x
        while x < high, x - diagonal < highSecond, first[x] == second[x - diagonal] { x += 1 }
        work -= x - begin
        forward[diagonal + zero] = x
        if meetsForward, (backwardMin...backwardMax).contains(diagonal),
          backward[diagonal + zero] <= x
        {
          return (x, x - diagonal)
        }
      }
      Self.widen(&backwardMin, &backwardMax, within: least...most, &backward, zero, outside: .max)
      for diagonal in stride(from: backwardMax, through: backwardMin, by: -2) {
        let (left, right) = (backward[diagonal - 1 + zero], backward[diagonal + 1 + zero])
        var x = left < right ? left : right - 1
        let begin = x
        while x > low, x - diagonal > lowSecond, first[x - 1] == second[x - 1 - diagonal] { x -= 1 }
        work -= begin - x
        backward[diagonal + zero] = x
        if !meetsForward, (forwardMin...forwardMax).contains(diagonal),
          x <= forward[diagonal + zero]
        {
          return (x, x - diagonal)
        }
      }
    }
    return furthest(in: box, forwardMin...forwardMax)
  }

  /// Extends the range of reached diagonals by one at each side. A side that is already at the edge
  /// of the box is reduced by one instead.
  ///
  /// - Parameter outside: The value for a diagonal that no path has reached.
  @inline(__always)
  private static func widen(
    _ least: inout Int, _ most: inout Int, within box: ClosedRange<Int>, _ places: inout [Int],
    _ zero: Int, outside: Int
  ) {
    if least > box.lowerBound {
      least -= 1
      places[least - 1 + zero] = outside
    } else {
      least += 1
    }
    if most < box.upperBound {
      most += 1
      places[most + 1 + zero] = outside
    } else {
      most -= 1
    }
  }

  /// Returns the furthest point, by `x + y`, of the paths from the start of a box.
  private func furthest(in box: Box, _ diagonals: ClosedRange<Int>) -> (Int, Int) {
    let zero = second.count + 1
    var best = (box.first.lowerBound, box.second.lowerBound)
    for diagonal in stride(from: diagonals.upperBound, through: diagonals.lowerBound, by: -2) {
      var x = min(forward[diagonal + zero], box.first.upperBound)
      var y = x - diagonal
      if y > box.second.upperBound {
        y = box.second.upperBound
        x = y + diagonal
      }
      guard x >= box.first.lowerBound, y >= box.second.lowerBound else { continue }
      if x + y > best.0 + best.1 { best = (x, y) }
    }
    return best
  }
}
