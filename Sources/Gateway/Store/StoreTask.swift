import ParleyGatewayPorts

/// Work for the store: a request, the right under which it is done, and the work that continues with the reply.
struct StoreTask {
  /// The request, under the condition of its right.
  let request: StoreRequest
  let traits: StoreTraits
  /// Whether the right covers the request; if not, the store is not asked.
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
