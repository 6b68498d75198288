package import OTCore
import ParleyOTWorkloads
import SocketMessages

/// The random choices of a simulation, from one seed.
package struct SimulationRandom: RandomNumberGenerator {
  private var generator: SplitMix64

  package init(seed: UInt64) { generator = SplitMix64(seed: seed) }

  package mutating func next() -> UInt64 { generator.next() }

  /// Returns a number from 0 up to, but not including, `bound`.
  package mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  /// Returns true with a probability of `percent` %.
  package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  /// Returns the milliseconds by which the wall clock is set ahead, or back if negative.
  package mutating func clockOffset() -> Int64 {
    chance(25)
      ? 0 : Int64.random(in: -VirtualClock.offsetMax...VirtualClock.offsetMax, using: &self)
  }

  /// Letters of one to four bytes, combining marks, and a line end of two scalars.
  private static let pieces = [
    "a", "b", " ", "\n", "é", "e\u{301}", "漢", "👍🏽", "👩‍👩‍👧", "\r\n", "\u{e000}", "𝄞", "xyz",
  ]

  /// Returns an edit that resembles typing: mostly short, sometimes in several positions.
  ///
  /// - Parameter mark: Returns text that is inserted before the letter, to identify it later.
  package mutating func edit(
    of length: Int, marking mark: (inout SimulationRandom) -> String = { _ in "" }
  ) -> TextOperation {
    var operation = TextOperation()
    var left = length
    for _ in 0...(chance(15) ? 2 : 0) {
      let kept = below(left + 1)
      operation.retain(kept)
      left -= kept
      let deletesFirst = chance(20)
      let deleted = chance(35) ? min(left, 1 + below(4)) : 0
      if deletesFirst { operation.delete(deleted) }
      if deleted == 0 || chance(30) {
        operation.insert(mark(&self) + Self.pieces[below(Self.pieces.count)])
      }
      if !deletesFirst { operation.delete(deleted) }
      left -= deleted
    }
    operation.retain(left)
    return operation
  }
}

// MARK: Formatting

extension SimulationRandom {
  /// Attributes that meet often; removals among changes.
  private static let attributes = [
    #"{"bold":true}"#, #"{"bold":true,"color":"red"}"#, #"{"color":"blue"}"#, #"{"link":"a"}"#,
    #"{"block":"h1"}"#, #"{"block":"bullet","indent":1}"#,
  ]
  private static let removals = [
    #"{"bold":null}"#, #"{"color":null,"link":null}"#, #"{"block":null}"#,
  ]

  /// Returns an edit of a text with formatting, which may make a plain note a rich one.
  mutating func formatted(
    _ text: TextOperation, in kind: NoteKind
  ) throws -> RichOperation {
    guard kind == .rich || chance(30) else { return RichOperation(text) }
    var builder = RichOperationBuilder()
    for component in text.components {
      switch component {
      case .retain(let count):
        let from = below(count + 1)
        builder.retain(from)
        builder.retain(count - from, setting: try set(Self.attributes + Self.removals, 40))
      case .insert(let inserted):
        builder.insert(inserted, with: try set(Self.attributes, 50))
        if chance(10) {
          builder.insert(
            "\u{fffc}", with: try AttributeSet(json: #"{"embed":{"image":"\#(below(3))"}}"#))
        }
      case .delete(let count): builder.delete(count)
      }
    }
    let edit = builder.finished()
    return RichOperation(edit.text, ChangeFormat(edit.format, makesRich: kind == .plain))
  }

  private mutating func set(_ sets: [String], _ percent: Int) throws -> AttributeSet {
    chance(percent) ? try AttributeSet(json: sets[below(sets.count)]) : AttributeSet()
  }
}
