/// The stage of a receipt; it never goes back.
public enum ReceiptStage: String, Sendable, CaseIterable, Comparable {
  /// It has reached a device.
  case delivered
  /// It has been read.
  case read

  /// Orders by how far the publication has come.
  public static func < (left: Self, right: Self) -> Bool { left == .delivered && right == .read }
}

/// A publication's receipt by one person.
public struct Receipt: Sendable, Hashable {
  /// The person who received or read the publication.
  public var personID: PersonID
  /// The stage reached.
  public var stage: ReceiptStage

  /// Makes a receipt.
  public init(personID: PersonID, stage: ReceiptStage) {
    self.personID = personID
    self.stage = stage
  }
}
