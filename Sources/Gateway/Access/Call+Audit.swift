import ParleyGatewayPorts

/// Records of requests for the audit log.
extension Call {
  /// Returns a record of the request's action, at a time.
  func record(
    _ action: AuditAction, _ target: String, detail: String = "", at time: Timestamp
  ) -> AuditRecord {
    AuditRecord(
      time: time, actor: identity.user, action: action, target: target,
      address: head.remoteAddress, detail: detail)
  }
}

extension Part {
  /// Returns work that adds a record to the audit log in its commit.
  func audited(
    _ work: StoreRequest, _ action: AuditAction, _ target: String, detail: String = "",
    by call: Call
  ) -> StoreRequest {
    .audited(
      call.record(action, target, detail: detail, at: dependencies.clock.now), work)
  }
}
