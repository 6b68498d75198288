package import ParleyGatewayPorts

extension ReceiptStage {
  /// The number that represents the stage in the store.
  package var number: Int {
    switch self {
    case .delivered: 1
    case .read: 2
    }
  }

  /// Creates a stage from its stored number; `nil` if the number is unknown.
  package init?(number: Int) {
    guard let stage = Self.allCases.first(where: { $0.number == number }) else { return nil }
    self = stage
  }
}
