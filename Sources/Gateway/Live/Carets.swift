import ParleyGatewayPorts
package import OTCore

/// A holder of carets, which move with the changes of a document.
package protocol CaretHolder: AnyObject {
  /// The client that owns the carets.
  var caretOwner: String { get }
  /// The carets.
  var selections: [Selection] { get set }
}

/// Moves carets over changes: an insert at a caret moves it only if the caret's owner made it.
package enum Carets {
  /// Moves the carets of several holders over a change.
  ///
  /// - Complexity: O(*carets* · log *carets* + *components*), but O(*carets* · *components*) for a
  ///   change of few components, where that is less.
  static func move<Holder: CaretHolder>(_ holders: [Holder], over entry: LogEntry) {
    let operation = entry.operation
    guard operation.componentCount > 16 else {
      for holder in holders {
        let own = entry.client == holder.caretOwner
        for index in holder.selections.indices {
          holder.selections[index] = holder.selections[index].transformed(
            over: operation, own: own)
        }
      }
      return
    }
    // Move all carets with the same `own` in one walk over the change.
    for own in [false, true] {
      let moving = holders.filter { (entry.client == $0.caretOwner) == own }
      let length = operation.baseLength
      var places: [Int] = []
      for selection in moving.lazy.flatMap(\.selections) {
        places.append(min(max(selection.anchor, 0), length))
        places.append(min(max(selection.head, 0), length))
      }
      Cursor.transform(&places, over: [operation][...], own: own)
      var place = 0
      for holder in moving {
        for index in holder.selections.indices {
          holder.selections[index] = Selection(anchor: places[place], head: places[place + 1])
          place += 2
        }
      }
    }
  }

  /// Limits carets to the positions of a text of `length` Unicode scalars.
  static func clamp(_ selections: inout [Selection], to length: Int) {
    for index in selections.indices {
      let selection = selections[index]
      selections[index] = Selection(
        anchor: min(max(selection.anchor, 0), length), head: min(max(selection.head, 0), length))
    }
  }
}
