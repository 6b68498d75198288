/// Undo in its simplest form: scalars are never removed from the text, only hidden.
///
/// A step contains the scalars that an edit has shown and hidden. Undoing hides the former and
/// shows the latter, unless another user has hidden them meanwhile.
package struct ReferenceUndo {
  private struct Cell {
    var scalar: Unicode.Scalar
    var number: Int
    var isVisible: Bool
  }

  private struct Step {
    var shown: [Int] = []
    var hidden: [Int] = []
  }

  private var cells: [Cell] = []
  private var count = 0
  private var undos: [Step] = []
  private var redos: [Step] = []

  package init(_ text: [Unicode.Scalar]) {
    for scalar in text { cells.append(newCell(scalar)) }
  }

  package var text: [Unicode.Scalar] { cells.filter(\.isVisible).map(\.scalar) }

  private mutating func newCell(_ scalar: Unicode.Scalar) -> Cell {
    count += 1
    return Cell(scalar: scalar, number: count, isVisible: true)
  }

  /// Records an own edit, joined to the previous step if `joins`.
  package mutating func record(_ edit: ReferenceOperation, joins: Bool) {
    redos = []
    var step = change(edit)
    if joins, let last = undos.popLast() {
      // Scalars that the joined step has both shown and hidden are in neither list.
      let again = Set(step.hidden).intersection(last.shown)
      step.shown = (last.shown + step.shown).filter { !again.contains($0) }
      step.hidden = (last.hidden + step.hidden).filter { !again.contains($0) }
    }
    undos.append(step)
  }

  /// Applies an edit of another user.
  package mutating func receive(_ edit: ReferenceOperation) { _ = change(edit) }

  package mutating func undo() { Self.take(from: &undos, to: &redos, &cells) }

  package mutating func redo() { Self.take(from: &redos, to: &undos, &cells) }

  /// Applies an edit. Added scalars are placed directly after the preceding visible scalar.
  private mutating func change(_ edit: ReferenceOperation) -> Step {
    var step = Step()
    var index = 0
    // Positions count the scalars visible before the edit, so scalars of the edit are skipped.
    for action in edit.steps {
      if case .add(let scalar) = action {
        let cell = newCell(scalar)
        step.shown.append(cell.number)
        cells.insert(cell, at: index)
        index += 1
        continue
      }
      while !cells[index].isVisible { index += 1 }
      if action == .remove {
        cells[index].isVisible = false
        step.hidden.append(cells[index].number)
      }
      index += 1
    }
    return step
  }

  /// Reverts the newest step that still has an effect.
  private static func take(from source: inout [Step], to other: inout [Step], _ cells: inout [Cell])
  {
    while let step = source.popLast() {
      var done = Step()
      for index in cells.indices {
        if step.shown.contains(cells[index].number), cells[index].isVisible {
          cells[index].isVisible = false
          done.hidden.append(cells[index].number)
        } else if step.hidden.contains(cells[index].number), !cells[index].isVisible {
          cells[index].isVisible = true
          done.shown.append(cells[index].number)
        }
      }
      if done.shown.isEmpty && done.hidden.isEmpty { continue }
      other.append(done)
      return
    }
  }
}
