import ParleyGatewayPorts

/// Work for the store: a request, its right, and the work that continues after the reply.
struct StoreTask {
  /// The request, with the condition of its right.
  let request: StoreRequest
  let traits: StoreTraits
  /// Whether the right covers the request. If not, the request is not sent to the store.
  let isGranted: Bool
  let awaited: Awaited

  init(_ request: StoreRequest, under right: StoreRight, then awaited: Awaited) {
    let traits = request.traits
    isGranted = right.covers(traits)
    if let condition = right.condition {
      self.request = .within(condition, request)
      self.traits = self.request.traits
    } else {
      self.request = request
      self.traits = traits
    }
    self.awaited = awaited
  }
}
