/// The stage of a receipt. It never goes back.
public enum ReceiptStage: String, Sendable, CaseIterable, Comparable {
  /// The publication has reached a device of the person.
  case delivered
  /// The person has read the publication.
  case read

  /// Orders `delivered` before `read`.
  public static func < (left: Self, right: Self) -> Bool { left == .delivered && right == .read }
}

/// A publication's receipt by one person.
public struct Receipt: Sendable, Hashable {
  /// The person who received or read the publication.
  public var personID: PersonID
  /// The latest stage.
  public var stage: ReceiptStage

  /// Creates the receipt of a person.
  public init(personID: PersonID, stage: ReceiptStage) {
    self.personID = personID
    self.stage = stage
  }
}
