package import ParleyGatewayPorts
import ParleyStoreRecords

extension StoreCommands {
  /// Records that one step reads.
  private static let auditStep = 1_000

  /// Passes records of the audit log, the newest first; a server may be running.
  ///
  /// - Parameter limit: Maximum number of records; `nil` for all.
  package func audit(
    _ filter: AuditFilter, limit: Int?, _ body: (AuditRecord) -> Void
  ) throws {
    let store = try configuration.repairableStore(writing: false)
    var (rest, before) = (limit ?? .max, Int?.none)
    while rest > 0 {
      let request = AuditRequest.page(before: before, limit: Self.auditStep, filter)
      switch store.perform([.audit(request)])[0] {
      case .audit(.page(let records, let next)):
        for record in records.prefix(rest) { body(record) }
        rest -= records.count
        guard let next else { return }
        before = next
      case .failed(let error): throw error
      default: preconditionFailure("expected .page or .failed in reply to .page")
      }
    }
  }
}
