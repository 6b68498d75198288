package import ParleyGatewayPorts

extension ReceiptStage {
  /// The stage as it is kept.
  package var number: Int {
    switch self {
    case .delivered: 1
    case .read: 2
    }
  }

  /// The stage that is kept as a number; `nil` if none is.
  package init?(number: Int) {
    guard let stage = Self.allCases.first(where: { $0.number == number }) else { return nil }
    self = stage
  }
}
